//! What an agent reports in `session/update`, as events. Nothing that it may say fails: what is not known is kept as `ext`.

use super::append::text;
use super::{Kind, NewEvent};
use serde_json::{Map, Value, json};

/// Members of a tool call, as the protocol and as events name them.
const TOOL_CALL: [(&str, &str); 9] = [
    ("toolCallId", "tool_call_id"),
    ("title", "title"),
    ("kind", "tool_kind"),
    ("status", "status"),
    ("content", "content"),
    ("locations", "locations"),
    ("rawInput", "raw_input"),
    ("rawOutput", "raw_output"),
    ("_meta", "_meta"),
];

/// The events of one `update` object: one, or two where a chunk carries what was used.
#[must_use]
pub fn of_update(update: Value) -> Vec<NewEvent> {
    let name = text(&update, "sessionUpdate").unwrap_or_default().to_owned();
    let usage = crate::agents::usage::of_meta(&update).map(|usage| NewEvent::new(Kind::UsageUpdated, usage));
    let (kind, data) = known(&name, &update).unwrap_or_else(|| {
        (Kind::Ext, json!({"type": "session_update", "session_update": name, "update": update}))
    });
    let event = NewEvent::new(kind, data);
    let event = if says_all(kind, &update) { event } else { event.raw(update) };
    std::iter::once(event).chain(usage).collect()
}

/// A tool call with the names of events, whether it came as an update or inside a request.
#[must_use]
pub fn tool_call(call: &Value) -> Value {
    let renamed = TOOL_CALL.iter().filter_map(|(theirs, ours)| {
        let value = call.get(theirs).or_else(|| call.get(ours)).filter(|value| !value.is_null())?;
        Some(((*ours).to_owned(), value.clone()))
    });
    Value::Object(renamed.collect())
}

fn known(name: &str, update: &Value) -> Option<(Kind, Value)> {
    let object = |pairs: Vec<(&str, Option<Value>)>| {
        let present = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(present.collect::<Map<_, _>>())
    };
    let member = |name: &str| update.get(name).filter(|value| !value.is_null()).cloned();
    let chunk = |role: &str| {
        let content = member("content").filter(Value::is_object)?;
        let message_id = member("messageId").filter(Value::is_string);
        let parts = vec![("role", Some(role.into())), ("content", Some(content)), ("message_id", message_id)];
        Some((Kind::MessageChunk, object(parts)))
    };
    match name {
        "user_message_chunk" => chunk("user"),
        "agent_message_chunk" => chunk("agent"),
        "agent_thought_chunk" => chunk("thought"),
        "tool_call" | "tool_call_update" => {
            text(update, "toolCallId")?;
            let kind = if name == "tool_call" { Kind::ToolCallCreated } else { Kind::ToolCallUpdated };
            Some((kind, tool_call(update)))
        }
        "plan" => Some((Kind::PlanUpdated, json!({"entries": member("entries").filter(Value::is_array)?}))),
        "available_commands_update" => {
            let commands = member("availableCommands").filter(Value::is_array)?;
            Some((Kind::CommandsUpdated, json!({"commands": commands})))
        }
        "current_mode_update" => {
            Some((Kind::OptionsUpdated, json!({"mode": text(update, "currentModeId")?})))
        }
        "config_option_update" => {
            let options = member("configOptions").filter(Value::is_array)?;
            Some((Kind::OptionsUpdated, json!({"config_options": options})))
        }
        "session_info_update" => {
            let (title, at) = (member("title").filter(Value::is_string), member("updatedAt"));
            (title.is_some() || at.is_some())
                .then(|| (Kind::SessionUpdated, object(vec![("title", title), ("updated_at", at)])))
        }
        "usage_update" => {
            let number = |name: &str| member(name).filter(Value::is_number);
            let (used, cost) = (number("used"), member("cost").filter(Value::is_object));
            // Some know what they cost and not how full they are.
            (used.is_some() || cost.is_some()).then(|| {
                (Kind::UsageUpdated, object(vec![("used", used), ("size", number("size")), ("cost", cost)]))
            })
        }
        _ => None,
    }
}

