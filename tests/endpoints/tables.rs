//! `endpoints.txt`: one line an endpoint. `doors.txt`: one line a door. `not_built.txt`: endpoints without a handler.
//!
//! Columns have fixed widths, so that a new endpoint is one new line and moves no other.

use crate::COMMAND;
use crate::golden::Goldens;
use policy_lang::endpoint::{BaseValue, BodyKind, Door, ENDPOINTS, EndpointDecl, ErrorStyle, Key, Listener};
use runtime::handlers::NOT_BUILT;

#[test]
fn the_tables_are_in_step() {
    let mut goldens = Goldens::new(COMMAND, &[("tests/endpoints", "txt")]);
    goldens.compare("tests/endpoints/endpoints.txt", &lines(ENDPOINTS.iter().map(endpoint)));
    let doors = ENDPOINTS.iter().flat_map(|row| row.doors.iter().map(move |door| self::door(row, door)));
    goldens.compare("tests/endpoints/doors.txt", &lines(doors));
    goldens
        .compare("tests/endpoints/not_built.txt", &lines(NOT_BUILT.iter().map(|id| id.as_str().to_owned())));
    goldens.finish();
}

/// Id, method, path, group, scopes, number of doors, marks, then what it accepts beyond every endpoint and its base
/// values.
fn endpoint(row: &EndpointDecl) -> String {
    let door = row.doors.first().unwrap();
    let mut marks = vec![format!("doors={}", row.doors.len())];
    marks.extend(row.limit_class.map(|class| format!("class={class}")));
    marks.extend((!row.auth_required).then(|| "open".to_owned()));
    marks.extend(row.streaming.then(|| "streaming".to_owned()));
    marks.extend(
        (row.audit != policy_lang::endpoint::AuditLevel::All).then(|| format!("audit={:?}", row.audit)),
    );
    let accepts = accepts(row);
    let base: Vec<String> =
        row.base.iter().map(|(key, value)| format!("{}={}", key.as_str(), shown(value))).collect();
    columns(&[
        (31, row.name),
        (7, door.method.as_str()),
        (68, door.path),
        (10, row.group.as_str()),
        (40, &row.scopes.join(" ")),
        (34, &marks.join(" ")),
        (0, &format!("accepts: {}; base: {}", or_none(accepts.join(" ")), or_none(base.join(" ")))),
    ])
}

/// The keys that not every endpoint accepts; the four of paths are one word where they stand together.
fn accepts(row: &EndpointDecl) -> Vec<&'static str> {
    let everywhere = |key: &Key| ENDPOINTS.iter().all(|row| row.accepts.contains(*key));
    let keys = row.accepts.iter().filter(|key| !everywhere(key)).map(Key::as_str);
    let (paths, mut others): (Vec<_>, Vec<_>) = keys.partition(|name| name.starts_with("paths."));
    if paths.len() == 4 {
        others.insert(0, "paths");
        return others;
    }
    paths.into_iter().chain(others).collect()
}

/// Method, path, id, body and marks.
fn door(row: &EndpointDecl, door: &Door) -> String {
    let mut marks = vec![match door.body {
        BodyKind::None => "no-body",
        BodyKind::Json => "json",
        BodyKind::Raw => "raw",
        BodyKind::Multipart => "multipart",
    }];
    marks.extend(door.upgrade.then_some("websocket"));
    marks.extend((door.errors == ErrorStyle::Detail).then_some("detail"));
    marks.extend((door.listener == Listener::Pty).then_some("pty-port"));
    columns(&[(7, door.method.as_str()), (68, door.path), (31, row.name), (0, &marks.join(" "))])
}

fn shown(value: &BaseValue) -> String {
    match value {
        BaseValue::Bool(flag) => flag.to_string(),
        BaseValue::Number(number) => number.to_string(),
        BaseValue::Words(words) => words.join(","),
        BaseValue::Numbers(numbers) => numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    }
}

fn or_none(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// Pads each cell to its width; a cell that is too wide would move its line alone and is refused.
fn columns(cells: &[(usize, &str)]) -> String {
    let mut line = String::new();
    for (width, cell) in cells {
        assert!(
            *width == 0 || cell.len() < *width,
            "`{cell}` is wider than its column: widen it in tables.rs"
        );
        line.push_str(&format!("{cell:width$}"));
    }
    line.trim_end().to_owned()
}

fn lines(rows: impl Iterator<Item = String>) -> String {
    rows.map(|row| row + "\n").collect()
}
