//! Both readers on whole documents.

use super::*;

/// The tree in one line, with what was reached through an alias marked, and the findings with what they underline.
fn read(name: &str, text: &str) -> (String, Vec<String>) {
    let mut sources = SourceMap::new();
    let id = sources.add_bytes(name, text.as_bytes().to_vec());
    let (root, findings) = parse(&sources, id, Format::Auto);
    let findings = findings
        .iter()
        .map(|finding| {
            let span = finding.primary.as_ref().expect("every finding of a reader has a place").span;
            let place = sources.place(span);
            let related: Vec<String> = finding
                .related
                .iter()
                .map(|label| format!(" ({} {:?})", label.message, sources.slice(label.span)))
                .collect();
            format!(
                "{}:{} {} {:?} {}{}",
                place.line,
                place.column,
                finding.code.as_str(),
                sources.slice(span),
                finding.message,
                related.concat()
            )
        })
        .collect();
    (root.map_or_else(|| "-".to_owned(), |root| shown(&root)), findings)
}

fn shown(node: &Node<'_>) -> String {
    let text = match &node.kind {
        NodeKind::Null { written: true } => "null".to_owned(),
        NodeKind::Null { written: false } => "absent".to_owned(),
        NodeKind::Bool(value) => value.to_string(),
        NodeKind::Int(value) => value.to_string(),
        NodeKind::Float(value) => format!("{value:?}"),
        NodeKind::Text { text, quoted: true } => format!("{text:?}"),
        NodeKind::Text { text, .. } => text.to_string(),
        NodeKind::Seq(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        NodeKind::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|entry| format!("{}: {}", entry.key, shown(&entry.value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        NodeKind::Invalid => "?".to_owned(),
    };
    if node.via.is_some() { format!("^{text}") } else { text }
}

fn tree(text: &str) -> String {
    let (tree, findings) = read("t.yaml", text);
    assert_eq!(findings, [""; 0], "{text}");
    tree
}

#[test]
fn scalars_of_every_kind() {
    assert_eq!(
        tree(
            "a: 1\nb: 'false'\nc: yes\nd: ~\ne:\nf: |\n  x\n  y\ng: 1.5\nh: \"\\u7aef\"\ni: true\nj: x\n  y\n"
        ),
        "{a: 1, b: \"false\", c: yes, d: null, e: absent, f: \"x\\ny\\n\", g: 1.5, h: \"端\", i: true, j: x y}"
    );
}
