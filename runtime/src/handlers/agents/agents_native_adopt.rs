//! Bring an agent's own stored conversation under supervision.
//!
//! # Request
//! `native_session_id` and `cwd` (required), `title`, `mcp`, `policy`.
//!
//! # Response
//! `{"session", "imported_events"}`. What the agent repeats becomes events with `"source": "replay"`.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB), `limits.rate_per_minute` (60), `limits.max_concurrency` (4). An agent may be
//! silent for 120 s while it opens a conversation.
//!
//! # Errors
//! 404 `agent_not_found`, `native_session_not_found`; 409 `already_adopted` (with `session_id`),
//! `capability_missing`, and as `agents_sessions_create`.
//!
//! # Policy
//! `paths` (of `cwd` and `additional_directories`), `commands` (the agent, MCP servers), `variables`,
//! `params.env_deny`, `urls` (MCP servers), `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" http://localhost:9000/agents/catalog/opencode/adopt \
//!   --json '{"native_session_id": "ses_4f1c", "cwd": "/home/user/project"}'
//! ```

use crate::agents::process::Judge;
use crate::agents::sessions::actor::How;
use crate::agents::sessions::fields::{self, Fields};
use crate::agents::sessions::open::{self, Origin};
use crate::agents::sessions::{fault, list, view};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use serde_json::json;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let native = body.required_text("native_session_id")?;
    let fields = Fields {
        agent_id: call.param("agent_id")?.into_owned(),
        cwd: body.required_text("cwd")?,
        title: fields::title(&mut body)?,
        mcp: fields::mcp(&mut body)?,
        policy: body.take("policy").map(fault::policy).transpose()?.unwrap_or_default(),
        ..Fields::default()
    };
    call.note().touches(fields.cwd.as_str());
    let (agent, name) = (fields.agent_id.clone(), native.clone());
    let store = call.app().agents.store().await?;
    if let Some(session_id) = store.read(move |db| list::of_native(db, &agent, &name)).await? {
        return Err(ApiError::new(ErrorCode::AlreadyAdopted, "The conversation is a session already")
            .with("session_id", session_id));
    }
    let judge = Judge::of(call.permit());
    let how = How::Adopt { native };
    let opened = open::open(call.app(), &judge, &call.principal().id, fields, Origin::default(), how);
    let (row, began) = opened.await?;
    Ok(Reply::ok(&json!({"session": view::summary(&row), "imported_events": began.replayed})))
}
