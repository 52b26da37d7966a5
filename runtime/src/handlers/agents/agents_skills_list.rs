//! List stored skills and instruction files.
//!
//! # Request
//! In the query: `cwd`, a directory whose own skills are listed as well.
//!
//! # Response
//! `{"skills": [{"name", "description", "files", "bytes", "targets", "installed_in", "source"}]}`. `source` is `stored` or `workspace`:
//! a skill that lies in the directory already, where the agents in `targets` will find it.
//!
//! # Limits
//! `limits.max_entries` (200).
//!
//! # Errors
//! 403 `path_not_allowed`, 400 `invalid_parameter`.
//!
//! # Policy
//! `paths`, `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" 'http://localhost:9000/agents/skills?cwd=project'
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use policy_lang::decide::Op;
use serde_json::{Value, json};

use super::super::launch;
use super::workspaces::not_allowed;
use crate::agents::skills::skill::Skill;
use crate::agents::skills::{found, rows};
use crate::endpoint::{Answer, Call, Reply};
use crate::error::ApiError;
use crate::files::{Access, Stop};
use crate::guard::{EndpointRules, NormalPath};
use crate::pipeline::admit::Permit;

/// How long a workspace is looked through.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn call(call: Call) -> Answer {
    let most = usize::try_from(launch::limit(&call, |limits| limits.max_entries, 200)).unwrap_or(usize::MAX);
    let cwd = call.query().text("cwd")?.filter(|cwd| !cwd.is_empty()).map(str::to_owned);
    let (app, permit) = (Arc::clone(call.app()), call.permit().clone());
    drop(call);
    let lying = match cwd {
        None => Vec::new(),
        Some(cwd) => {
            let looked = tokio::task::spawn_blocking(move || in_workspace(&permit, &cwd));
            looked.await.map_err(|_| ApiError::internal("The workspace cannot be read"))??
        }
    };
    let store = app.agents.store().await?;
    let stored = store.read(|db| {
        let skills = rows::list(db)?;
        skills
            .iter()
            .map(|skill| Ok(view(skill, &rows::installed_in(db, &skill.name)?)))
            .collect::<Result<_, _>>()
    });
    let mut skills: Vec<Value> = stored.await?;
    skills.extend(lying);
    skills.truncate(most);
    Ok(Reply::ok(&json!({"skills": skills})))
}

/// A stored skill as callers see it.
pub(super) fn view(skill: &Skill, installed_in: &[String]) -> Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "files": skill.files.keys().collect::<Vec<_>>(),
        "bytes": skill.bytes(),
        "targets": skill.targets,
        "cwds": skill.cwds,
        "installed_in": installed_in,
        "source": "stored",
    })
}

fn in_workspace(permit: &Permit, cwd: &str) -> Result<Vec<Value>, ApiError> {
    let guard = &permit.state().guard;
    let rules = permit.rules().and_then(EndpointRules::of);
    let rules = rules.ok_or_else(|| ApiError::internal("The endpoint takes no paths"))?;
    let path = NormalPath::new(guard.base_dir(), cwd.as_bytes())
        .map_err(|error| ApiError::invalid("cwd", error.to_string()))?;
    guard.judge(&rules, path.as_bytes(), Op::Read).map_err(|_| not_allowed(permit, "cwd"))?;
    let stop = Stop::at(Instant::now().checked_add(PATIENCE));
    let access = Access { guard, judge: &rules, stop: &stop };
    found::in_workspace(access, &path).map_err(|_| ApiError::internal("The workspace cannot be read"))
}
