//! JSON reads the same through both readers, and as `serde_json` reads it.

use policy_lang::parse::{Format, Node, NodeKind, parse};
use policy_lang::source::SourceMap;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

/// Any value that a document can hold. Floats are finite, as in JSON.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |float| Number::from_f64(float).map(Value::Number)),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::Array),
            btree_map(text(), inner, 0..8).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Text without the 34 characters that YAML takes only as escapes and JSON as they are.
fn text() -> impl Strategy<Value = String> {
    let refused = |c: char| matches!(c, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    prop_oneof![
        any::<String>().prop_map(move |text| text.chars().filter(|c| !refused(*c)).collect()),
        prop::sample::select(&["<<", "~", "yes", "007", "*", "a: b", "# x", "", "\u{FEFF}", "😀"][..])
            .prop_map(str::to_owned),
    ]
}

fn read(text: &str, format: Format) -> Value {
    let mut sources = SourceMap::new();
    let id = sources.add("input", text);
    let (root, findings) = parse(&sources, id, format);
    assert!(findings.is_empty(), "{format:?} refuses {text}: {findings:?}");
    as_value(&root.expect("a document without findings has a tree"))
}

fn as_value(node: &Node<'_>) -> Value {
    match &node.kind {
        NodeKind::Null { .. } => Value::Null,
        NodeKind::Bool(value) => Value::Bool(*value),
        NodeKind::Int(value) => Value::from(*value),
        NodeKind::Float(value) => Value::from(*value),
        NodeKind::Text { text, .. } => Value::from(text.as_ref()),
        NodeKind::Seq(items) => items.iter().map(as_value).collect(),
        NodeKind::Map(entries) => {
            let entries = entries.iter().map(|entry| (entry.key.to_string(), as_value(&entry.value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        NodeKind::Invalid => panic!("an invalid value without a finding"),
    }
}

proptest! {
    #[test]
    fn json_reads_the_same_through_both_readers(value in btree_map(text(), value(), 0..6)) {
        let value = Value::Object(value.into_iter().collect());
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            prop_assert_eq!(&read(&text, Format::Json), &value);
            prop_assert_eq!(&read(&text, Format::Yaml), &value);
            prop_assert_eq!(&read(&format!("\u{FEFF}{text}"), Format::Json), &value);
        }
    }
}
