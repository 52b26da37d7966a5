//! What holds of the readers whatever they are given. The fuzz targets and the property tests ask the same.

use policy_lang::diag::{Diagnostic, Label};
use policy_lang::parse::limits::{MAX_DEPTH, MAX_NODES};
use policy_lang::parse::{Format, Node, NodeKind, parse};
use policy_lang::render::{RenderOptions, human};
use policy_lang::source::{SourceId, SourceMap, Span};

/// Reads some bytes and asserts everything; panics where something does not hold.
pub(crate) fn check(bytes: &[u8], format: Format) {
    let mut sources = SourceMap::new();
    let id = sources.add_bytes("input", bytes.to_vec());
    let (root, findings) = parse(&sources, id, format);
    let mut seen = Seen { nodes: 0, invalid: false };
    match &root {
        Some(root) => {
            assert!(matches!(root.kind, NodeKind::Map(_)), "a document is a mapping");
            walk(&sources, id, root, 1, &mut seen);
        }
        None => seen.invalid = true,
    }
    assert!(!seen.invalid || !findings.is_empty(), "what was refused has a finding");
    assert!(seen.nodes <= MAX_NODES, "{} nodes", seen.nodes);
    for finding in &findings {
        check_finding(&sources, id, finding);
    }
    let place = |finding: &Diagnostic| finding.primary.as_ref().map(|label| label.span);
    assert!(findings.is_sorted_by_key(|finding| (place(finding).is_none(), place(finding))));
    let drawn =
        human(&sources, findings.get(..findings.len().min(5)).unwrap_or(&[]), RenderOptions::default());
    assert!(!drawn.chars().any(|c| c.is_control() && c != '\n'), "no control reaches a terminal: {drawn:?}");
    places_are_monotone(&sources, id);
}

struct Seen {
    nodes: usize,
    invalid: bool,
}

fn walk(sources: &SourceMap, id: SourceId, node: &Node<'_>, depth: usize, seen: &mut Seen) {
    seen.nodes += 1;
    check_span(sources, id, node.span);
    if let Some(via) = node.via {
        check_span(sources, id, via);
    }
    match &node.kind {
        NodeKind::Invalid => seen.invalid = true,
        NodeKind::Seq(items) => {
            assert!(depth <= MAX_DEPTH, "too deep");
            for item in items {
                walk(sources, id, item, depth + 1, seen);
            }
        }
        NodeKind::Map(entries) => {
            assert!(depth <= MAX_DEPTH, "too deep");
            for (at, entry) in entries.iter().enumerate() {
                check_span(sources, id, entry.key_span);
                check_key(&entry.key, sources.slice(entry.key_span));
                // Quadratic, so only where it costs little.
                if at < 50 {
                    let again = entries.iter().skip(at + 1).any(|other| other.key == entry.key);
                    assert!(!again, "key {:?} is there twice", entry.key);
                }
                walk(sources, id, &entry.value, depth + 1, seen);
            }
        }
        _ => {}
    }
}

/// The text of a key is what its span covers, but for quotes, escapes, folded lines and aliases.
fn check_key(key: &str, written: &str) {
    let plain = !written.contains(['\\', '\n', '\r']) && !written.contains("''");
    let inside = match written.chars().next() {
        Some('"' | '\'') => written.get(1..written.len() - 1).unwrap_or_default(),
        Some('*' | '|' | '>') => return,
        _ => written,
    };
    if plain {
        assert_eq!(key, inside, "the span of a key covers the key");
    }
}

fn check_finding(sources: &SourceMap, id: SourceId, finding: &Diagnostic) {
    let counts = finding.more > 0;
    assert_eq!(
        finding.primary.is_some(),
        !counts,
        "every finding of a reader has a place, but for a count of others"
    );
    for Label { span, .. } in finding.primary.iter().chain(&finding.related) {
        check_span(sources, id, *span);
    }
    for edit in finding.suggestions.iter().flat_map(|suggestion| &suggestion.edits) {
        check_span(sources, id, edit.span);
    }
}

fn check_span(sources: &SourceMap, id: SourceId, span: Span) {
    let text = sources.text(id);
    assert_eq!(span.source, id);
    assert!(text.get(span.range()).is_some(), "{span:?} is no range of the text");
}

fn places_are_monotone(sources: &SourceMap, id: SourceId) {
    let text = sources.text(id);
    let step = (text.len() / 200).max(1);
    let mut last = (1, 1);
    for at in (0..=text.len()).step_by(step) {
        let place = sources.line_column(id, u32::try_from(at).unwrap_or(u32::MAX));
        assert!(last <= place, "places run backwards at byte {at}");
        last = place;
    }
}
