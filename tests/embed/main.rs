//! The server as a library: the example `examples/rust-hello/main.rs` is run as it stands, and asked over a socket.
//!
//! Called with a port, this program is the example's server; otherwise it starts itself so, and asks.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a test program")]

#[path = "../../examples/rust-hello/main.rs"]
mod hello;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

fn main() {
    if std::env::args().nth(1).is_some_and(|port| port.parse::<u16>().is_ok()) {
        hello::main().unwrap();
        return;
    }
    commands_and_routes_in_rust_are_served_like_declared_ones();
    println!("ok");
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn commands_and_routes_in_rust_are_served_like_declared_ones() {
    let dir = tempfile::tempdir().unwrap();
    let policy = r#"{"endpoints": {"custom:get_hello_name": {"limits": {"rate_per_minute": 2}}}}"#;
    let child = Command::new(std::env::current_exe().unwrap())
        .arg("0")
        .arg(dir.path())
        .env("ABX_SERVER_POLICY", policy)
        .stderr(Stdio::piped())
        .spawn();
    let mut running = Running(child.unwrap());
    let mut log = BufReader::new(running.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let port = log.find_map(|line| {
        let rest = line.split_once("listening on http://127.0.0.1:")?.1;
        rest.split(|byte: char| !byte.is_ascii_digit()).next()?.parse().ok()
    });
    // It says where it listens, or has ended.
    let port: u16 = port.unwrap();
    // Read on, so that it can write on.
    std::thread::spawn(move || log.count());
    let hello = |name: Value| ask(port, "POST", "/commands/hello", Some(name));
    assert_eq!(hello(json!({})), (200, json!({"result": "Hello, World!"})));
    assert_eq!(hello(json!({"name": 5})), (200, json!({"result": "Hello, 5!"})));
    let refused = json!({"error": "there is nobody", "type": "ValueError", "code": "internal"});
    assert_eq!(hello(json!({"name": "nobody"})), (500, refused));
    let add = |arguments: Value| ask(port, "POST", "/commands/add", Some(arguments));
    assert_eq!(add(json!({"a": "2"})), (200, json!({"result": 2.5})));
    assert_eq!(add(json!({"a": 2, "b": 1, "negate": "yes"})), (200, json!({"result": -3.0})));
    let refused = |error: &str, code: &str, parameter: &str| json!({"error": error, "type": "ValueError", "code": code, "parameter": parameter});
    let missing = refused("Missing required argument 'a'", "missing_parameter", "a");
    assert_eq!(add(json!({"b": 1})), (400, missing));
    let wrong = refused("Argument 'a' must be an integer", "invalid_parameter", "a");
    assert_eq!(add(json!({"a": 1.5})), (400, wrong));
    let about = json!({"result": {"name": "runtime", "version": env!("CARGO_PKG_VERSION")}});
    assert_eq!(ask(port, "POST", "/commands/_debug-info", Some(json!({}))), (200, about));
    let argument = |name: &str, kind: &str, required: bool, default: Value, description: &str| json!({"name": name, "type": kind, "required": required, "default": default, "description": description});
    let listed = json!({"commands": [
        {"name": "add", "description": "Add two numbers.", "args": [
            argument("a", "integer", true, Value::Null, ""),
            argument("b", "float", false, json!(0.5), ""),
            argument("negate", "boolean", false, Value::Null, "")]},
        {"name": "hello", "description": "Say hello.", "args": [
            argument("name", "string", false, json!("World"), "Whom to greet")]}]});
    assert_eq!(ask(port, "GET", "/commands", None), (200, listed));
    let (_, shown) = ask(port, "GET", "/capabilities", None);
    assert_eq!(shown["endpoints"]["code_run"]["rule"], json!("code:enable_group:dev_tools"));
    assert_eq!(shown["endpoints"]["custom:get_hello_name"]["summary"], json!("Greet by path."));
    for _ in 0..2 {
        assert_eq!(ask(port, "GET", "/hello/Ann", None), (200, json!({"greeting": "Hello, Ann!"})));
    }
    let (status, body) = ask(port, "GET", "/hello/Ann", None);
    assert_eq!((status, &body["rule"]), (429, &json!("policy:endpoints.custom:get_hello_name")));
}

fn ask(port: u16, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
    let body = body.map(|body| body.to_string());
    let head = body
        .as_ref()
        .map(|body| format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = head.unwrap_or_default();
    let text = body.unwrap_or_default();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n{text}")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}
