//! A model on loopback whose words are a script: what a prompt says between `[[` and `]]` is what it does.
//!
//! `[[write PATH TEXT]]` says a word and calls the tool with which its agent writes files; `[[say TEXT]]` says it; `[[wait]]` begins
//! to speak and never ends. What a tool did it takes note of with one sentence. Nothing depends on the agent: which tool
//! writes, and how its arguments are called, is read from the schemas that come with each request, as a model would.
//!
//! One file a format: `openai`, `responses`, `anthropic`, `gemini`.

mod anthropic;
mod gemini;
mod openai;
mod responses;

use crate::web;
use axum::body::{Body, Bytes};
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header::CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What it says once a tool has done its work.
const NOTED: &str = "That is noted.";
/// What it says before it calls a tool.
const BEFORE: &str = "I will write it.";
/// What it says before it waits.
pub const BEGUN: &str = "I begin.";

/// What it says it took: the same every time.
pub const TOKENS: (u64, u64) = (100, 10);

/// A request as far as the script is concerned.
#[derive(Debug, Default)]
pub struct Asked {
    /// Tools by name, with the schemas of their arguments.
    pub tools: Vec<(String, Value)>,
    /// What came since the model last spoke.
    pub news: Vec<News>,
    /// Whether the answer is to be streamed.
    pub streams: bool,
    /// What the answer must look like, where it must be JSON.
    pub schema: Value,
}

/// What comes between two answers.
#[derive(Debug)]
pub enum News {
    Said(String),
    /// What a tool did.
    Done,
}

impl Asked {
    /// What a person last told it to do, unless a tool has done something since.
    fn told(&self) -> Option<&str> {
        let told = self.news.iter().rev().find_map(|news| match news {
            News::Done => Some(None),
            News::Said(text) => Some(Some(text.rsplit_once("[[")?.1.split_once("]]")?.0)),
        });
        told.flatten()
    }

    fn answered(&self) -> bool {
        self.told().is_none() && self.news.iter().any(|news| matches!(news, News::Done))
    }
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(&'static str),
    Said(String),
    Call { id: String, name: String, arguments: Value },
    Wait,
}

impl Part {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Said(text) => Some(text),
            _ => None,
        }
    }
}

/// How a maker's models are spoken to.
#[derive(Clone, Copy)]
struct Format {
    read: fn(&Value) -> Asked,
    /// The events of a streamed answer, as they stand on the wire.
    events: fn(&[Part]) -> Vec<String>,
    whole: fn(&[Part]) -> Value,
}

/// A request that came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    /// Every header and its value, as one text.
    pub headers: String,
    pub body: String,
}

/// The running model.
#[derive(Debug)]
pub struct Model {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Model {
    pub fn start() -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let answering = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let told = Seen {
                path: uri.path().to_owned(),
                headers: format!("{headers:?}"),
                body: String::from_utf8_lossy(&body).into_owned(),
            };
            let answer = answer(&method, &told);
            kept.lock().unwrap().push(told);
            std::future::ready(answer)
        };
        let router = axum::Router::new().fallback(answering).layer(DefaultBodyLimit::disable());
        Self { port: web::serve(|_| router), seen }
    }

    /// What came so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(method: &Method, seen: &Seen) -> Response {
    let path = seen.path.as_str();
    let format = [
        ("/chat/completions", openai::FORMAT),
        ("/responses", responses::FORMAT),
        ("/messages", anthropic::FORMAT),
        (":generateContent", gemini::FORMAT),
        (":streamGenerateContent", gemini::FORMAT),
    ];
    let format = format.into_iter().find(|(end, _)| method == Method::POST && path.ends_with(end));
    if let Some((end, format)) = format {
        let body: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        let mut asked = (format.read)(&body);
        asked.streams |= end == ":streamGenerateContent";
        return reply(format, &asked);
    }
    let counted = path.ends_with("/count_tokens") || path.ends_with(":countTokens");
    if counted {
        return axum::Json(json!({"input_tokens": TOKENS.0, "totalTokens": TOKENS.0})).into_response();
    }
    if path.ends_with("/models") {
        return axum::Json(json!({"object": "list", "data": [], "models": []})).into_response();
    }
    StatusCode::NOT_FOUND.into_response()
}

