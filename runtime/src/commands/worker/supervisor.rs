//! Keeps one worker running: replaces it when it has ended or is given up, ever more slowly while it ends soon.

use super::manifest::Manifest;
use super::process::{Pending, Worker, WorkerError};
use super::target::Target;
use crate::log;
use crate::process::Engine;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The first wait after a worker that ended soon; each further one is twice as long,
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// up to this.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// One that has run this long did not end soon.
const SOON: Duration = Duration::from_secs(10);

/// How long a call waits for a worker that is being started.
const PATIENCE: Duration = Duration::from_secs(15);

/// The worker that runs now, and what every next one must declare.
#[derive(Debug)]
pub struct Workers {
    target: Target,
    manifest: Manifest,
    current: watch::Sender<Option<Arc<Worker>>>,
}

impl Workers {
    /// None runs yet.
    #[must_use]
    pub fn new(target: Target, manifest: Manifest) -> Self {
        Self { target, manifest, current: watch::Sender::new(None) }
    }

    /// Keeps one running until the server stops.
    pub async fn run(self: Arc<Self>, engine: Arc<Engine>, stopping: CancellationToken) {
        let mut wait = FIRST_WAIT;
        loop {
            let began = Instant::now();
            match Worker::start(&engine, &self.target, &self.manifest).await {
                Ok(worker) => {
                    self.current.send_replace(Some(Arc::clone(&worker)));
                    tokio::select! {
                        biased;
                        () = stopping.cancelled() => return,
                        () = worker.over() => {}
                    }
                    self.current.send_replace(None);
                    tokio::spawn(worker.finish());
                    log::say(format_args!("the commands worker is replaced"));
                }
                Err(_) if stopping.is_cancelled() => return,
                Err(why) => log::say(format_args!("no commands worker: {why}")),
            }
            if began.elapsed() > SOON {
                wait = FIRST_WAIT;
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stopping.cancelled() => return,
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Sends a call to the worker, waiting for one that is being started.
    ///
    /// # Errors
    /// None runs, or the call is too large.
    pub async fn call(&self, call: Value) -> Result<Pending, WorkerError> {
        let mut current = self.current.subscribe();
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            let open = |worker: &Option<Arc<Worker>>| worker.as_ref().is_some_and(|worker| worker.is_open());
            let waited = tokio::time::timeout_at(until, current.wait_for(open)).await;
            // The sender lives as long as `self`.
            let worker = waited.ok().and_then(Result::ok).and_then(|worker| worker.clone());
            let worker = worker.ok_or(WorkerError::NotRunning)?;
            if let Some(pending) = worker.call(&call)? {
                return Ok(pending);
            }
        }
    }
}
