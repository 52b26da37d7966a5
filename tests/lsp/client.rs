//! A client that speaks the protocol's framing and nothing more.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// One running server.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i32,
}

impl Client {
    /// Starts a server and introduces itself.
    pub(crate) fn start(encodings: &[&str]) -> (Self, Value) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let input = child.stdin.take();
        let mut client = Self { child, input, output, next: 0 };
        let capabilities = json!({"general": {"positionEncodings": encodings}});
        let introduced = client
            .ask("initialize", json!({"processId": null, "rootUri": null, "capabilities": capabilities}));
        client.tell("initialized", json!({}));
        (client, introduced)
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let input = self.input.as_mut().expect("the server listens");
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server listens");
        input.flush().expect("the server listens");
    }

    /// The next message of the server.
    pub(crate) fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("the server speaks");
            assert!(!line.is_empty(), "the server went away");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().expect("a length"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a whole message");
        serde_json::from_slice(&body).expect("a message is JSON")
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Asks, and passes over what comes before the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Opens a document and takes its findings.
    pub(crate) fn open(&mut self, uri: &str, text: &str) -> Value {
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
        self.findings()
    }

    pub(crate) fn findings(&mut self) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == "textDocument/publishDiagnostics" {
                return message["params"].clone();
            }
        }
    }

    /// Ends the session as the protocol asks; the exit status.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        drop(self.input.take());
        self.child.wait().expect("the server ends").code()
    }
}