fn reply(format: Format, asked: &Asked) -> Response {
    let parts = script(asked);
    if !asked.streams {
        return axum::Json((format.whole)(&parts)).into_response();
    }
    let waits = parts.contains(&Part::Wait);
    let events = (format.events)(&parts).into_iter().map(|event| Ok::<_, Infallible>(Bytes::from(event)));
    let events = stream::iter(events);
    let body =
        if waits { Body::from_stream(events.chain(stream::pending())) } else { Body::from_stream(events) };
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// What the model does about a request.
fn script(asked: &Asked) -> Vec<Part> {
    if asked.schema.is_object() {
        return vec![Part::Said(sample(&asked.schema).to_string())];
    }
    if asked.answered() {
        return vec![Part::Text(NOTED)];
    }
    // Who brings no tools wants a title, a summary or the like.
    if asked.tools.is_empty() {
        return vec![Part::Text("A talk")];
    }
    let mut words = asked.told().unwrap_or_default().splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some("write"), Some(path), Some(text)) => match call(&asked.tools, path, text) {
            Some(call) => vec![Part::Text(BEFORE), call],
            None => vec![Part::Text("There is nothing to write with.")],
        },
        (Some("say"), first, rest) => {
            let said = [first, rest].into_iter().flatten().collect::<Vec<_>>().join(" ");
            vec![Part::Said(said)]
        }
        (Some("wait"), ..) => vec![Part::Text(BEGUN), Part::Wait],
        _ => vec![Part::Text("Hello.")],
    }
}

/// A name that nothing had before: agents take what has the same name for the same.
fn fresh(prefix: &str) -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("{prefix}_{}", LAST.fetch_add(1, Ordering::Relaxed) + 1)
}

/// A value that a schema takes: the least of its kind.
fn sample(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kind = schema["type"].as_str().unwrap_or("string").to_ascii_lowercase();
    match kind.as_str() {
        "object" => {
            let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            names.map(|name| (name.to_owned(), sample(&schema["properties"][name]))).collect()
        }
        "boolean" => false.into(),
        "integer" | "number" => 1.into(),
        "array" => json!([]),
        _ => "as asked".into(),
    }
}

const PATHS: [&str; 4] = ["filePath", "file_path", "absolute_path", "path"];
const TEXTS: [&str; 2] = ["content", "file_text"];
const COMMANDS: [&str; 2] = ["command", "cmd"];

/// The call of the tool that writes files; of a shell where there is none.
fn call(tools: &[(String, Value)], path: &str, text: &str) -> Option<Part> {
    let of = |names: &[&'static str], schema: &Value| {
        names.iter().copied().find(|name| schema["properties"].get(*name).is_some())
    };
    let writer = tools.iter().find_map(|(name, schema)| {
        let (to, what) = (of(&PATHS, schema)?, of(&TEXTS, schema)?);
        let said = [(to, json!(path)), (what, json!(text))];
        Some((name, schema, said.to_vec()))
    });
    let shell = || {
        tools.iter().find_map(|(name, schema)| {
            let what = of(&COMMANDS, schema)?;
            let line = format!("printf '%s' '{text}' > '{path}'");
            let list = schema["properties"][what]["type"] == "array";
            let line = if list { json!(["sh", "-c", line]) } else { json!(line) };
            let mut said = vec![(what, line)];
            // What its sandbox does not let it do it asks for.
            if schema["properties"].get("sandbox_permissions").is_some() {
                said.push(("sandbox_permissions", json!("require_escalated")));
                said.push(("justification", json!("May I write?")));
            }
            Some((name, schema, said))
        })
    };
    let (name, schema, said) = writer.or_else(shell)?;
    let mut arguments: Map<String, Value> =
        said.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        arguments.entry(name.to_owned()).or_insert_with(|| sample(&schema["properties"][name]));
    }
    let id = fresh("call");
    Some(Part::Call { id, name: name.clone(), arguments: arguments.into() })
}

/// The texts of a message: a text, or a list of blocks.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// An event with a name.
fn named(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// One without.
fn plain(data: &Value) -> String {
    format!("data: {data}\n\n")
}
