//! One misspelling at every place where a name is written: each is met with the name that was meant, and the fix that
//! is offered makes the document right.

use policy_lang::diag::{Code, Diagnostic, Severity};
use policy_lang::endpoint::{Catalogue, ENDPOINTS, GROUPS, KEYS, SCOPES};
use policy_lang::layer::LayerKind;
use policy_lang::lower::{self, presets::PRESETS};
use policy_lang::parse::{self, Format};
use policy_lang::source::SourceMap;

/// The errors of a document.
fn errors(text: &str) -> Vec<Diagnostic> {
    let mut map = SourceMap::default();
    let source = map.add("policy.yaml", text);
    let (root, mut found) = parse::parse(&map, source, Format::Yaml);
    if let Some(root) = root {
        found.extend(lower::document(&map, source, root, &Catalogue::builtin(), LayerKind::Policy).1);
    }
    found.retain(|finding| finding.severity == Severity::Error);
    found
}

/// The document with the best fix of its only error applied.
fn mended(text: &str, code: Code) -> String {
    let found = errors(text);
    assert_eq!(found.iter().map(|finding| finding.code).collect::<Vec<_>>(), [code], "{text}");
    let edit =
        &found[0].suggestions.first().unwrap_or_else(|| panic!("nothing is offered for {text}")).edits[0];
    let (start, end) = (edit.span.start as usize, edit.span.end as usize);
    format!("{}{}{}", &text[..start], edit.replacement, &text[end..])
}

/// A name with its last letters swapped; with its last letter dropped where they are the same.
fn misspell(name: &str) -> String {
    let (rest, last) = name.split_at(name.len() - 2);
    let swapped: String = last.chars().rev().collect();
    if swapped == last { format!("{rest}{}", &last[..1]) } else { format!("{rest}{swapped}") }
}

/// `template` with `name` in place of `@`, misspelt, is mended to the same with the right name.
fn mends(template: &str, name: &str, code: Code) {
    let wrong = template.replace('@', &misspell(name));
    let right = template.replace('@', name);
    assert_eq!(mended(&wrong, code), right);
    assert_eq!(errors(&right), [], "{right}");
}

#[test]
fn d6_a_misspelling_at_every_place() {
    for (template, name, code) in [
        ("@: locked\n", "preset", Code::UnknownKey),
        ("preset: @\n", "transfer-only", Code::UnknownPreset),
        ("groups: { @: true }\n", "dev_tools", Code::UnknownGroup),
        ("endpoints: { @: true }\n", "files_stat", Code::UnknownEndpoint),
        ("endpoints: { \"group:@\": true }\n", "browser", Code::UnknownGroup),
        ("defaults: { @: { max_bytes: 5MB } }\n", "limits", Code::UnknownKey),
        ("defaults: { limits: { @: 5MB } }\n", "max_bytes", Code::UnknownKey),
        ("defaults: { params: { @: true } }\n", "overwrite", Code::UnknownKey),
        ("defaults: { audit: @ }\n", "deny", Code::UnknownValue),
        ("defaults: { paths: { symlinks: @ } }\n", "within", Code::UnknownValue),
        ("defaults: { scopes: [\"@\"] }\n", "files:read", Code::UnknownScope),
        ("defaults: { params: { languages: [@] } }\n", "python", Code::UnknownValue),
        ("defaults: { params: { allowed_signals: [@] } }\n", "SIGTERM", Code::UnknownValue),
        ("auth: { @: [] }\n", "tokens", Code::UnknownKey),
        (
            "auth: { tokens: [{ id: ci, scopes: [\"@\"], token_env: A }] }\n",
            "sandboxes:exec",
            Code::UnknownScope,
        ),
    ] {
        mends(template, name, code);
    }
}

#[test]
fn d8_a_one_letter_typo_of_each_key() {
    for decl in KEYS.iter() {
        let template = match decl.name.split_once('.') {
            None => "defaults: { @: V }\n".to_owned(),
            Some((section, _)) => format!("defaults: {{ {section}: {{ @: V }} }}\n"),
        };
        let name = decl.name.rsplit('.').next().unwrap();
        let found = errors(&template.replace('@', &misspell(name)));
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        let offered: Vec<_> =
            found[0].suggestions.iter().map(|one| one.edits[0].replacement.as_str()).collect();
        assert_eq!(offered.first(), Some(&name), "{offered:?}");
    }
}

#[test]
fn every_declared_name_is_offered_for_its_misspelling() {
    for decl in ENDPOINTS.iter() {
        let text = format!("endpoints: {{ {}: true }}\n", misspell(decl.name));
        assert_offers(&text, decl.name);
    }
    for decl in GROUPS.iter() {
        assert_offers(&format!("groups: {{ {}: true }}\n", misspell(decl.name)), decl.name);
    }
    for preset in PRESETS {
        assert_offers(&format!("preset: {}\n", misspell(preset.name)), preset.name);
    }
    for decl in SCOPES.iter().filter(|decl| !decl.name.contains('{')) {
        assert_offers(&format!("defaults: {{ scopes: [\"{}\"] }}\n", misspell(decl.name)), decl.name);
    }
}

fn assert_offers(text: &str, name: &str) {
    let found = errors(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    let offered = found[0].suggestions.iter().any(|one| one.edits[0].replacement.trim_matches('"') == name);
    assert!(offered, "{text}: {:?}", found[0].suggestions);
}

/// The words of section 5: a path or a request line, `-` for `_`, case, number, order.
#[test]
fn an_endpoint_is_known_by_more_than_its_id() {
    for (written, id) in [
        ("POST /shell", "shell"),
        ("/files/list", "files_list"),
        ("files-list", "files_list"),
        ("FILES_LIST", "files_list"),
        ("file_list", "files_list"),
        ("stream_download_files", "files_download_stream"),
    ] {
        assert_offers(&format!("endpoints: {{ \"{written}\": true }}\n"), id);
    }
    assert_eq!(errors("endpoints: { zzzzzz: true }\n")[0].suggestions, [], "nothing is near");
}

/// What is underlined is the word and nothing else, quotes included, in both formats.
#[test]
fn c11_the_underlined_text_is_the_slice() {
    for (text, word) in [
        ("endpoints:\n  'shel': true\n", "'shel'"),
        ("endpoints:\n  \"shel\": true\n", "\"shel\""),
        ("endpoints:\n  shel: true\n", "shel"),
        ("{\"endpoints\": {\"shel\": true}}", "\"shel\""),
        ("defaults: { audit: 'al' }\n", "'al'"),
    ] {
        let found = errors(text);
        let span = found[0].primary.as_ref().unwrap().span;
        assert_eq!(&text[span.start as usize..span.end as usize], word);
    }
}
