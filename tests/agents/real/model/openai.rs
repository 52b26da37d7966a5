//! Chat completions, as OpenCode and Qwen Code ask for them.

use super::{Asked, Format, News, Part, TOKENS, fresh, plain, texts};
use serde_json::{Value, json};

pub(super) const FORMAT: Format = Format { read, events, whole };

fn read(body: &Value) -> Asked {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let since = messages.iter().rposition(|message| message["role"] == "assistant").map_or(0, |at| at + 1);
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]);
    Asked {
        tools: tools
            .filter_map(|tool| Some((tool["name"].as_str()?.to_owned(), tool["parameters"].clone())))
            .collect(),
        news: messages.iter().skip(since).filter_map(news).collect(),
        streams: body["stream"] == true,
        schema: body["response_format"]["json_schema"]["schema"].clone(),
    }
}

fn news(message: &Value) -> Option<News> {
    match message["role"].as_str()? {
        "user" => Some(News::Said(texts(&message["content"]))),
        "tool" => Some(News::Done),
        _ => None,
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": TOKENS.0, "completion_tokens": TOKENS.1, "total_tokens": TOKENS.0 + TOKENS.1})
}

fn called(part: &Part) -> Option<Value> {
    let Part::Call { id, name, arguments } = part else { return None };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    Some(json!({"index": 0, "id": id, "type": "function", "function": function}))
}

fn reason(parts: &[Part]) -> &'static str {
    if parts.iter().any(|part| called(part).is_some()) { "tool_calls" } else { "stop" }
}

fn events(parts: &[Part]) -> Vec<String> {
    let id = fresh("chatcmpl");
    let chunk = |choices: Value, usage: Value| {
        plain(&json!({
            "id": id, "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": choices, "usage": usage,
        }))
    };
    let delta = |delta: Value, reason: Value| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": reason}]), Value::Null)
    };
    let mut events = Vec::new();
    for part in parts {
        if let Some(text) = part.text() {
            events.push(delta(json!({"role": "assistant", "content": text}), Value::Null));
        } else if let Some(call) = called(part) {
            events.push(delta(json!({"role": "assistant", "tool_calls": [call]}), Value::Null));
        } else {
            return events;
        }
    }
    events.push(delta(json!({}), reason(parts).into()));
    events.push(chunk(json!([]), usage()));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn whole(parts: &[Part]) -> Value {
    let text: String = parts.iter().filter_map(Part::text).collect();
    let calls: Vec<Value> = parts.iter().filter_map(called).collect();
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": fresh("chatcmpl"), "object": "chat.completion", "created": 1, "model": "scripted", "usage": usage(),
        "choices": [{"index": 0, "message": message, "finish_reason": reason(parts)}],
    })
}
