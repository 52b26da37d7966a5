//! The floor: a copy of this program as an axum server without authentication, policy, audit or bounds.

use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use axum::routing::{any, get, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::io::Read as _;
use std::process::{Command, ExitCode, Stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdout, Command as Program};

/// Names the port that a copy of this program is to serve.
const ROLE: &str = "BENCH_FLOOR_PORT";

/// What starts it.
pub(crate) fn command(port: u16) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(ROLE, port.to_string());
    command
}

/// Plays the role that this copy was started for, if any.
pub(crate) fn play() -> Option<ExitCode> {
    let port: u16 = std::env::var(ROLE).ok()?.parse().ok()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime
        .block_on(async {
            let routes = Router::new()
                .route("/shell", post(shell))
                .route("/shell/stream", post(events))
                .route(
                    "/v2/sandboxes/box/execute/ws",
                    any(|up: WebSocketUpgrade| async { up.on_upgrade(text) }),
                )
                .route("/pty", any(|up: WebSocketUpgrade| async { up.on_upgrade(terminal) }))
                .route(
                    "/tunnel",
                    any(|up: WebSocketUpgrade, headers: HeaderMap| async move {
                        let port = headers["x-sandbox-port"].to_str().unwrap().parse().unwrap();
                        up.on_upgrade(move |socket| relay(socket, port))
                    }),
                )
                .route("/download", get(download));
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
            axum::serve(
                axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true))),
                routes,
            )
            .await
        })
        .unwrap();
    Some(ExitCode::SUCCESS)
}

fn program(command: &Value) -> Program {
    let words: Vec<String> = match command {
        Value::String(text) => text.split(' ').map(str::to_owned).collect(),
        list => serde_json::from_value(list.clone()).unwrap(),
    };
    let mut program = Program::new(&words[0]);
    program.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped());
    program
}

async fn shell(Json(body): Json<Value>) -> Json<Value> {
    let output = program(&body["command"]).stderr(Stdio::piped()).output().await.unwrap();
    Json(json!({
        "stdout": String::from_utf8_lossy(&output.stdout),
        "stderr": String::from_utf8_lossy(&output.stderr),
        "exit_code": output.status.code(),
    }))
}

/// Reads of a command's output, until its end.
fn reads(body: &Value) -> impl futures_util::Stream<Item = Vec<u8>> + Send + use<> {
    let mut child = program(&body["command"]).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    futures_util::stream::unfold((out, child), |(mut out, child): (ChildStdout, Child)| async move {
        let mut buffer = vec![0; 64 * 1024];
        let read = out.read(&mut buffer).await.unwrap();
        buffer.truncate(read);
        (read > 0).then_some((buffer, (out, child)))
    })
}

async fn events(Json(body): Json<Value>) -> Body {
    if body["format"] == "lines" { lines(&body) } else { bytes(&body) }
}

/// One event a line, all whole lines of a read in one piece of the body.
fn lines(body: &Value) -> Body {
    let mut rest = Vec::new();
    Body::from_stream(reads(body).map(move |read| {
        rest.extend_from_slice(&read);
        let whole = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
        let mut out = Vec::with_capacity(whole * 2);
        for line in rest[..whole].split_inclusive(|byte| *byte == b'\n') {
            out.extend_from_slice(b"event: stdout\ndata: {\"data\":");
            serde_json::to_writer(&mut out, &String::from_utf8_lossy(&line[..line.len() - 1])).unwrap();
            out.extend_from_slice(b"}\n\n");
        }
        rest.drain(..whole);
        Ok::<_, std::convert::Infallible>(Bytes::from(out))
    }))
}

/// One event a read, in base64 with its offset.
fn bytes(body: &Value) -> Body {
    let mut offset = 0;
    Body::from_stream(reads(body).map(move |read| {
        let data = json!({"data": STANDARD.encode(&read), "offset": offset});
        offset += read.len();
        Ok::<_, std::convert::Infallible>(Bytes::from(format!("event: stdout\ndata: {data}\n\n")))
    }))
}

/// One text frame a read, for the command of the first frame.
async fn text(mut socket: WebSocket) {
    let Some(Ok(Message::Text(first))) = socket.recv().await else { return };
    let mut reads = Box::pin(reads(&serde_json::from_str(&first).unwrap()));
    let mut offset = 0;
    while let Some(read) = reads.next().await {
        let frame = json!({"type": "stdout", "data": String::from_utf8_lossy(&read), "offset": offset});
        offset += read.len();
        socket.send(Message::Text(frame.to_string().into())).await.unwrap();
    }
    let _ = socket.send(Message::Close(None)).await;
}

/// A `cat` on a terminal, in the frames of ours.
async fn terminal(socket: WebSocket) {
    let (pty, pts) = pty_process::open().unwrap();
    pty.resize(pty_process::Size::new(24, 80)).unwrap();
    let _child = pty_process::Command::new("cat").kill_on_drop(true).spawn(pts).unwrap();
    let (mut reader, mut writer) = pty.into_split();
    let (mut sink, mut source) = socket.split();
    let outward = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = reader.read(&mut buffer).await {
            let frame = json!({"type": "output", "data": String::from_utf8_lossy(&buffer[..read])});
            if sink.send(Message::Text(frame.to_string().into())).await.is_err() {
                return;
            }
        }
    };
    let inward = async {
        while let Some(Ok(Message::Text(text))) = source.next().await {
            let frame: Value = serde_json::from_str(&text).unwrap();
            writer.write_all(frame["data"].as_str().unwrap().as_bytes()).await.unwrap();
        }
    };
    tokio::select! { () = outward => {} () = inward => {} }
}

/// Bytes of a port as frames, and frames as bytes.
async fn relay(socket: WebSocket, port: u16) {
    let (mut reader, mut writer) =
        tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap().into_split();
    let (mut sink, mut source) = socket.split();
    let outward = async {
        let mut buffer = bytes::BytesMut::new();
        loop {
            buffer.reserve(64 * 1024);
            match reader.read_buf(&mut buffer).await {
                Ok(1..) if sink.send(Message::Binary(buffer.split().freeze())).await.is_ok() => {}
                _ => break,
            }
        }
        let _ = sink.send(Message::Close(None)).await;
    };
    let inward = async {
        while let Some(Ok(Message::Binary(data))) = source.next().await {
            writer.write_all(&data).await.unwrap();
        }
    };
    tokio::select! { () = outward => {} () = inward => {} }
}

/// One blocking reader, as was the fastest.
async fn download(uri: Uri) -> Response {
    let path = uri.query().and_then(|query| query.strip_prefix("path=")).unwrap();
    let mut file = std::fs::File::open(path).unwrap();
    let length = file.metadata().unwrap().len();
    let (sender, receiver) = tokio::sync::mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut chunk = vec![0; 256 * 1024];
            let read = file.read(&mut chunk).unwrap();
            chunk.truncate(read);
            if read == 0 || sender.blocking_send(Ok::<_, std::io::Error>(Bytes::from(chunk))).is_err() {
                return;
            }
        }
    });
    let pieces = futures_util::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    });
    Response::builder().header("content-length", length).body(Body::from_stream(pieces)).unwrap()
}
