//! Liveness; always 200.
//!
//! # Request
//! Nothing. No token is asked.
//!
//! # Response
//! `{"status": "ok"}`
//!
//! # Limits
//! `limits.rate_per_minute`.
//!
//! # Errors
//! 429 `rate_limited`.
//!
//! # Policy
//! `audit`, `limits`. The endpoint cannot be closed.
//!
//! ```sh
//! curl http://localhost:9000/health
//! ```

use crate::endpoint::{Answer, Call, Reply};

pub(crate) async fn call(_call: Call) -> Answer {
    Ok(Reply::json_text(r#"{"status":"ok"}"#))
}
