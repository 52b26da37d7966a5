//! Generated content, as Gemini CLI asks for it.

use super::{Asked, Format, News, Part, TOKENS, plain};
use serde_json::{Value, json};

pub(super) const FORMAT: Format = Format { read, events, whole };

fn read(body: &Value) -> Asked {
    let contents = body["contents"].as_array().cloned().unwrap_or_default();
    let since = contents.iter().rposition(|content| content["role"] == "model").map_or(0, |at| at + 1);
    let declared = body["tools"].as_array().into_iter().flatten();
    let declared = declared.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
    let schema = |tool: &Value| match &tool["parametersJsonSchema"] {
        Value::Null => tool["parameters"].clone(),
        schema => schema.clone(),
    };
    let said = |part: &Value| match part.get("functionResponse") {
        Some(_) => News::Done,
        None => News::Said(part["text"].as_str().unwrap_or_default().to_owned()),
    };
    let news = contents.get(since..).unwrap_or_default();
    let parts = news.iter().filter_map(|content| content["parts"].as_array()).flatten();
    Asked {
        tools: declared.filter_map(|tool| Some((tool["name"].as_str()?.to_owned(), schema(tool)))).collect(),
        news: parts.map(said).collect(),
        streams: false,
        schema: body["generationConfig"]["responseJsonSchema"].clone(),
    }
}

fn whole(parts: &[Part]) -> Value {
    let part = |part: &Part| match part {
        Part::Call { name, arguments, .. } => json!({"functionCall": {"name": name, "args": arguments}}),
        said => json!({"text": said.text().unwrap_or_default()}),
    };
    let waits = parts.contains(&Part::Wait);
    let said: Vec<Value> = parts.iter().filter(|part| **part != Part::Wait).map(part).collect();
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": said}});
    if !waits {
        candidate["finishReason"] = "STOP".into();
    }
    json!({
        "candidates": [candidate], "modelVersion": "scripted", "responseId": "response-1",
        "usageMetadata": {
            "promptTokenCount": TOKENS.0, "candidatesTokenCount": TOKENS.1,
            "totalTokenCount": TOKENS.0 + TOKENS.1,
        },
    })
}

fn events(parts: &[Part]) -> Vec<String> {
    vec![plain(&whole(parts))]
}
