//! The JSON Schema of the declaration, for editors: made from the same [`fields`](super::fields) that reading follows.

use super::fields::{FILE, Grammar, RowShape, Shape};
use serde_json::{Map, Value, json};

/// The schema of the whole file. It refers to nothing outside of itself.
pub(crate) fn schema() -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("The declaration of endpoints: endpoints.toml"));
    schema.extend(row(&FILE));
    Value::Object(schema)
}

/// An object with the fields of a row and no others.
fn row(shape: &RowShape) -> Map<String, Value> {
    let property = |field: &super::fields::Field| {
        let mut of = value(field.shape);
        of.insert("description".into(), json!(field.doc));
        (field.name.to_owned(), Value::Object(of))
    };
    let required: Vec<&str> =
        shape.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut object = Map::new();
    object.insert("type".into(), json!("object"));
    object.insert("additionalProperties".into(), json!(false));
    object.insert("required".into(), json!(required));
    object.insert("properties".into(), shape.fields.iter().map(property).collect::<Map<_, _>>().into());
    object
}

fn value(shape: Shape) -> Map<String, Value> {
    let name = |grammar: Grammar| json!({ "type": "string", "pattern": grammar.pattern() });
    let value = match shape {
        Shape::Line => json!({ "type": "string", "pattern": r"^[^\r\n]*[^\s][^\r\n]*$" }),
        Shape::Name(grammar) => name(grammar),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Names(grammar) => json!({ "type": "array", "uniqueItems": true, "items": name(grammar) }),
        Shape::Values => json!({ "type": "object", "additionalProperties": { "anyOf": [
            { "type": ["boolean", "integer", "string"] },
            { "type": "array", "items": { "type": "integer" } },
            { "type": "array", "items": { "type": "string" } },
        ] } }),
        Shape::Rows(shape) => json!({ "type": "array", "items": row(shape) }),
    };
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
