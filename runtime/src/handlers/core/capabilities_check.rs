//! The policy's answer to a hypothetical call; pure computation.
//!
//! # Request
//! `endpoint`: its id. `path`: a path that the call would name; `paths`: several, as a list or as an object of
//! parameter names. `op`: `read`, `write`, `delete`, `list` or `run`; without it, what the endpoint does by its scopes.
//! Where no path is named none is judged: name `base_dir` to ask about an endpoint that takes it by itself.
//!
//! # Response
//! `{endpoint, allowed, status, code, rule}`, and `scope` or `parameter` where they say more. `status` and `code` are
//! those of the refusal; 200 and null where the call is allowed.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_request_bytes`. Rates and slots of the endpoint asked about are not counted.
//!
//! # Errors
//! 400 `missing_parameter` and `invalid_parameter`.
//!
//! # Policy
//! `scopes`, `audit`, `limits`. Whether a path exists is never looked at.
//!
//! ```sh
//! curl --json '{"endpoint": "download", "path": "/home/user/a"}' http://localhost:9000/capabilities/check
//! ```

use crate::app::index;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::ApiError;
use policy_lang::decide::{Decision, Op, PathQuery, Query, decide};
use policy_lang::endpoint::{EndpointDecl, EndpointId};
use policy_lang::paths::absolute;
use policy_lang::resolved::EndpointIx;
use serde_json::{Value, json};

/// Paths that one question may name.
const MAX_PATHS: usize = 1000;

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let name = body.required_text("endpoint")?;
    let (ix, decl) = find(&call, &name)
        .ok_or_else(|| ApiError::invalid("endpoint", format!("endpoint is not known: {name}")))?;
    let op = op(&mut body)?;
    let named = paths(&mut body)?;
    if !named.is_empty() {
        // Where path rules are many, sorting them takes so long that nobody who asks should have to do it.
        call.app().until_prepared().await?;
    }
    let policy = &call.permit().state().policy;
    let base = policy.base_dir().as_bytes();
    let normal = named.iter().map(|(role, path)| {
        let path = absolute(base, path.as_bytes());
        path.map(|path| (role.as_str(), path))
            .map_err(|error| ApiError::invalid(role, format!("{role}: {error}")))
    });
    let normal = normal.collect::<Result<Vec<_>, _>>()?;
    let paths: Vec<_> = normal
        .iter()
        .map(|(role, path)| PathQuery { role, path, op: op.unwrap_or_else(|| Op::usual(Some(decl), role)) })
        .collect();
    let scopes = decl.auth_required.then_some(&call.principal().scopes);
    let decision = decide(policy, &Query { scopes, paths: &paths, ..Query::of(ix) });
    let answer = match decision {
        Decision::Allow => {
            let rule = policy.endpoint(ix).map(|rules| policy.rule_name(rules.enabled.rule));
            json!({"endpoint": name, "allowed": true, "status": 200, "code": null, "rule": rule})
        }
        Decision::Deny(denial) => {
            let rule = policy.rule_name(denial.rule());
            let mut answer = json!({"endpoint": name, "allowed": false, "status": denial.status, "code": denial.code, "rule": rule});
            let more = [("scope", denial.scope.as_deref()), ("parameter", denial.parameter)];
            for (member, value) in more.into_iter().filter_map(|(member, value)| Some((member, value?))) {
                if let Value::Object(members) = &mut answer {
                    members.insert(member.to_owned(), json!(value));
                }
            }
            answer
        }
    };
    Ok(Reply::ok(&answer))
}

/// A declared endpoint, or a route of the template.
fn find(call: &Call, name: &str) -> Option<(EndpointIx, &'static EndpointDecl)> {
    let declared = EndpointId::from_name(name).map(index);
    let declared = declared.and_then(|ix| Some((ix, call.permit().state().policy.decl(ix)?)));
    declared.or_else(|| call.app().commands.routes.iter().find(|(_, decl)| decl.name == name))
}

fn op(body: &mut JsonBody) -> Result<Option<Op>, ApiError> {
    let Some(name) = body.text("op")? else { return Ok(None) };
    let unknown = || ApiError::invalid("op", "op must be read, write, delete, list or run");
    Op::from_name(&name).map(Some).ok_or_else(unknown)
}

/// Every path with the parameter that it stands for.
fn paths(body: &mut JsonBody) -> Result<Vec<(String, String)>, ApiError> {
    let mut named: Vec<_> = body.text("path")?.map(|path| ("path".to_owned(), path)).into_iter().collect();
    let wrong = || ApiError::invalid("paths", "paths must be a list of strings or an object of strings");
    match body.take("paths") {
        None => {}
        Some(Value::Array(list)) => {
            for path in list {
                named.push(("paths".to_owned(), path.as_str().ok_or_else(wrong)?.to_owned()));
            }
        }
        Some(Value::Object(members)) => {
            for (role, path) in members {
                let path = path.as_str().ok_or_else(wrong)?.to_owned();
                named.push((role, path));
            }
        }
        Some(_) => return Err(wrong()),
    }
    // As the endpoint judges them: what is moved before where it goes.
    named.sort_by_key(|(role, _)| role == "destination");
    if named.len() > MAX_PATHS {
        return Err(ApiError::invalid("paths", format!("paths may name at most {MAX_PATHS}")));
    }
    Ok(named)
}
