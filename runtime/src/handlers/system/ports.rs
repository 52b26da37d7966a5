//! Listening TCP ports.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"listening": [{"port", "protocol", "address", "pid", "wildcard"}], "truncated"}`, by port. `protocol` is `tcp` or
//! `tcp6`; `wildcard` marks an address that stands for all; `pid` is null where the server may not see it.
//!
//! # Limits
//! `limits.max_entries`.
//!
//! # Errors
//! None of its own.
//!
//! # Policy
//! `limits.max_entries`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/ports
//! ```

use serde_json::{Value, json};

use super::super::launch;
use crate::endpoint::{Answer, Call, Reply};
use crate::system::listening;

pub(crate) async fn call(call: Call) -> Answer {
    let most =
        usize::try_from(launch::limit(&call, |limits| limits.max_entries, u64::MAX)).unwrap_or(usize::MAX);
    let found = tokio::task::spawn_blocking(listening).await.unwrap_or_default();
    let shown: Vec<Value> = found
        .iter()
        .take(most)
        .map(|socket| {
            json!({
                "port": socket.port,
                "protocol": if socket.address.is_ipv4() { "tcp" } else { "tcp6" },
                "address": socket.address.to_string(),
                "pid": socket.pid,
                "wildcard": socket.address.is_unspecified(),
            })
        })
        .collect();
    Ok(Reply::ok(&json!({"listening": shown, "truncated": found.len() > most})))
}
