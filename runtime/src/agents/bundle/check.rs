//! What a bundle must hold before anything of it is stored: names of the right kind, numbers in order, kinds that we know,
//! JSON where JSON is kept, and the bytes of every artifact.

use super::table::{EVENTS, ITEMS, TURNS};
use super::{Bundle, BundleError};
use crate::agents::ids;
use crate::agents::items::ItemKind;
use crate::agents::log::Kind;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

type Row = Map<String, Value>;

pub(super) fn whole(bundle: &Bundle) -> Result<(), BundleError> {
    session(&bundle.session)?;
    let turns = names(bundle.table(TURNS.name), "turns", "turn_id", |row| {
        is(row, "turn_id", ids::TURN) && ["prompt", "details"].iter().all(|name| holds_json(row, name))
    })?;
    let known_turn = |row: &Row| text(row, "turn_id").is_none_or(|turn| turns.contains(turn));
    events(bundle, &known_turn)?;
    names(bundle.table(ITEMS.name), "items", "item_id", |row| {
        let kind = text(row, "kind").and_then(ItemKind::from_name);
        is(row, "item_id", ids::ITEM) && kind.is_some() && holds_json(row, "body") && known_turn(row)
    })?;
    names(bundle.artifacts(), "artifacts", "artifact_id", |row| {
        let bytes = text(row, "sha256").and_then(|hash| bundle.blobs.get(hash));
        let length = row.get("bytes").and_then(Value::as_u64);
        is(row, "artifact_id", ids::ARTIFACT)
            && known_turn(row)
            && bytes.is_some_and(|bytes| Some(bytes.len() as u64) == length)
    })?;
    let mut points = BTreeSet::new();
    for (at, point) in bundle.points.iter().enumerate() {
        let turn = point.row.turn_id.as_deref();
        let fits = points.insert(&point.row.checkpoint_id) && turn.is_none_or(|turn| turns.contains(turn));
        require("checkpoints.jsonl", at, fits)?;
    }
    let mut spans = BTreeSet::new();
    for (at, span) in bundle.spans.iter().enumerate() {
        let turn = span.row.turn_id.as_deref();
        let fits = turn.is_none_or(|turn| turns.contains(turn) && spans.insert(turn));
        require(super::spans::ENTRY, at, fits)?;
    }
    for (at, row) in bundle.table("usage").iter().enumerate() {
        require("usage.jsonl", at, text(row, "turn_id").is_some_and(|turn| turns.contains(turn)))?;
    }
    Ok(())
}

fn session(session: &Row) -> Result<(), BundleError> {
    let texts =
        ["agent_id", "cwd"].iter().all(|name| text(session, name).is_some_and(|text| !text.is_empty()));
    let times =
        ["created_at", "updated_at"].iter().all(|name| session.get(*name).is_some_and(Value::is_number));
    let objects = ["labels", "details"].iter().all(|name| session.get(*name).is_some_and(Value::is_object));
    let fits = is(session, "session_id", ids::SESSION) && texts && times && objects;
    require("session.json", 0, fits)
}

/// Numbers rise from the first to the last; only joined events leave some out, and say so.
fn events(bundle: &Bundle, known_turn: &impl Fn(&Row) -> bool) -> Result<(), BundleError> {
    let number = |name: &str| bundle.session.get(name).and_then(Value::as_i64);
    let (first, last) = (number("first_seq"), number("last_seq"));
    let (Some(first), Some(last)) = (first.filter(|first| *first >= 1), last.filter(|last| *last >= 0))
    else {
        return Err(BundleError::invalid("session.json does not say where the log begins and ends"));
    };
    let mut next = first;
    for (at, row) in bundle.table(EVENTS.name).iter().enumerate() {
        let data = text(row, "data").and_then(|data| serde_json::from_str::<Row>(data).ok());
        let seq = row.get("seq").and_then(Value::as_i64);
        let begin = data.as_ref().and_then(|data| data.get("from_seq")).and_then(Value::as_i64).or(seq);
        // The first may have lost its beginning.
        let follows = begin == Some(next) || (at == 0 && begin.is_some_and(|begin| begin <= next));
        let fits = data.is_some()
            && follows
            && seq >= begin
            && seq <= Some(last)
            && text(row, "raw").is_none_or(|raw| serde_json::from_str::<Value>(raw).is_ok())
            && text(row, "kind").and_then(Kind::from_name).is_some()
            && known_turn(row);
        require("events.jsonl", at, fits)?;
        next = seq.map_or(next, |seq| seq.saturating_add(1));
    }
    if next != last.saturating_add(1) {
        return Err(BundleError::invalid("events.jsonl does not end where the log ends"));
    }
    Ok(())
}

/// Checks every row, and that no name is there twice.
fn names<'b>(
    rows: &'b [Row],
    table: &str,
    name: &str,
    fits: impl Fn(&Row) -> bool,
) -> Result<BTreeSet<&'b str>, BundleError> {
    let mut names = BTreeSet::new();
    for (at, row) in rows.iter().enumerate() {
        let new = text(row, name).is_some_and(|name| names.insert(name));
        require(&format!("{table}.jsonl"), at, new && fits(row))?;
    }
    Ok(names)
}

fn require(entry: &str, at: usize, fits: bool) -> Result<(), BundleError> {
    match fits {
        true => Ok(()),
        false => Err(BundleError::invalid(format!("line {} of {entry} does not fit", at + 1))),
    }
}

fn text<'r>(row: &'r Row, name: &str) -> Option<&'r str> {
    row.get(name).and_then(Value::as_str)
}

fn is(row: &Row, name: &str, prefix: &str) -> bool {
    text(row, name).is_some_and(|id| ids::is(prefix, id))
}

/// Whether a column that may be absent holds JSON.
fn holds_json(row: &Row, name: &str) -> bool {
    text(row, name).is_none_or(|text| serde_json::from_str::<Value>(text).is_ok())
}
