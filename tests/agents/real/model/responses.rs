//! Responses, as Codex asks for them.

use super::{Asked, Format, News, Part, TOKENS, fresh, named, texts};
use serde_json::{Value, json};

pub(super) const FORMAT: Format = Format { read, events, whole };

fn read(body: &Value) -> Asked {
    let input = body["input"].as_array().cloned().unwrap_or_default();
    let by_model = |item: &Value| {
        item["role"] == "assistant" || item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"))
    };
    let since = input.iter().rposition(by_model).map_or(0, |at| at + 1);
    let said = |item: &Value| {
        let done = item["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output"));
        if done { News::Done } else { News::Said(texts(&item["content"])) }
    };
    let news = input.get(since..).unwrap_or_default();
    let tools = body["tools"].as_array().into_iter().flatten().filter(|tool| tool["type"] == "function");
    Asked {
        tools: tools
            .filter_map(|tool| Some((tool["name"].as_str()?.to_owned(), tool["parameters"].clone())))
            .collect(),
        news: news.iter().map(said).collect(),
        streams: body["stream"] == true,
        schema: body["text"]["format"]["schema"].clone(),
    }
}

fn item(part: &Part) -> Value {
    match part {
        Part::Call { id, name, arguments } => json!({
            "type": "function_call", "id": fresh("fc"), "call_id": id, "name": name,
            "arguments": arguments.to_string(), "status": "completed",
        }),
        said => {
            let text = said.text().unwrap_or_default();
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            json!({
                "type": "message", "id": fresh("msg"), "role": "assistant", "status": "completed",
                "content": content,
            })
        }
    }
}

fn response(id: &str, output: &[Value], status: &str) -> Value {
    json!({
        "id": id, "object": "response", "created_at": 1, "model": "scripted", "status": status,
        "output": output,
        "usage": {
            "input_tokens": TOKENS.0, "output_tokens": TOKENS.1, "total_tokens": TOKENS.0 + TOKENS.1,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    })
}

fn events(parts: &[Part]) -> Vec<String> {
    let event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        named(kind, &data)
    };
    let id = fresh("resp");
    let items: Vec<Value> = parts.iter().filter(|part| **part != Part::Wait).map(item).collect();
    let mut events = vec![event("response.created", json!({"response": response(&id, &[], "in_progress")}))];
    for (index, part) in parts.iter().enumerate() {
        if *part == Part::Wait {
            return events;
        }
        let whole = &items[index];
        events.push(event("response.output_item.added", json!({"output_index": index, "item": whole})));
        if let Some(text) = part.text() {
            let delta =
                json!({"item_id": whole["id"], "output_index": index, "content_index": 0, "delta": text});
            events.push(event("response.output_text.delta", delta));
        }
        // What waits does not say that its words are at their end.
        if parts.get(index + 1) != Some(&Part::Wait) {
            events.push(event("response.output_item.done", json!({"output_index": index, "item": whole})));
        }
    }
    events.push(event("response.completed", json!({"response": response(&id, &items, "completed")})));
    events
}

fn whole(parts: &[Part]) -> Value {
    let items: Vec<Value> = parts.iter().map(item).collect();
    response(&fresh("resp"), &items, "completed")
}
