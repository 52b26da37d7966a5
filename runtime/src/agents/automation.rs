//! The tasks that work without a call: schedules and webhooks. They begin when there is something for them to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use policy_lang::endpoint::Group;
use tokio::sync::Notify;

use super::{schedules, webhooks};
use crate::agents::store::StoreError;
use crate::app::App;
use crate::log;

/// Whether they run, and how they are told of changes.
#[derive(Debug, Default)]
pub struct Automation {
    running: AtomicBool,
    schedules: Notify,
    webhooks: Notify,
}

impl Automation {
    /// Begins the tasks, where they have not begun, and tells them to look again.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub async fn begin(&self, app: &Arc<App>) -> Result<(), StoreError> {
        let store = app.agents.store().await?.clone();
        if !self.running.swap(true, Ordering::AcqRel) {
            tokio::spawn(webhooks::post::run(Arc::clone(app), store.clone()));
            tokio::spawn(schedules::keep::run(Arc::clone(app), store));
        }
        self.schedules.notify_one();
        self.webhooks.notify_one();
        Ok(())
    }

    /// Tells who fires that schedules or their runs have changed.
    pub fn schedules_have_changed(&self) {
        self.schedules.notify_one();
    }

    /// Waits until schedules have changed.
    pub async fn schedules_changed(&self) {
        self.schedules.notified().await;
    }

    /// Waits until webhooks have changed.
    pub async fn webhooks_changed(&self) {
        self.webhooks.notified().await;
    }
}

/// Goes on with what an earlier server has left, if it has left anything: at once where the policy lets anybody call the
/// group, otherwise when a reload does. A server without agents pays nothing for what lies in its state folder.
pub async fn resume(app: Arc<App>) {
    let mut reloads = app.reloads();
    while !app.policy().opens(Group::Agents) {
        tokio::select! {
            () = app.stopping.cancelled() => return,
            reloaded = reloads.changed() => if reloaded.is_err() { return },
        }
    }
    if app.agents.exists()
        && let Err(error) = app.agents.automation.begin(&app).await
    {
        log::say(format_args!("schedules and webhooks do not run: {error}"));
    }
}
