//! Other names where the old ones are taken: of the session, its turns and its restore points, wherever they stand.

use super::Bundle;
use super::table::TURNS;
use crate::agents::ids;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Gives a bundle new names throughout.
pub(super) fn rename(bundle: &mut Bundle) {
    let mut names = HashMap::new();
    if let Some(session) = bundle.says("session_id") {
        names.insert(session.to_owned(), ids::new(ids::SESSION));
    }
    for turn in bundle.table(TURNS.name).iter().filter_map(|row| row.get("turn_id")?.as_str()) {
        names.insert(turn.to_owned(), ids::new(ids::TURN));
    }
    for point in &bundle.points {
        names.insert(point.row.checkpoint_id.clone(), ids::new(ids::CHECKPOINT));
    }
    bundle.session.values_mut().for_each(|value| renamed(&names, value));
    for row in bundle.tables.iter_mut().flatten() {
        rename_row(&names, row);
    }
    let points = bundle.points.iter_mut().map(|point| (&mut point.row.turn_id, &mut point.row.checkpoint_id));
    let spans = bundle.spans.iter_mut().map(|span| (&mut span.row.turn_id, &mut span.row.checkpoint_id));
    for (turn, point) in points.chain(spans) {
        for name in turn.iter_mut().chain([point]) {
            if let Some(new) = names.get(name) {
                name.clone_from(new);
            }
        }
    }
}

/// Texts that are a name, and names within the JSON that a text holds.
fn rename_row(names: &HashMap<String, String>, row: &mut Map<String, Value>) {
    for value in row.values_mut() {
        renamed(names, value);
        let Value::String(text) = value else { continue };
        let Ok(mut inner) = serde_json::from_str::<Value>(text) else { continue };
        if !inner.is_object() && !inner.is_array() {
            continue;
        }
        let before = inner.clone();
        renamed(names, &mut inner);
        if inner != before {
            *text = inner.to_string();
        }
    }
}

fn renamed(names: &HashMap<String, String>, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(new) = names.get(text.as_str()) {
                text.clone_from(new);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| renamed(names, value)),
        Value::Object(members) => members.values_mut().for_each(|value| renamed(names, value)),
        _ => {}
    }
}
