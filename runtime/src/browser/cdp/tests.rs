//! The connection against a peer that is a pair of pipes.

use super::{CdpError, Listener, Pipes, Session};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;

#[derive(Default)]
struct Heard(Mutex<Vec<(Option<String>, String, String)>>);

impl Listener for Heard {
    fn event(
        self: Arc<Self>,
        _: &Arc<super::Connection>,
        session: Option<&str>,
        method: &str,
        params: &RawValue,
    ) {
        self.0.lock().unwrap().push((session.map(str::to_owned), method.to_owned(), params.get().to_owned()));
    }
}

struct Peer(pipe::Receiver, pipe::Sender);

impl Peer {
    fn of(pipes: &Pipes) -> Self {
        let [commands, answers] = [0, 1].map(|at| pipes.child[at].try_clone().unwrap());
        Self(pipe::Receiver::from_owned_fd(commands).unwrap(), pipe::Sender::from_owned_fd(answers).unwrap())
    }

    async fn command(&mut self) -> Value {
        let mut text = Vec::new();
        loop {
            match self.0.read_u8().await.unwrap() {
                0 => return serde_json::from_slice(&text).unwrap(),
                byte => text.push(byte),
            }
        }
    }

    async fn say(&mut self, text: &str) {
        self.1.write_all(text.as_bytes()).await.unwrap();
        self.1.write_all(&[0]).await.unwrap();
    }
}

#[tokio::test]
async fn answers_reach_who_asked_and_events_who_listens() {
    let (pipes, root, page) = (Pipes::new().unwrap(), Arc::new(Heard::default()), Arc::new(Heard::default()));
    let mut peer = Peer::of(&pipes);
    let connection = pipes.connect(Arc::clone(&root) as Arc<dyn Listener>);
    let session: Session = "s".into();
    connection.listen(Arc::clone(&session), Arc::clone(&page) as Arc<dyn Listener>);
    let asked = async {
        let (none, some) = (json!({}), json!({"x": 1}));
        let one = connection.call::<Value>(None, "A", &none);
        let two = connection.call::<Value>(Some(&session), "B", &some);
        tokio::join!(one, two)
    };
    let served = async {
        assert_eq!(peer.command().await, json!({"id": 1, "method": "A", "params": {}}));
        let wanted = json!({"id": 2, "method": "B", "params": {"x": 1}, "sessionId": "s"});
        assert_eq!(peer.command().await, wanted);
        peer.say("no json").await;
        peer.say(r#"{"method":"E","params":{"a":"\u4e2d"},"sessionId":"s"}"#).await;
        peer.say(r#"{"method":"F","params":{},"sessionId":"other"}"#).await;
        peer.say(r#"{"method":"G","params":{}}"#).await;
        peer.say(r#"{"id":2,"error":{"code":-1,"message":"no"},"sessionId":"s"}"#).await;
        peer.say(r#"{"id":1,"result":{"ok":true}}"#).await;
    };
    let ((one, two), ()) = tokio::join!(asked, served);
    assert_eq!(one.unwrap(), json!({"ok": true}));
    assert!(matches!(two, Err(CdpError::Refused(message)) if message == "no"));
    let event = |session: Option<&str>, method: &str, params: &str| {
        (session.map(str::to_owned), method.to_owned(), params.to_owned())
    };
    assert_eq!(*page.0.lock().unwrap(), [event(Some("s"), "E", r#"{"a":"\u4e2d"}"#)]);
    assert_eq!(*root.0.lock().unwrap(), [event(None, "G", "{}")]);
}

#[tokio::test]
async fn an_end_reaches_everybody_who_waits() {
    let pipes = Pipes::new().unwrap();
    let mut peer = Peer::of(&pipes);
    let connection = pipes.connect(Arc::new(Heard::default()));
    let session: Session = "s".into();
    let gone = async {
        let answer = connection.call::<Value>(Some(&session), "A", &json!({})).await;
        assert!(matches!(answer, Err(CdpError::Gone)));
    };
    let closed = async {
        let answer = connection.call::<Value>(None, "B", &json!({})).await;
        assert!(matches!(answer, Err(CdpError::Closed)));
    };
    let end = async {
        peer.command().await;
        peer.command().await;
        connection.abandon("s");
        tokio::task::yield_now().await;
        drop(peer);
    };
    tokio::join!(gone, closed, end);
    connection.closed().await;
    assert!(matches!(connection.call::<Value>(None, "C", &json!({})).await, Err(CdpError::Closed)));
}
