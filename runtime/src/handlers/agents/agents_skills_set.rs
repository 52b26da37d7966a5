//! Store a skill (SKILL.md and files) and choose its agents.
//!
//! # Request
//! In the body: `name`; `description`; `files`, an object of texts by path, or `from_dir`, a directory that holds them;
//! `targets`, agents (all); `cwds`, directories whose sessions get it (all). A missing `SKILL.md`, or one without front matter, is
//! given one.
//!
//! # Response
//! `{"skill": {…}}`, as the list has it.
//!
//! # Limits
//! `limits.max_request_bytes` (1 MB); 200 files, 4 MiB.
//!
//! # Errors
//! 400 `invalid_skill`, 403 `path_not_allowed`, 413 `too_large`.
//!
//! # Policy
//! `paths` bounds `from_dir` and `cwds`. `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/skills \
//!   --json '{"name": "code-review", "description": "How we review", "files": {"SKILL.md": "# Steps"}, "targets": ["claude"]}'
//! ```

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use policy_lang::decide::Op;
use serde_json::json;

use super::agents_skills_list::view;
use super::workspaces::not_allowed;
use crate::agents::skills::rows;
use crate::agents::skills::skill::{MOST_BYTES, MOST_FILES, Skill, SkillError};
use crate::agents::store::now;
use crate::endpoint::{Answer, Call, Reply};
use crate::error::{ApiError, ErrorCode};
use crate::files::list::{ListOptions, list};
use crate::files::{Access, FilesError, Stop};
use crate::guard::{EndpointRules, GuardError, Kind, NormalPath};
use crate::pipeline::admit::Permit;

/// How long a directory is read.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn call(mut call: Call) -> Answer {
    let mut body = call.json();
    let name = body.required_text("name")?;
    let description = body.required_text("description")?;
    let files = body.text_map("files")?;
    let from_dir = body.text("from_dir")?;
    let targets = body.texts("targets")?.unwrap_or_default();
    let cwds = body.texts("cwds")?.unwrap_or_default();
    let (app, permit) = (Arc::clone(call.app()), call.permit().clone());
    drop(call);
    let cwds = cwds.iter().map(|cwd| directory(&permit, cwd)).collect::<Result<Vec<_>, _>>()?;
    let files = match (files, from_dir) {
        (Some(files), None) => files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect(),
        (None, Some(dir)) => {
            let read = tokio::task::spawn_blocking(move || read_dir(&permit, &dir));
            read.await.map_err(|_| ApiError::internal("from_dir cannot be read"))??
        }
        _ => return Err(ApiError::new(ErrorCode::InvalidSkill, "give either files or from_dir")),
    };
    let skill = Skill { name, description, files, targets, cwds }.checked().map_err(|error| match error {
        SkillError::TooLarge => too_large(),
        error => ApiError::new(ErrorCode::InvalidSkill, error.to_string()),
    })?;
    let store = app.agents.store().await?;
    let stored = store.write(move |db| {
        rows::put(db, &skill, now())?;
        Ok(view(&skill, &rows::installed_in(db, &skill.name)?))
    });
    Ok(Reply::ok(&json!({"skill": stored.await?})))
}

fn too_large() -> ApiError {
    ApiError::new(ErrorCode::TooLarge, SkillError::TooLarge.to_string()).with("limit", MOST_BYTES)
}

/// A directory that the caller names, in normal form.
fn directory(permit: &Permit, asked: &str) -> Result<String, ApiError> {
    let guard = &permit.state().guard;
    let rules = permit.rules().and_then(EndpointRules::of);
    let path = NormalPath::new(guard.base_dir(), asked.as_bytes())
        .map_err(|error| ApiError::invalid("cwds", error.to_string()))?;
    let allowed = rules.is_some_and(|rules| guard.judge(&rules, path.as_bytes(), Op::Read).is_ok());
    if !allowed {
        return Err(not_allowed(permit, "cwds"));
    }
    Ok(String::from_utf8_lossy(path.as_bytes()).into_owned())
}

/// Every regular file below a directory that the rules let the caller read.
fn read_dir(permit: &Permit, asked: &str) -> Result<BTreeMap<String, Vec<u8>>, ApiError> {
    let guard = &permit.state().guard;
    let rules = permit.rules().and_then(EndpointRules::of);
    let rules = rules.ok_or_else(|| ApiError::internal("The endpoint takes no paths"))?;
    let stop = Stop::at(Instant::now().checked_add(PATIENCE));
    let access = Access { guard, judge: &rules, stop: &stop };
    let top = NormalPath::new(guard.base_dir(), asked.as_bytes())
        .map_err(|error| ApiError::invalid("from_dir", error.to_string()))?;
    let options = ListOptions { max_depth: 32, limit: MOST_FILES * 4 };
    let listing = list(access, &top, options).map_err(|error| match error {
        FilesError::Guard(GuardError::NotFound | GuardError::NotADirectory) => {
            ApiError::invalid("from_dir", "from_dir is not a directory")
        }
        FilesError::Guard(GuardError::Refused(_)) => not_allowed(permit, "from_dir"),
        _ => ApiError::invalid("from_dir", "from_dir cannot be read"),
    })?;
    let (mut files, mut bytes) = (BTreeMap::new(), 0);
    for entry in listing.entries.iter().filter(|entry| entry.metadata.kind == Kind::File && !entry.link) {
        let name = String::from_utf8(entry.relative.clone())
            .map_err(|_| ApiError::new(ErrorCode::InvalidSkill, "from_dir holds a name that is no text"))?;
        let unreadable = || ApiError::invalid("from_dir", format!("`{name}` cannot be read"));
        let path = NormalPath::new(&listing.path, &entry.relative).map_err(|_| unreadable())?;
        let opened = guard.file(&rules, &path, Op::Read).map_err(|_| unreadable())?;
        let mut content = Vec::new();
        let limit = MOST_BYTES as u64 + 1;
        std::fs::File::from(opened.fd).take(limit).read_to_end(&mut content).map_err(|_| unreadable())?;
        bytes += content.len();
        files.insert(name, content);
        if bytes > MOST_BYTES || files.len() > MOST_FILES {
            return Err(too_large());
        }
    }
    if listing.truncated { Err(too_large()) } else { Ok(files) }
}
