//! A peer against another side that is written out.

use super::{Outbox, Peer, RpcError};
use crate::agents::acp::{Asked, Ended, Inbox, Line, RpcFault, Wait, Witness};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Writes down all that it is told, and answers by the method's name.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Told {
    fn add(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Inbox for Told {
    fn notification<'a>(&'a self, method: &'a str, params: Value) -> BoxFuture<'a, ()> {
        self.add(format!("{method} {params}"));
        Box::pin(std::future::ready(()))
    }

    fn request(&self, asked: Asked) -> BoxFuture<'static, Result<Value, RpcFault>> {
        self.add(format!("{}? {}", asked.method, asked.id));
        Box::pin(async move {
            match asked.method.as_str() {
                "echo" => Ok(asked.params),
                "never" => std::future::pending().await,
                other => Err(RpcFault::no_method(other)),
            }
        })
    }

    fn closed<'a>(&'a self, ended: &'a Ended) -> BoxFuture<'a, ()> {
        self.add(format!("closed {:?}", ended.exit_code));
        Box::pin(std::future::ready(()))
    }
}

impl Witness for Told {
    fn noise(&self, text: &str, bytes: u64) {
        self.add(format!("noise of {bytes}: {text}"));
    }

    fn frame_in(&self, _line: &[u8]) {}

    fn frame_out(&self, _line: &[u8]) {}
}

fn open() -> (Arc<Peer>, Outbox, Arc<Told>) {
    let told = Arc::new(Told::default());
    let (peer, outbox) = Peer::open(told.clone(), told.clone());
    (peer, outbox, told)
}

async fn receive(peer: &Arc<Peer>, message: Value) {
    peer.receive(Line::Whole(Bytes::from(message.to_string()))).await;
}

async fn sent(outbox: &mut Outbox) -> Value {
    serde_json::from_slice(&outbox.next().await.unwrap()).unwrap()
}

#[tokio::test]
async fn each_side_has_ids_of_its_own() {
    let (peer, mut outbox, told) = open();
    let mut ours = peer.ask("first", &json!({})).unwrap();
    assert_eq!(sent(&mut outbox).await, json!({"jsonrpc": "2.0", "id": 1, "method": "first", "params": {}}));
    // The same number from the other side is another request.
    for id in [json!(1), json!("6a1f-uuid"), Value::Null] {
        receive(&peer, json!({"id": id, "method": "echo", "params": {"x": id}})).await;
        assert_eq!(sent(&mut outbox).await, json!({"jsonrpc": "2.0", "id": id, "result": {"x": id}}));
    }
    assert_eq!(peer.in_flight(), 1);
    receive(&peer, json!({"id": 1, "result": {"ok": true}})).await;
    assert_eq!(ours.wait(Wait::FOREVER).await, Ok(json!({"ok": true})));
    assert_eq!(told.taken(), ["echo? 1", "echo? \"6a1f-uuid\"", "echo? null"]);
}

#[tokio::test]
async fn unknown_methods_and_broken_requests_are_answered() {
    let (peer, mut outbox, _) = open();
    receive(&peer, json!({"id": 7, "method": "_nobody/knows"})).await;
    let fault = json!({"code": -32601, "message": "Method not found", "data": {"method": "_nobody/knows"}});
    assert_eq!(sent(&mut outbox).await, json!({"jsonrpc": "2.0", "id": 7, "error": fault}));
    receive(&peer, json!({"id": "a", "method": 7})).await;
    let fault = json!({"code": -32600, "message": "The method is no text"});
    assert_eq!(sent(&mut outbox).await, json!({"jsonrpc": "2.0", "id": "a", "error": fault}));
}

#[tokio::test]
async fn what_nobody_waits_for_is_noise() {
    let (peer, _outbox, told) = open();
    let ours = peer.ask("m", &json!({})).unwrap();
    peer.receive(Line::Whole("hello".into())).await;
    peer.receive(Line::TooLong(9)).await;
    receive(&peer, json!({"id": 1, "result": 1})).await;
    receive(&peer, json!({"id": 1, "result": 2})).await;
    receive(&peer, json!({"id": null, "error": {"code": -32700, "message": "parse"}})).await;
    assert_eq!(ours.answer(Wait::FOREVER).await, Ok(json!(1)));
    assert_eq!(
        told.taken(),
        [
            "noise of 5: hello",
            "noise of 9: a line of 9 bytes was skipped",
            r#"noise of 19: {"id":1,"result":2}"#,
            r#"noise of 53: {"id":null,"error":{"code":-32700,"message":"parse"}}"#,
        ]
    );
}

#[tokio::test]
async fn a_request_of_theirs_can_be_cancelled() {
    let (peer, mut outbox, told) = open();
    receive(&peer, json!({"id": "q", "method": "never"})).await;
    // Another request with another type of id is not meant.
    receive(&peer, json!({"method": "$/cancel_request", "params": {"requestId": 1}})).await;
    receive(&peer, json!({"method": "$/cancel_request", "params": {"requestId": "q"}})).await;
    let fault = json!({"code": -32800, "message": "Request cancelled"});
    assert_eq!(sent(&mut outbox).await, json!({"jsonrpc": "2.0", "id": "q", "error": fault}));
    assert_eq!(told.taken(), [r#"never? "q""#]);
}

#[tokio::test(start_paused = true)]
async fn one_that_takes_too_long_is_cancelled_and_given_up() {
    let (peer, mut outbox, told) = open();
    let wait = Wait::total(Duration::from_secs(5));
    assert_eq!(peer.request("slow", &json!({}), wait).await, Err(RpcError::Timeout));
    assert_eq!(sent(&mut outbox).await["method"], "slow");
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}});
    assert_eq!(sent(&mut outbox).await, cancel);
    assert_eq!(peer.in_flight(), 0);
    receive(&peer, json!({"id": 1, "result": {}})).await;
    assert_eq!(told.taken(), [r#"noise of 20: {"id":1,"result":{}}"#]);
}

#[tokio::test]
async fn an_end_ends_everything_once() {
    let (peer, mut outbox, told) = open();
    let ours = peer.ask("m", &json!({})).unwrap();
    receive(&peer, json!({"id": 1, "method": "never"})).await;
    let ended = Ended { exit_code: Some(3), ..Ended::default() };
    peer.close(&ended).await;
    peer.close(&ended).await;
    assert_eq!(ours.answer(Wait::FOREVER).await, Err(RpcError::Closed));
    assert_eq!(peer.request("m", &json!({}), Wait::FOREVER).await, Err(RpcError::Closed));
    assert_eq!(peer.notify("m", &json!({})), Err(RpcError::Closed));
    assert_eq!(told.taken(), ["never? 1", "closed Some(3)"]);
    drop(peer);
    assert_eq!(sent(&mut outbox).await["id"], 1);
    // Nothing was answered to a side that is gone.
    assert!(outbox.next().await.is_none());
}

#[tokio::test]
async fn what_is_too_large_is_not_sent() {
    let (peer, _outbox, _) = open();
    let large = json!("x".repeat(super::MAX_LINE));
    assert!(matches!(peer.ask("m", &large), Err(RpcError::TooLarge)));
    assert_eq!(peer.in_flight(), 0);
}

#[tokio::test]
async fn a_flood_of_requests_is_bounded() {
    let (peer, mut outbox, _) = open();
    for id in 0..=super::asked::MAX_ASKED {
        receive(&peer, json!({"id": id, "method": "never"})).await;
    }
    let fault = json!({"code": -32603, "message": "Too many open requests"});
    assert_eq!(sent(&mut outbox).await, json!({"jsonrpc": "2.0", "id": 1024, "error": fault}));
}
