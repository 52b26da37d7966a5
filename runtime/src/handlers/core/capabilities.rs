//! Every endpoint with its state, rule, scopes and limits, for this caller.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `api_version`, `server_version`, `identity {id, scopes}`, `policy {preset, revision}`, `groups {name: open}`,
//! `group_summary {name: {enabled, total}}`, `endpoints {id: {method, path, group, summary, streaming, enabled, allowed,
//! reason, rule, scopes, limits, paths, params}}` and `warnings`. A group is open when any of its endpoints is enabled;
//! `allowed` is false with a `reason`, the code that a call would get, where the caller lacks a scope or the endpoint is
//! closed. At `…/boxes/{name}`: `{name, id, status, dataplane_url}`.
//!
//! # Limits
//! `limits.rate_per_minute`.
//!
//! # Errors
//! 401 `unauthorized`, 404 `not_found` (a sandbox of another name), 429 `rate_limited`.
//!
//! # Policy
//! `scopes`, `audit`, `limits`. The endpoint cannot be closed.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" http://localhost:9000/capabilities
//! ```

use super::view::Families;
use crate::app::{PolicyState, index};
use crate::auth::Principal;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use axum::http::header::HOST;
use policy_lang::decide::{Decision, Query, decide};
use policy_lang::endpoint::{ENDPOINTS, EndpointDecl, GROUPS, Method};
use policy_lang::resolved::EndpointIx;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The version of this document and of the error codes.
const API_VERSION: u32 = 2;

#[derive(Serialize)]
struct Response<'a> {
    api_version: u32,
    server_version: &'static str,
    identity: Value,
    policy: Value,
    groups: BTreeMap<&'static str, bool>,
    group_summary: BTreeMap<&'static str, Summary>,
    endpoints: Map<String, Value>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Summary {
    enabled: usize,
    total: usize,
}

pub(crate) async fn call(call: Call) -> Answer {
    if call.door().path.ends_with("/boxes/{name}") {
        return sandbox(&call);
    }
    let state = call.permit().state();
    let principal = call.principal();
    let declared =
        || ENDPOINTS.iter().map(|decl| (index(decl.id), decl)).chain(call.app().commands.routes.iter());
    let endpoints = declared()
        .filter_map(|(ix, decl)| Some((decl.name.to_owned(), endpoint(state, principal, ix, decl)?)));
    let mut group_summary: BTreeMap<_, _> =
        GROUPS.iter().map(|group| (group.name, Summary { enabled: 0, total: 0 })).collect();
    for (ix, decl) in declared() {
        if let Some(summary) = group_summary.get_mut(decl.group.as_str()) {
            summary.total += 1;
            let open = state.policy.endpoint(ix).is_some_and(|rules| rules.enabled.value);
            summary.enabled += usize::from(open);
        }
    }
    Ok(Reply::ok(&Response {
        api_version: API_VERSION,
        server_version: env!("CARGO_PKG_VERSION"),
        identity: json!({"id": principal.id, "scopes": principal.scopes.names()}),
        policy: json!({"preset": state.policy.preset(), "revision": state.policy.revision()}),
        groups: group_summary.iter().map(|(name, summary)| (*name, summary.enabled > 0)).collect(),
        group_summary,
        endpoints: endpoints.collect(),
        warnings: &state.warnings,
    }))
}

fn endpoint(
    state: &PolicyState,
    principal: &Principal,
    ix: EndpointIx,
    decl: &EndpointDecl,
) -> Option<Value> {
    let policy = &state.policy;
    let rules = policy.endpoint(ix)?;
    let door = decl.doors.first()?;
    let scopes = decl.auth_required.then_some(&principal.scopes);
    let (reason, rule) = match decide(policy, &Query { scopes, ..Query::of(ix) }) {
        Decision::Allow => (None, rules.enabled.rule),
        Decision::Deny(denial) => (Some(denial.code), denial.rule()),
    };
    let Families { limits, paths, params } = Families::of(policy, ix, decl);
    Some(json!({
        "method": method(door.method),
        "path": door.path,
        "group": decl.group.as_str(),
        "summary": decl.summary,
        "streaming": decl.streaming,
        "enabled": rules.enabled.value,
        "allowed": reason.is_none(),
        "reason": reason,
        "rule": policy.rule_name(rule),
        "scopes": rules.scopes.value.names(),
        "limits": limits,
        "paths": paths,
        "params": params,
    }))
}

const fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Delete => "DELETE",
    }
}

/// How a client of the data plane finds this server: at the host that it asked.
fn sandbox(call: &Call) -> Answer {
    let name = call.param("name")?;
    if call.app().settings.sandbox_id.as_deref().is_some_and(|ours| ours != name) {
        return Err(ApiError::not_found("NotFoundError", format!("No such sandbox: {name}")));
    }
    let host = call.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let prefix = call.door().path.trim_end_matches("/boxes/{name}");
    let dataplane_url = format!("http://{host}{prefix}/{name}");
    Ok(Reply::ok(&json!({"name": name, "id": name, "status": "ready", "dataplane_url": dataplane_url})))
}