/// Whether the data says all that the update did, so that it need not be kept twice.
fn says_all(kind: Kind, update: &Value) -> bool {
    let plain = |name: &String| matches!(name.as_str(), "sessionUpdate" | "content" | "messageId");
    match kind {
        Kind::MessageChunk => {
            // An id that is no text is not in the data.
            let id = update.get("messageId").is_none_or(Value::is_string);
            id && update.as_object().is_some_and(|members| members.keys().all(plain))
        }
        Kind::Ext => true,
        _ => false,
    }
}

/// The update that a chunk was made of, where only its data was kept. A joined one was made of several.
pub(super) fn back(data: &Value) -> Option<Value> {
    if data.get("from_seq").is_some() {
        return None;
    }
    let name = match text(data, "role")? {
        "user" => "user_message_chunk",
        "agent" => "agent_message_chunk",
        "thought" => "agent_thought_chunk",
        _ => return None,
    };
    let mut update = json!({"sessionUpdate": name, "content": data.get("content")?});
    if let (Some(members), Some(id)) = (update.as_object_mut(), data.get("message_id")) {
        members.insert("messageId".to_owned(), id.clone());
    }
    Some(update)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(update: Value) -> Vec<(String, Value, bool)> {
        of_update(update)
            .into_iter()
            .map(|event| (event.kind.as_str().to_owned(), event.data, event.raw.is_some()))
            .collect()
    }

    #[test]
    fn chunks_are_kept_once_and_come_back_as_they_were() {
        for update in [
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}),
            json!({"sessionUpdate": "user_message_chunk", "content": {"type": "image"}, "messageId": "m"}),
        ] {
            let event = of_update(update.clone()).remove(0);
            assert_eq!((event.kind, &event.raw), (Kind::MessageChunk, &None));
            assert_eq!(back(&event.data), Some(update));
        }
    }

    #[test]
    fn tool_calls_get_the_names_of_events() {
        let update = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "t1", "kind": "edit", "status": null,
            "rawInput": {"a": 1}, "unheard": true,
        });
        let wanted = json!({"tool_call_id": "t1", "tool_kind": "edit", "raw_input": {"a": 1}});
        assert_eq!(events(update), [("tool_call.updated".to_owned(), wanted, true)]);
    }

    #[test]
    fn nothing_fails() {
        for update in [
            Value::Null,
            json!(1),
            json!({"sessionUpdate": 7}),
            json!({"sessionUpdate": "agent_message_chunk"}),
            json!({"sessionUpdate": "agent_message_chunk", "content": "text"}),
            json!({"sessionUpdate": "tool_call"}),
            json!({"sessionUpdate": "plan", "entries": {}}),
            json!({"sessionUpdate": "session_info_update", "_meta": {"x": 1}}),
            json!({"sessionUpdate": "usage_update", "used": "many"}),
            json!({"sessionUpdate": "state_update", "state": "idle"}),
        ] {
            let name = update.get("sessionUpdate").and_then(Value::as_str).unwrap_or_default();
            let wanted = json!({"type": "session_update", "session_update": name, "update": update.clone()});
            assert_eq!(events(update), [("ext".to_owned(), wanted, false)]);
        }
    }

    #[test]
    fn what_is_known_keeps_its_frame() {
        for (update, kind, data) in [
            (json!({"sessionUpdate": "plan", "entries": []}), "plan.updated", json!({"entries": []})),
            (
                json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}),
                "options.updated",
                json!({"mode": "plan"}),
            ),
            (
                json!({"sessionUpdate": "usage_update", "used": 5, "size": 10, "cost": {"amount": 0.5, "currency": "USD"}}),
                "usage.updated",
                json!({"used": 5, "size": 10, "cost": {"amount": 0.5, "currency": "USD"}}),
            ),
            (
                json!({"sessionUpdate": "usage_update", "cost": {"amount": 2, "currency": "EUR"}}),
                "usage.updated",
                json!({"cost": {"amount": 2, "currency": "EUR"}}),
            ),
            (
                json!({"sessionUpdate": "session_info_update", "title": "t", "updatedAt": null}),
                "session.updated",
                json!({"title": "t"}),
            ),
        ] {
            assert_eq!(events(update), [(kind.to_owned(), data, true)]);
        }
    }
}
