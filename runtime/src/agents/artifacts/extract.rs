//! Contents of messages and tool calls, taken out of events: the log says what they were, the blobs hold them.

use super::{Found, Source};
use crate::agents::log::{Kind, NewEvent};
use crate::agents::store::{Place, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Value, json};

/// Takes images, sounds and resources out of `events` and stores them. What is no base64 stays where it is.
pub(in crate::agents) async fn extract(
    place: &Place,
    session_id: &str,
    mut events: Vec<NewEvent>,
) -> Result<Vec<NewEvent>, StoreError> {
    if !events.iter_mut().any(|event| !blocks(event).is_empty()) {
        return Ok(events);
    }
    let (place, session_id) = (place.clone(), session_id.to_owned());
    let stored = tokio::task::spawn_blocking(move || {
        for event in &mut events {
            let source = source(event);
            let mut found = Vec::new();
            for block in blocks(event) {
                found.extend(take(&place, &session_id, block, source)?);
            }
            event.artifacts.append(&mut found);
        }
        Ok(events)
    });
    stored.await.map_err(|_| StoreError::Stopped)?
}

fn source(event: &NewEvent) -> Source {
    match event.kind {
        Kind::MessageChunk if event.data.get("role").and_then(Value::as_str) == Some("user") => {
            Source::Attachment
        }
        Kind::MessageChunk => Source::Message,
        _ => Source::Tool,
    }
}

/// The blocks of an event that hold contents.
fn blocks(event: &mut NewEvent) -> Vec<&mut Value> {
    let content = event.data.get_mut("content");
    let holds = |block: &&mut Value| matches!(kind(block), "image" | "audio" | "resource");
    match event.kind {
        Kind::MessageChunk => content.into_iter().filter(holds).collect(),
        Kind::ToolCallCreated | Kind::ToolCallUpdated => {
            let entries = content.and_then(Value::as_array_mut).into_iter().flatten();
            entries.filter_map(|entry| entry.get_mut("content")).filter(holds).collect()
        }
        _ => Vec::new(),
    }
}

fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Stores what a block holds and puts the artifact's id in its place. Text stays beside its id: people read it.
fn take(
    place: &Place,
    session_id: &str,
    block: &mut Value,
    source: Source,
) -> Result<Option<Found>, StoreError> {
    let is_resource = kind(block) == "resource";
    let (holder, member) = match is_resource {
        true => (block.get_mut("resource"), "blob"),
        false => (Some(&mut *block), "data"),
    };
    let Some(holder) = holder.and_then(Value::as_object_mut) else { return Ok(None) };
    let text = |name: &str| holder.get(name).and_then(Value::as_str);
    let bytes = match text(member) {
        Some(encoded) => {
            let decoded = STANDARD.decode(encoded).or_else(|_| STANDARD_NO_PAD.decode(encoded));
            decoded.ok()
        }
        None => text("text").map(|text| text.as_bytes().to_vec()),
    };
    let Some(bytes) = bytes else { return Ok(None) };
    let mime_type =
        text("mimeType").unwrap_or(if is_resource { "text/plain" } else { "application/octet-stream" });
    let name = text("uri").and_then(name_of).unwrap_or_else(|| default_name(mime_type));
    let found = Found::keep(place, session_id, name, mime_type.to_owned(), &bytes, source)?;
    holder.remove(member);
    if let Some(block) = block.as_object_mut() {
        block.insert("artifact_id".to_owned(), found.artifact_id.clone().into());
        block.insert("bytes".to_owned(), json!(found.bytes));
    }
    Ok(Some(found))
}

/// The last part of a URI.
fn name_of(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    let name = crate::endpoint::percent_decode(name, false);
    let name: String =
        String::from_utf8_lossy(&name).chars().filter(|c| !c.is_control() && *c != '/').collect();
    (!name.is_empty()).then(|| name.chars().take(200).collect())
}

fn default_name(mime_type: &str) -> String {
    let (family, kind) = mime_type.split_once('/').unwrap_or(("file", "bin"));
    let kind: String = kind.chars().take_while(char::is_ascii_alphanumeric).take(8).collect();
    match (family, kind.as_str()) {
        (_, "" | "octet") => "file.bin".to_owned(),
        ("text", "plain") => "text.txt".to_owned(),
        ("image" | "audio" | "text", kind) => format!("{family}.{kind}"),
        (_, kind) => format!("file.{kind}"),
    }
}
