//! A receiver of requests on loopback: what it answers is a script, what it was sent is kept.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One request.
#[derive(Debug, Clone)]
pub struct Sent {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Sent {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// How a request is answered.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: String,
    pub body: String,
    pub after: Duration,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self { status, headers: String::new(), body: String::new(), after: Duration::ZERO }
    }

    pub fn json(body: &Value) -> Self {
        let headers = "content-type: application/json\r\n".to_owned();
        Self { headers, body: body.to_string(), ..Self::status(200) }
    }

    pub fn slow(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

/// A receiver; it listens until the test program ends.
#[derive(Debug)]
pub struct Receiver {
    pub port: u16,
    sent: Arc<Mutex<Vec<Sent>>>,
}

type Script = dyn Fn(&Sent, usize) -> Reply + Send + Sync;

impl Receiver {
    /// Answers each request with what `answer` makes of it and of how many came before.
    pub fn start(answer: impl Fn(&Sent, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    pub fn on(listener: TcpListener, answer: impl Fn(&Sent, usize) -> Reply + Send + Sync + 'static) -> Self {
        let port = listener.local_addr().unwrap().port();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&sent), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &kept, &*answer));
            }
        });
        Self { port, sent }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Sent>>, answer: &Script) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let sent = Sent { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() };
    let before = {
        let mut kept = kept.lock().unwrap();
        kept.push(sent.clone());
        kept.len() - 1
    };
    let Reply { status, headers, body, after } = answer(&sent, before);
    std::thread::sleep(after);
    let head = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {}\r\n\r\n", body.len());
    // Who asked may have gone.
    let _ = reader.get_mut().write_all(format!("{head}{body}").as_bytes());
}
