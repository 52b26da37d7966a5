//! Answers against forms: one field a row, then whole forms, then anything at all.

use super::{Problem, problems};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn check(field: Value, value: Value) -> Option<String> {
    let schema = json!({"type": "object", "properties": {"f": field}});
    let content: Map<String, Value> = [("f".to_owned(), value)].into_iter().collect();
    let mut found = problems(&schema, &content);
    assert!(found.len() <= 1);
    found.pop().map(|problem| problem.problem)
}

#[test]
fn one_field() {
    let string = |more: Value| {
        let mut field = json!({"type": "string"});
        field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        field
    };
    let titled = json!([{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]);
    for (field, value, problem) in [
        (string(json!({})), json!("x"), None),
        (string(json!({})), json!(1), Some("must be a string")),
        (string(json!({"minLength": 2})), json!("é"), Some("must have at least 2 characters")),
        (string(json!({"maxLength": 1})), json!("é"), None),
        (string(json!({"maxLength": 1})), json!("éé"), Some("must have at most 1 characters")),
        (string(json!({"pattern": "^a+$"})), json!("aa"), None),
        (string(json!({"pattern": "^a+$"})), json!("ab"), Some("must match `^a+$`")),
        (string(json!({"pattern": "(?=a)"})), json!("b"), None),
        (string(json!({"enum": ["a", "b"]})), json!("b"), None),
        (string(json!({"enum": ["a", "b"]})), json!("c"), Some("must be one of `a`, `b`")),
        (string(json!({"oneOf": titled})), json!("a"), None),
        (string(json!({"oneOf": titled})), json!("A"), Some("must be one of `a`, `b`")),
        (string(json!({"format": "email"})), json!("a.b+c@example.org"), None),
        (string(json!({"format": "email"})), json!("a@@example.org"), Some("must be an email address")),
        (string(json!({"format": "email"})), json!("a b@example"), Some("must be an email address")),
        (string(json!({"format": "uri"})), json!("https://example.org/x"), None),
        (string(json!({"format": "uri"})), json!("example.org"), Some("must be a URI")),
        (string(json!({"format": "date"})), json!("2026-02-28"), None),
        (string(json!({"format": "date"})), json!("2026-02-30"), Some("must be a date such as 2026-01-31")),
        (string(json!({"format": "date-time"})), json!("2026-02-28T01:02:03+01:00"), None),
        (
            string(json!({"format": "date-time"})),
            json!("2026-02-28"),
            Some("must be a time such as 2026-01-31T12:00:00Z"),
        ),
        (string(json!({"format": "colour"})), json!("x"), None),
        (json!({"type": "integer"}), json!(3), None),
        (json!({"type": "integer"}), json!(3.0), None),
        (json!({"type": "integer"}), json!(3.5), Some("must be an integer")),
        (json!({"type": "integer", "minimum": 4}), json!(3), Some("must be at least 4")),
        (json!({"type": "number", "maximum": 0.5}), json!(0.6), Some("must be at most 0.5")),
        (json!({"type": "number"}), json!("3"), Some("must be a number")),
        (json!({"type": "boolean"}), json!(false), None),
        (json!({"type": "boolean"}), json!("yes"), Some("must be true or false")),
        (json!({"type": "array"}), json!("a"), Some("must be a list")),
        (json!({"type": "array", "minItems": 1}), json!([]), Some("must have at least 1 entries")),
        (json!({"type": "array", "maxItems": 1}), json!([1, 2]), Some("must have at most 1 entries")),
        (
            json!({"type": "array", "items": {"type": "string", "enum": ["a"]}}),
            json!(["a", "b"]),
            Some("entry 2 must be one of `a`"),
        ),
        (json!({"type": "array", "items": {"anyOf": titled}}), json!(["a", "b"]), None),
        (json!({"enum": [1, "x"]}), json!(2), Some("must be one of `1`, `x`")),
        (json!({"type": "mystery"}), json!({"any": "thing"}), None),
    ] {
        assert_eq!(check(field.clone(), value.clone()).as_deref(), problem, "{field} {value}");
    }
}

#[test]
fn a_whole_form() {
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["name", "age"],
    });
    let content = json!({"name": null, "age": "x", "other": 1, "note": null});
    let problem = |field: &str, problem: &str| Problem { field: field.into(), problem: problem.into() };
    assert_eq!(
        problems(&schema, content.as_object().unwrap()),
        [
            problem("name", "is required"),
            problem("age", "must be an integer"),
            problem("other", "is not asked for")
        ]
    );
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z]{0,6}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("required"),
        Just("enum"),
        Just("oneOf"),
        Just("const"),
        Just("items"),
        Just("minLength"),
        Just("pattern"),
        Just("format"),
        Just("f"),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4).prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_panics(schema in anything(), value in anything()) {
        let content: Map<String, Value> = [("f".to_owned(), value)].into_iter().collect();
        let _ = problems(&schema, &content);
    }

    #[test]
    fn every_choice_is_an_answer(choices in prop::collection::vec("[a-z]{1,4}", 1..5), at in any::<prop::sample::Index>()) {
        let chosen = json!(choices[at.index(choices.len())]);
        prop_assert_eq!(check(json!({"type": "string", "enum": choices}), chosen), None);
    }
}
