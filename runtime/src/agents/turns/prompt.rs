//! What a caller wants said: text or content blocks, a slash command, and files that go with it. Read and checked before
//! anything is queued.

use crate::endpoint::JsonBody;
use crate::error::{ApiError, ErrorCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Characters of a preview.
const PREVIEW: usize = 200;

/// Content blocks that one prompt may have.
const MOST_BLOCKS: usize = 256;

/// A prompt that can be sent as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prompt {
    /// Content blocks of the protocol.
    pub blocks: Vec<Value>,
    /// Files that go with it; their blocks are added when they have been written.
    pub attachments: Vec<Attachment>,
}

/// A file that goes with a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its name, without a directory.
    pub name: String,
    /// Its type.
    pub mime_type: String,
    /// What is in it.
    pub content: Vec<u8>,
}

#[derive(Deserialize)]
struct Command {
    name: String,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Attached {
    name: String,
    mime_type: String,
    content_base64: String,
}

impl Prompt {
    /// Reads `prompt` or `command`, and `attachments`. None where there is neither of the first two.
    ///
    /// # Errors
    /// 400 `invalid_prompt`.
    pub fn read(body: &mut JsonBody) -> Result<Option<Self>, ApiError> {
        let attachments = attachments(body)?;
        let blocks = match (body.take("prompt"), body.take("command")) {
            (Some(_), Some(_)) => return Err(invalid("only one of prompt and command may be given")),
            (Some(Value::String(text)), None) => vec![json!({"type": "text", "text": text})],
            (Some(Value::Array(blocks)), None) => {
                if blocks.len() > MOST_BLOCKS {
                    return Err(invalid(format!("prompt may have at most {MOST_BLOCKS} blocks")));
                }
                blocks.into_iter().enumerate().map(|(at, one)| block(at, one)).collect::<Result<_, _>>()?
            }
            (Some(_), None) => return Err(invalid("prompt must be a string or a list of content blocks")),
            (None, Some(command)) => vec![slash(command)?],
            (None, None) => return Ok(None),
        };
        let prompt = Self { blocks, attachments };
        if prompt.blocks.iter().all(is_blank) && prompt.attachments.is_empty() {
            return Err(invalid("prompt must not be empty"));
        }
        Ok(Some(prompt))
    }

    /// The kind of content that an agent which has declared `capabilities` does not take, if there is any.
    #[must_use]
    pub fn missing(&self, capabilities: &Value) -> Option<&'static str> {
        self.blocks.iter().filter_map(needed).find(|kind| !takes(capabilities, kind))
    }
}

/// Whether an agent takes content of a kind.
#[must_use]
pub fn takes(capabilities: &Value, kind: &str) -> bool {
    capabilities.get("promptCapabilities").and_then(|can| can.get(kind)).and_then(Value::as_bool)
        == Some(true)
}

/// The ability that a block asks of the agent.
fn needed(block: &Value) -> Option<&'static str> {
    match block.get("type").and_then(Value::as_str) {
        Some("image") => Some("image"),
        Some("audio") => Some("audio"),
        Some("resource") => Some("embeddedContext"),
        _ => None,
    }
}

/// The first characters of what is said.
#[must_use]
pub fn preview(blocks: &[Value]) -> String {
    let mut out = String::new();
    for block in blocks {
        let piece = match block.get("type").and_then(Value::as_str) {
            Some("text") => block.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
            Some("resource_link") => {
                format!("[{}]", block.get("name").and_then(Value::as_str).unwrap_or("file"))
            }
            Some(kind) => format!("[{kind}]"),
            None => continue,
        };
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(piece.trim());
        if out.chars().count() > PREVIEW {
            return out.chars().take(PREVIEW).chain(['…']).collect();
        }
    }
    out
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> ApiError {
    ApiError::new(ErrorCode::InvalidPrompt, message)
}

fn is_blank(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("text")
        && block.get("text").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
}

fn slash(command: Value) -> Result<Value, ApiError> {
    let shape = || invalid("command must be an object with `name` and maybe `arguments`");
    let command: Command = serde_json::from_value(command).map_err(|_| shape())?;
    let name = command.name.trim_start_matches('/');
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(invalid("command.name must be one word"));
    }
    let text = match command.arguments.as_deref().filter(|arguments| !arguments.is_empty()) {
        Some(arguments) => format!("/{name} {arguments}"),
        None => format!("/{name}"),
    };
    Ok(json!({"type": "text", "text": text}))
}

/// A block as the protocol has it. Members may be written in its way or in ours (`mimeType`, `mime_type`).
fn block(at: usize, block: Value) -> Result<Value, ApiError> {
    let wrong = |what: &str| invalid(format!("prompt: block {}: {what}", at + 1));
    let Value::Object(given) = block else { return Err(wrong("must be an object")) };
    let mut block = Map::new();
    for (name, value) in given {
        block.insert(if name == "mime_type" { "mimeType".to_owned() } else { name }, value);
    }
    let text = |block: &Map<String, Value>, name: &str| block.get(name).is_some_and(Value::is_string);
    let all = |names: &[&str]| names.iter().all(|name| text(&block, name));
    let fits = match block.get("type").and_then(Value::as_str) {
        Some("text") => all(&["text"]),
        Some("image" | "audio") => all(&["data", "mimeType"]) && is_base64(block.get("data")),
        Some("resource_link") => all(&["uri", "name"]),
        Some("resource") => match block.get_mut("resource").and_then(Value::as_object_mut) {
            Some(resource) => {
                if let Some(kind) = resource.remove("mime_type") {
                    resource.insert("mimeType".to_owned(), kind);
                }
                let blob = text(resource, "blob") && is_base64(resource.get("blob"));
                text(resource, "uri") && (text(resource, "text") || blob)
            }
            None => false,
        },
        _ => return Err(wrong("`type` must be text, image, audio, resource_link or resource")),
    };
    if fits { Ok(Value::Object(block)) } else { Err(wrong("members are missing or of another type")) }
}

fn is_base64(data: Option<&Value>) -> bool {
    data.and_then(Value::as_str).is_some_and(|data| STANDARD.decode(data).is_ok())
}

fn attachments(body: &mut JsonBody) -> Result<Vec<Attachment>, ApiError> {
    let shape = "a list of objects with `name`, `mime_type` and `content_base64`";
    let given: Vec<Attached> = body.typed("attachments", shape)?.unwrap_or_default();
    let mut read: Vec<Attachment> = Vec::with_capacity(given.len());
    for Attached { name, mime_type, content_base64 } in given {
        let wrong = |why| ApiError::invalid("attachments", format!("attachments: `{name}` {why}"));
        if name.is_empty() || name.len() > 200 || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
            return Err(wrong("is no plain file name"));
        }
        if read.iter().any(|seen| seen.name == name) {
            return Err(wrong("occurs more than once"));
        }
        let content = STANDARD.decode(content_base64).map_err(|_| wrong("is not standard base64"))?;
        read.push(Attachment { name, mime_type, content });
    }
    Ok(read)
}

#[cfg(test)]
mod tests;
