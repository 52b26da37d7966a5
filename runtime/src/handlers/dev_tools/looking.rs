//! Finds the repository that a call names, and answers where git does not.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use policy_lang::decide::Op;

use super::super::launch;
use crate::endpoint::Call;
use crate::error::{ApiError, ErrorCode};
use crate::git::{GitError, Looking, Repository};
use crate::guard::{EndpointRules, NormalPath};
use crate::pipeline::admit::Permit;

/// What a search for a repository needs of a call; it outlives the call's own borrow.
#[derive(Debug)]
pub(super) struct Search {
    permit: Permit,
    looking: Looking,
    directory: OwnedFd,
}

impl Search {
    /// From the parameter `path`, which is the working directory of git.
    ///
    /// # Errors
    /// 400 for what looks like an option or climbs, 403 for what is not allowed.
    pub(super) fn of(call: &Call) -> Result<Self, ApiError> {
        let path = call.query().text("path")?.filter(|path| !path.is_empty());
        plain("path", path)?;
        let time = Duration::from_secs(launch::limit(call, |limits| limits.timeout_seconds, 30));
        let deadline = Instant::now() + time;
        let directory = launch::directory(call, "path", path)?.handle;
        let engine = Arc::clone(&call.app().processes);
        let looking = Looking { engine, owner: launch::owner(call), deadline };
        Ok(Self { permit: call.permit().clone(), looking, directory })
    }

    /// Finds the repository and judges where it lies.
    ///
    /// # Errors
    /// 400 where there is none, 403 where it lies outside.
    pub(super) async fn repository(self) -> Result<(Repository, Permit), ApiError> {
        let Self { permit, looking, directory } = self;
        let judged = permit.clone();
        let allowed = move |place: &[u8]| {
            let guard = &judged.state().guard;
            let rules = judged.rules().and_then(EndpointRules::of);
            rules.is_some_and(|rules| {
                NormalPath::new(guard.base_dir(), place)
                    .and_then(|path| guard.directory(&rules, &path, Op::Read))
                    .is_ok()
            })
        };
        match Repository::find(looking, directory, allowed).await {
            Ok(repository) => Ok((repository, permit)),
            Err(error) => Err(refused(&permit, &error)),
        }
    }
}

/// A value for git that is neither an option nor a way up.
///
/// # Errors
/// 400 `invalid_parameter`.
pub(super) fn plain(name: &str, value: Option<&str>) -> Result<(), ApiError> {
    match value {
        Some(text)
            if text.starts_with('-') || text.split('/').any(|part| part == "..") || text.contains('\0') =>
        {
            Err(ApiError::invalid(name, format!("{name} must be a plain path without `..`")))
        }
        _ => Ok(()),
    }
}

/// The answer where git gives none.
pub(super) fn refused(permit: &Permit, error: &GitError) -> ApiError {
    match error {
        GitError::Absent => {
            ApiError::new(ErrorCode::SpawnFailed, "git is not installed").kind("FileNotFoundError")
        }
        GitError::NotStarted => ApiError::new(ErrorCode::SpawnFailed, error.to_string()),
        GitError::TimedOut => ApiError::new(ErrorCode::Timeout, "git timed out"),
        // Its first line may name a path of the server's: only that it failed is told.
        GitError::Failed(message) if message.contains("not a git repository") => {
            ApiError::invalid("path", "not a git repository").kind("GitError")
        }
        GitError::Failed(_) => ApiError::invalid("path", "git failed on this repository").kind("GitError"),
        GitError::Outside(place) => {
            let policy = &permit.state().policy;
            let endpoint = policy.name(permit.endpoint()).unwrap_or_default();
            let rules = permit.rules().and_then(|rules| rules.paths.as_deref());
            let rule = rules.map_or("default:base", |rules| {
                policy.rule_name(rules.allowed_by(place).map_or(rules.allow_rule(), |element| element.rule))
            });
            ApiError::new(ErrorCode::PathNotAllowed, "The repository lies outside the allowed directories")
                .with("endpoint", endpoint)
                .with("parameter", "path")
                .rule(rule)
        }
    }
}
