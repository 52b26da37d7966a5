//! What callers see of an event who may not read files: what came out of files is left out, and `hidden` says so.

use super::{Event, Kind};
use serde_json::{Map, Value};

/// Members of a tool call that hold content of files.
const CONTENT: [&str; 6] = ["content", "raw_input", "raw_output", "rawInput", "rawOutput", "_meta"];

/// The event without what came out of files; `None` where it holds nothing of the kind.
#[must_use]
pub fn veil(event: &Event) -> Option<Event> {
    let mut data = match event.value() {
        Value::Object(data) => data,
        _ => return None,
    };
    let hidden = match event.kind {
        Kind::ToolCallCreated | Kind::ToolCallUpdated => strip(&mut data, &CONTENT),
        Kind::PermissionRequested => {
            let call = |data: &mut Map<String, Value>, name| {
                data.get_mut(name).and_then(Value::as_object_mut).is_some_and(|call| strip(call, &CONTENT))
            };
            let (ours, theirs) = (call(&mut data, "tool_call"), call(&mut data, "toolCall"));
            strip(&mut data, &["raw_input", "diffs"]) || ours || theirs
        }
        Kind::TerminalOutput => strip(&mut data, &["data"]),
        Kind::FileWritten => strip(&mut data, &["content", "diff", "old_text", "new_text"]),
        Kind::MessageChunk => data.get_mut("content").and_then(Value::as_object_mut).is_some_and(|block| {
            let resource = block.get_mut("resource").and_then(Value::as_object_mut);
            let inner = resource.is_some_and(|resource| strip(resource, &["text", "blob"]));
            strip(block, &["data"]) || inner
        }),
        // What is not known may hold anything.
        Kind::Ext => strip(&mut data, &["update", "params"]),
        _ => false,
    };
    if !hidden && event.raw.is_none() {
        return None;
    }
    data.insert("hidden".to_owned(), true.into());
    Some(Event { raw: None, ..event.with(&Value::Object(data)) })
}

fn strip(members: &mut Map<String, Value>, names: &[&str]) -> bool {
    let before = members.len();
    members.retain(|name, _| !names.contains(&name.as_str()));
    members.len() < before
}

#[cfg(test)]
mod tests {
    use super::super::event::raw;
    use super::*;
    use serde_json::json;

    fn veiled(kind: Kind, data: Value) -> Option<Value> {
        let event = Event {
            seq: 1,
            gseq: 1,
            ts: 0.0,
            session_id: "ses_1".into(),
            turn_id: None,
            kind,
            data: raw(data.to_string()),
            raw: None,
        };
        veil(&event).map(|event| event.value())
    }

    #[test]
    fn what_came_out_of_files_is_left_out() {
        for (kind, data, wanted) in [
            (
                Kind::ToolCallUpdated,
                json!({"tool_call_id": "t", "title": "read", "content": [1], "raw_output": "secret"}),
                json!({"tool_call_id": "t", "title": "read", "hidden": true}),
            ),
            (
                Kind::PermissionRequested,
                json!({"request_id": "r", "tool_call": {"tool_call_id": "t", "raw_input": {"x": 1}}}),
                json!({"request_id": "r", "tool_call": {"tool_call_id": "t"}, "hidden": true}),
            ),
            (
                Kind::TerminalOutput,
                json!({"terminal_id": "t", "data": "secret"}),
                json!({"terminal_id": "t", "hidden": true}),
            ),
            (
                Kind::MessageChunk,
                json!({"role": "agent", "content": {"type": "resource", "resource": {"uri": "u", "text": "secret"}}}),
                json!({"role": "agent", "content": {"type": "resource", "resource": {"uri": "u"}}, "hidden": true}),
            ),
        ] {
            assert_eq!(veiled(kind, data), Some(wanted));
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let said = json!({"role": "agent", "content": {"type": "text", "text": "hello"}});
        for (kind, data) in [
            (Kind::MessageChunk, said),
            (Kind::ToolCallCreated, json!({"tool_call_id": "t", "title": "x"})),
            (Kind::PlanUpdated, json!({"entries": []})),
        ] {
            assert_eq!(veiled(kind, data), None);
        }
    }
}
