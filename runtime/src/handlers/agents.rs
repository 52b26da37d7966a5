//! AGENTS: catalogue, sessions, turns, events, requests, workspaces, extensions, automation and history. The service is
//! [`crate::agents`]; what is here translates.
//!
//! Sessions, requests and schedules are shared among all who hold the scopes of this group.

mod asking;
mod catalogued;
mod deciding;
mod going_back;
mod recorded;
mod sign_in;
mod streaming;
mod talking;
mod telling;
mod workspaces;

pub(super) mod agents_artifacts_get;
pub(super) mod agents_artifacts_list;
pub(super) mod agents_auth;
pub(super) mod agents_changes_list;
pub(super) mod agents_checkpoints_create;
pub(super) mod agents_checkpoints_list;
pub(super) mod agents_checkpoints_restore;
pub(super) mod agents_credentials_delete;
pub(super) mod agents_credentials_list;
pub(super) mod agents_credentials_set;
pub(super) mod agents_diff_get;
pub(super) mod agents_events_list;
pub(super) mod agents_events_stream;
pub(super) mod agents_events_stream_all;
pub(super) mod agents_export;
pub(super) mod agents_get;
pub(super) mod agents_import;
pub(super) mod agents_install;
pub(super) mod agents_items_get;
pub(super) mod agents_items_list;
pub(super) mod agents_list;
pub(super) mod agents_mcp_check;
pub(super) mod agents_mcp_delete;
pub(super) mod agents_mcp_list;
pub(super) mod agents_mcp_set;
pub(super) mod agents_native_adopt;
pub(super) mod agents_native_list;
pub(super) mod agents_options_get;
pub(super) mod agents_options_set;
pub(super) mod agents_permissions_reply;
pub(super) mod agents_plan_get;
pub(super) mod agents_probe;
pub(super) mod agents_process_logs;
pub(super) mod agents_process_stop;
pub(super) mod agents_processes_list;
pub(super) mod agents_questions_reply;
pub(super) mod agents_register;
pub(super) mod agents_remove;
pub(super) mod agents_requests_list;
pub(super) mod agents_rules_delete;
pub(super) mod agents_rules_list;
pub(super) mod agents_rules_set;
pub(super) mod agents_run;
pub(super) mod agents_schedules_delete;
pub(super) mod agents_schedules_list;
pub(super) mod agents_schedules_set;
pub(super) mod agents_schedules_trigger;
pub(super) mod agents_search;
pub(super) mod agents_sessions_close;
pub(super) mod agents_sessions_create;
pub(super) mod agents_sessions_delete;
pub(super) mod agents_sessions_fork;
pub(super) mod agents_sessions_get;
pub(super) mod agents_sessions_list;
pub(super) mod agents_sessions_resume;
pub(super) mod agents_sessions_rpc;
pub(super) mod agents_sessions_update;
pub(super) mod agents_skills_delete;
pub(super) mod agents_skills_list;
pub(super) mod agents_skills_set;
pub(super) mod agents_turns_cancel;
pub(super) mod agents_turns_get;
pub(super) mod agents_turns_list;
pub(super) mod agents_turns_start;
pub(super) mod agents_turns_steer;
pub(super) mod agents_turns_stream;
pub(super) mod agents_usage_get;
pub(super) mod agents_webhooks_delete;
pub(super) mod agents_webhooks_list;
pub(super) mod agents_webhooks_set;

use crate::egress::EgressError;
use crate::endpoint::Call;
use crate::error::{ApiError, ErrorCode};

/// Runs what looks at files or the process table where it holds up nobody.
///
/// # Errors
/// 500 where it panicked.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ApiError::internal("The call could not be finished"))
}

/// 404 for a process that is not known, or not any more.
fn no_process(id: &str) -> ApiError {
    ApiError::new(ErrorCode::ProcessNotFound, "There is no such agent process").with("process_id", id)
}

/// 500 for a credentials file that cannot be read or written.
fn unreadable() -> ApiError {
    ApiError::internal("The credentials cannot be read or written")
}

/// The answer to a URL that may not be opened, or is none.
fn refused_url(call: &Call, parameter: &str, error: &EgressError) -> ApiError {
    match error {
        EgressError::Refused(element) => {
            let policy = &call.permit().state().policy;
            ApiError::new(ErrorCode::UrlNotAllowed, format!("{parameter} is not an allowed URL"))
                .with("endpoint", call.declared().name)
                .with("parameter", parameter)
                .rule(policy.rule_name(element.rule))
        }
        error => ApiError::invalid(parameter, format!("{parameter}: {error}")),
    }
}
