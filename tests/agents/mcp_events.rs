//! MCP servers over HTTP with server-sent events, the older way: one stream for all answers, a place of its own for what is asked.

use crate::lab::Lab;
use crate::web;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

/// What came: method, path with its query, the key that was shown, and the method of the message.
type Came = (String, String, String, Value);

/// A server on loopback; it listens until the test program ends.
struct Web {
    port: u16,
    came: Arc<Mutex<Vec<Came>>>,
}

/// How it behaves, by the path of its stream.
fn opening(path: &str, port: u16) -> Option<String> {
    Some(match path {
        "/sse" => ": hello\n\nevent: endpoint\ndata: /messages?session=7\n\n".to_owned(),
        "/crlf" => "event: endpoint\r\ndata: messages?session=7\r\n\r\n".to_owned(),
        // The same machine, and yet somebody else.
        "/elsewhere" => format!("event: endpoint\ndata: http://localhost:{port}/messages\n\n"),
        "/nowhere" => "event: endpoint\ndata: http://[\n\n".to_owned(),
        "/silent" => ": hello\n\n".to_owned(),
        "/hangs-up" => String::new(),
        _ => return None,
    })
}

fn answered(ask: &Value) -> Option<Value> {
    let tool = |name: &str| json!({"name": name, "description": "a tool"});
    let result = match ask["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "older"},
        }),
        "tools/list" if ask["params"].get("cursor").is_none() => {
            json!({"tools": [tool("look")], "nextCursor": "2"})
        }
        "tools/list" => json!({"tools": [tool("leap")]}),
        _ => return None,
    };
    Some(json!({"jsonrpc": "2.0", "id": ask["id"], "result": result}))
}

impl Web {
    fn start() -> Self {
        let came = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&came);
        let port = web::serve(|port| {
            // The stream that is open: there is one at a time.
            let open: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>> = Arc::default();
            let answer = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
                let ask: Value = serde_json::from_slice(&body).unwrap_or_default();
                let key = headers.get("x-key").map_or("", |key| key.to_str().unwrap()).to_owned();
                kept.lock().unwrap().push((method.to_string(), uri.to_string(), key, ask["method"].clone()));
                std::future::ready(reply(&method, uri.path(), port, &ask, &open))
            };
            axum::Router::new().fallback(answer)
        });
        Self { port, came }
    }

    fn register(&self, lab: &Lab, path: &str) {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let body = json!({"name": "web", "url": url, "transport": "sse", "headers_from": {"x-key": "key"}});
        lab.post("/agents/mcp", body);
    }

    fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }
}

fn reply(
    method: &Method,
    path: &str,
    port: u16,
    ask: &Value,
    open: &Mutex<Option<mpsc::UnboundedSender<String>>>,
) -> Response {
    if method == Method::POST {
        if let (Some(answer), Some(stream)) = (answered(ask), open.lock().unwrap().as_ref()) {
            // Another message first, and the answer in two lines of data.
            let noise = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
            let (head, tail) =
                answer.to_string().split_once(',').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
            let text =
                format!("event: message\ndata: {noise}\n\nevent: message\ndata: {head},\ndata: {tail}\n\n");
            // Who opened it may have gone.
            let _ = stream.send(text);
        }
        return StatusCode::ACCEPTED.into_response();
    }
    let Some(first) = opening(path, port) else { return StatusCode::NOT_FOUND.into_response() };
    if first.is_empty() {
        return Response::builder().header("content-type", "text/event-stream").body(Body::empty()).unwrap();
    }
    let (sender, receiver) = mpsc::unbounded_channel();
    sender.send(first).unwrap();
    *open.lock().unwrap() = Some(sender);
    let pieces = stream::unfold(receiver, |mut receiver| async move {
        let piece = receiver.recv().await?;
        Some((Ok::<_, Infallible>(Bytes::from(piece)), receiver))
    });
    let body = Body::from_stream(pieces.boxed());
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

fn with_key() -> Lab {
    let lab = Lab::start();
    lab.post("/agents/credentials", json!({"name": "key", "value": "canary-secret"}));
    lab
}

#[test]
fn a_server_is_asked_for_its_tools_page_by_page() {
    let (lab, web) = (with_key(), Web::start());
    for path in ["/sse", "/crlf"] {
        let before = web.came().len();
        web.register(&lab, path);
        let found = lab.post("/agents/mcp/web/check", json!({}));
        let tool = |name: &str| json!({"name": name, "description": "a tool"});
        assert_eq!(
            (&found["ok"], &found["server_info"], &found["tools"]),
            (&json!(true), &json!({"name": "older"}), &json!([tool("look"), tool("leap")])),
            "{path}"
        );
        let came = web.came()[before..].to_vec();
        let wanted: Vec<Came> = [
            ("GET", path, Value::Null),
            ("POST", "/messages?session=7", json!("initialize")),
            ("POST", "/messages?session=7", json!("notifications/initialized")),
            ("POST", "/messages?session=7", json!("tools/list")),
            ("POST", "/messages?session=7", json!("tools/list")),
        ]
        .map(|(method, path, said)| (method.to_owned(), path.to_owned(), "canary-secret".to_owned(), said))
        .into();
        assert_eq!(came, wanted);
    }
    let shown = lab.get("/agents/mcp")["servers"][0].clone();
    assert_eq!((&shown["transport"], &shown["last_check"]["tools"]), (&json!("sse"), &json!(2)));
    assert!(!shown.to_string().contains("canary"));
}

#[test]
fn one_that_misbehaves_is_found_out_and_no_secret_goes_elsewhere() {
    let (lab, web) = (with_key(), Web::start());
    for (path, wanted) in [
        ("/elsewhere", "502 mcp_check_failed"),
        ("/nowhere", "502 mcp_check_failed"),
        ("/hangs-up", "502 mcp_check_failed"),
        ("/absent", "502 mcp_check_failed"),
        ("/silent", "504 mcp_timeout"),
    ] {
        web.register(&lab, path);
        let asked = Some(json!({"timeout_seconds": 2}));
        assert_eq!(lab.refused("POST", "/agents/mcp/web/check", asked), wanted, "{path}");
    }
    assert!(web.came().iter().all(|(method, ..)| method == "GET"), "{:?}", web.came());
}
