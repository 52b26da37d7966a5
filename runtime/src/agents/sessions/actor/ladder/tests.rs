//! How long an agent is waited for while it opens a conversation, by a clock that nobody waits for.

use super::request;
use crate::agents::acp::{Line, Peer, RpcError, Stranger, Witness};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

struct Quiet;

impl Witness for Quiet {
    fn noise(&self, _text: &str, _bytes: u64) {}
    fn frame_in(&self, _line: &[u8]) {}
    fn frame_out(&self, _line: &[u8]) {}
}

/// What comes of a request to an agent that says so many words, one every 100 s, and then no more; after how many seconds.
async fn asked(method: &str, words: u32) -> (Result<Value, RpcError>, u64) {
    let (peer, _outbox) = Peer::open(Arc::new(Stranger), Arc::new(Quiet));
    let begun = Instant::now();
    let talk = async {
        for _ in 0..words {
            sleep(Duration::from_secs(100)).await;
            peer.receive(Line::Whole(r#"{"method": "session/update", "params": {}}"#.into())).await;
        }
        std::future::pending::<RpcError>().await
    };
    let answer = tokio::select! {
        answer = request(&peer, method, Map::new()) => answer,
        error = talk => Err(error),
    };
    (answer, begun.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn only_silence_ends_the_opening_of_a_conversation() {
    for method in ["session/new", "session/load", "session/resume"] {
        assert_eq!(asked(method, 0).await, (Err(RpcError::Timeout), 120), "{method}");
        assert_eq!(
            asked(method, 5).await,
            (Err(RpcError::Timeout), 620),
            "{method}: it connects its servers"
        );
    }
}
