//! What the endpoints about the workspace of a session have in common: the session, and which paths a caller may name
//! and see.

use std::time::Duration;

use policy_lang::decide::Op;

use super::super::launch;
use crate::agents::store::sessions::{self, SessionRow};
use crate::agents::workspace::changes::{Question, from_top};
use crate::app::App;
use crate::endpoint::Call;
use crate::error::{ApiError, ErrorCode};
use crate::guard::{EndpointRules, NormalPath};
use crate::pipeline::admit::Permit;
use std::sync::Arc;

/// The session of this id.
///
/// # Errors
/// 404 `session_not_found`.
pub(super) async fn session(app: &Arc<App>, session_id: String) -> Result<SessionRow, ApiError> {
    let store = app.agents.store().await?;
    let found = store.read(move |db| sessions::find(db, &session_id)).await?;
    found.ok_or_else(|| ApiError::new(ErrorCode::SessionNotFound, "There is no such session"))
}

/// Which paths of a workspace the caller may see.
pub(super) struct Sight {
    permit: Permit,
    cwd: String,
}

impl Sight {
    pub(super) fn new(permit: &Permit, session: &SessionRow) -> Self {
        Self { permit: permit.clone(), cwd: session.cwd.clone() }
    }

    /// Whether the rules let the caller read a path, given from the top.
    pub(super) fn sees(&self, path: &[u8]) -> bool {
        let Some(rules) = self.permit.rules().and_then(EndpointRules::of) else { return false };
        NormalPath::new(self.cwd.as_bytes(), path)
            .is_ok_and(|path| self.permit.state().guard.judge(&rules, path.as_bytes(), Op::Read).is_ok())
    }

    /// A path that the caller names, absolute or from the top.
    ///
    /// # Errors
    /// 403 `path_not_allowed` where it lies outside of the workspace, or is not for the caller to see.
    pub(super) fn named(&self, parameter: &str, asked: &str) -> Result<Vec<u8>, ApiError> {
        let path = from_top(&self.cwd, asked).filter(|path| path.is_empty() || self.sees(path));
        path.ok_or_else(|| not_allowed(&self.permit, parameter))
    }

    /// The same of a list.
    ///
    /// # Errors
    /// As [`Self::named`].
    pub(super) fn all_named(
        &self,
        parameter: &str,
        asked: Option<Vec<String>>,
    ) -> Result<Vec<Vec<u8>>, ApiError> {
        asked.unwrap_or_default().iter().map(|path| self.named(parameter, path)).collect()
    }
}

/// What `from`, `to` and `path` ask; the path is yet to be judged.
pub(super) struct Asked {
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) path: Option<String>,
}

impl Asked {
    /// # Errors
    /// 400 where one is no text.
    pub(super) fn of(call: &Call) -> Result<Self, ApiError> {
        let text = |name| {
            let text = call.query().text(name)?.filter(|text| !text.is_empty());
            Ok::<_, ApiError>(text.map(str::to_owned))
        };
        Ok(Self { from: text("from")?, to: text("to")?, path: text("path")? })
    }

    /// # Errors
    /// 403 for the path.
    pub(super) fn question(self, sight: &Sight) -> Result<Question, ApiError> {
        let scope = self.path.map(|path| sight.named("path", &path)).transpose()?.unwrap_or_default();
        Ok(Question { from: self.from, to: self.to, scope })
    }
}

/// 403 for a path that the rules do not let the caller use.
pub(super) fn not_allowed(permit: &Permit, parameter: &str) -> ApiError {
    let policy = &permit.state().policy;
    ApiError::new(ErrorCode::PathNotAllowed, format!("{parameter} is not an allowed path"))
        .with("endpoint", policy.name(permit.endpoint()).unwrap_or_default())
        .with("parameter", parameter)
}

/// 404 for a restore point or turn that is not there.
pub(super) fn no_checkpoint() -> ApiError {
    ApiError::new(ErrorCode::CheckpointNotFound, "There is no such checkpoint")
}

/// How long the call may take.
pub(super) fn time(call: &Call) -> Duration {
    Duration::from_secs(launch::limit(call, |limits| limits.timeout_seconds, 120))
}

/// A path as it is shown.
pub(super) fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
