//! What a file handler works with: the permit of its call, the guard and rules behind it, and when to stop.

use super::fault;
use crate::endpoint::{Call, Note};
use crate::error::ApiError;
use crate::files::read::{self, Download};
use crate::files::{Access, FilesError, Stop};
use crate::guard::{EndpointRules, Guard, NormalPath};
use crate::pipeline::admit::Permit;
use policy_lang::policy::{Limits, Ruled};
use std::time::{Duration, Instant};

/// The scene of one call. It can move to a blocking thread.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    permit: Permit,
    stop: Stop,
}

impl Scene {
    /// Of a call that may take as long as it needs.
    pub(super) fn of(call: &Call) -> Self {
        Self { permit: call.permit().clone(), stop: Stop::default() }
    }

    /// Of a call that ends after the seconds of a limit, or of `otherwise` where the rules say nothing.
    pub(super) fn timed(call: &Call, limit: impl Fn(&Limits) -> Option<Ruled<u64>>, otherwise: u64) -> Self {
        let permit = call.permit().clone();
        let seconds =
            permit.rules().and_then(|rules| limit(&rules.limits)).map_or(otherwise, |limit| limit.value);
        // A limit beyond what a clock can say is none.
        let deadline = Instant::now().checked_add(Duration::from_secs(seconds));
        Self { permit, stop: Stop::at(deadline) }
    }

    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    pub(super) fn guard(&self) -> &Guard {
        &self.permit.state().guard
    }

    /// A limit of the endpoint.
    pub(super) fn limit(&self, limit: impl Fn(&Limits) -> Option<Ruled<u64>>) -> Option<u64> {
        self.permit.rules().and_then(|rules| limit(&rules.limits)).map(|limit| limit.value)
    }

    /// The most entries to answer: what was asked for, within what the rules allow.
    pub(super) fn entries(&self, asked: Option<u64>, default: u64) -> usize {
        let most = self.limit(|limits| limits.max_entries).unwrap_or(u64::MAX);
        usize::try_from(asked.unwrap_or(default).min(most)).unwrap_or(usize::MAX)
    }

    /// Whether the rules let a write replace a file.
    pub(super) fn may_overwrite(&self) -> bool {
        self.permit.rules().and_then(|rules| rules.params.overwrite).is_none_or(|overwrite| overwrite.value)
    }

    /// A path as it was asked for in the parameter `name`.
    pub(super) fn path(&self, name: &str, asked: &[u8]) -> Result<NormalPath, ApiError> {
        NormalPath::new(self.guard().base_dir(), asked)
            .map_err(|error| self.fault(name, &FilesError::Guard(error)))
    }

    /// Runs a service with access to files.
    pub(super) fn run<T, E: Into<FilesError>>(
        &self,
        name: &str,
        service: impl FnOnce(Access<'_>) -> Result<T, E>,
    ) -> Result<T, ApiError> {
        self.access(service)?.map_err(|error| self.fault(name, &error.into()))
    }

    /// Opens the file at the parameter `path` for a download. That it has other names is noted: they may lie anywhere.
    pub(super) fn open(&self, path: &NormalPath, note: &Note) -> Result<Download, ApiError> {
        let limit = self.limit(|limits| limits.max_bytes);
        let file = self.run("path", |access| read::open(access, path, limit))?;
        if file.links > 1 {
            note.fact("links", file.links);
        }
        Ok(file)
    }

    /// Lends out access to files, for services with errors of their own.
    pub(super) fn access<T>(&self, service: impl FnOnce(Access<'_>) -> T) -> Result<T, ApiError> {
        let rules = self.permit.rules().and_then(EndpointRules::of);
        let rules = rules.ok_or_else(|| ApiError::internal("The endpoint takes no paths"))?;
        Ok(service(Access { guard: self.guard(), judge: &rules, stop: &self.stop }))
    }

    /// The answer to a service that failed on the parameter `name`.
    pub(super) fn fault(&self, name: &str, error: &FilesError) -> ApiError {
        fault::answer(&self.permit, name, error)
    }

    /// Moves to a thread that may block. Where the client leaves, the work is told to stop.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let _cancel = self.stop.on_drop();
        let scene = self.clone();
        match tokio::task::spawn_blocking(move || work(&scene)).await {
            Ok(done) => done,
            Err(_) => Err(ApiError::internal("The file service failed")),
        }
    }
}
