//! Messages, as the adapter of Claude Code asks for them.

use super::{Asked, Format, News, Part, TOKENS, fresh, named, texts};
use serde_json::{Value, json};

pub(super) const FORMAT: Format = Format { read, events, whole };

fn read(body: &Value) -> Asked {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let since = messages.iter().rposition(|message| message["role"] == "assistant").map_or(0, |at| at + 1);
    let tools = body["tools"].as_array().into_iter().flatten();
    let news = messages.get(since..).unwrap_or_default();
    Asked {
        tools: tools
            .filter_map(|tool| Some((tool["name"].as_str()?.to_owned(), tool["input_schema"].clone())))
            .collect(),
        news: news.iter().flat_map(|message| blocks(&message["content"])).collect(),
        streams: body["stream"] == true,
        schema: body["output_config"]["format"]["schema"].clone(),
    }
}

fn blocks(content: &Value) -> Vec<News> {
    let Value::Array(blocks) = content else { return vec![News::Said(texts(content))] };
    let news = blocks.iter().map(|block| match block["type"].as_str() {
        Some("tool_result") => News::Done,
        _ => News::Said(block["text"].as_str().unwrap_or_default().to_owned()),
    });
    news.collect()
}

fn reason(parts: &[Part]) -> &'static str {
    let calls = parts.iter().any(|part| matches!(part, Part::Call { .. }));
    if calls { "tool_use" } else { "end_turn" }
}

fn message(content: Value, reason: Value) -> Value {
    json!({
        "id": fresh("msg"), "type": "message", "role": "assistant", "model": "scripted", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": TOKENS.0, "output_tokens": TOKENS.1},
    })
}

fn events(parts: &[Part]) -> Vec<String> {
    let begun = message(json!([]), Value::Null);
    let mut events = vec![named("message_start", &json!({"type": "message_start", "message": begun}))];
    for (index, part) in parts.iter().enumerate() {
        let (block, delta) = match part {
            Part::Wait => return events,
            Part::Call { id, name, arguments } => (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            ),
            said => (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": said.text().unwrap_or_default()}),
            ),
        };
        for event in [
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ] {
            // What waits does not say that its words are at their end.
            if event["type"] != "content_block_stop" || parts.get(index + 1) != Some(&Part::Wait) {
                events.push(named(event["type"].as_str().unwrap(), &event));
            }
        }
    }
    let delta = json!({"stop_reason": reason(parts), "stop_sequence": null});
    let usage = json!({"output_tokens": TOKENS.1});
    events.push(named("message_delta", &json!({"type": "message_delta", "delta": delta, "usage": usage})));
    events.push(named("message_stop", &json!({"type": "message_stop"})));
    events
}

fn whole(parts: &[Part]) -> Value {
    let block = |part: &Part| match part {
        Part::Call { id, name, arguments } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
        }
        said => json!({"type": "text", "text": said.text().unwrap_or_default()}),
    };
    message(parts.iter().map(block).collect(), reason(parts).into())
}
