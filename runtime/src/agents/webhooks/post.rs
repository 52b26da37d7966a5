//! The task that delivers: fills the outbox from the log, and empties it towards the webhooks.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use policy_lang::endpoint::EndpointId;
use tokio::task::JoinSet;

use super::outbox::{self, Due};
use super::rows::Delivery;
use super::signed;
use crate::agents::store::{Store, StoreError, now};
use crate::app::App;
use crate::egress::Judge;
use crate::log;

/// Deliveries under way at once,
const MOST: usize = 16;
/// and of them to one webhook, so that one that never answers holds up no other.
const MOST_OF_ONE: usize = 4;

/// How often the log is looked through where nothing tells of events.
const PACE: Duration = Duration::from_millis(500);

/// Delivers until the server stops.
pub async fn run(app: Arc<App>, store: Store) {
    let mut under_way = UnderWay::default();
    let stopping = app.stopping.clone();
    loop {
        if let Err(error) = round(&app, &store, &mut under_way).await {
            log::say(format_args!("webhooks: {error}"));
        }
        tokio::select! {
            () = stopping.cancelled() => return,
            () = app.agents.automation.webhooks_changed() => {}
            Some(_) = under_way.tasks.join_next_with_id(), if !under_way.tasks.is_empty() => {}
            () = tokio::time::sleep(PACE) => {}
        }
        under_way.reap();
    }
}

/// What is being delivered.
#[derive(Debug, Default)]
struct UnderWay {
    tasks: JoinSet<()>,
    /// Webhook and session of each; shared with the tasks, which take theirs out.
    lanes: Arc<std::sync::Mutex<HashSet<(i64, String)>>>,
}

impl UnderWay {
    fn reap(&mut self) {
        while self.tasks.try_join_next().is_some() {}
    }

    fn lanes(&self) -> std::sync::MutexGuard<'_, HashSet<(i64, String)>> {
        self.lanes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether there is room for a delivery on its lane; takes the lane.
    fn takes(&self, due: &Due) -> bool {
        let mut lanes = self.lanes();
        let of_one = lanes.iter().filter(|(webhook, _)| *webhook == due.webhook).count();
        lanes.len() < MOST && of_one < MOST_OF_ONE && lanes.insert((due.webhook, due.session_id.clone()))
    }
}

async fn round(app: &Arc<App>, store: &Store, under_way: &mut UnderWay) -> Result<(), StoreError> {
    if store.read(outbox::is_behind).await? {
        while store.write(|db| outbox::fill(db, now())).await? {}
    }
    let most = i64::try_from(MOST * 4).unwrap_or(i64::MAX);
    for due in store.read(move |db| outbox::due(db, now(), most)).await? {
        if !under_way.takes(&due) {
            continue;
        }
        let (app, store, lanes) = (Arc::clone(app), store.clone(), Arc::clone(&under_way.lanes));
        under_way.tasks.spawn(async move {
            let lane = (due.webhook, due.session_id.clone());
            deliver(&app, &store, due).await;
            lanes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&lane);
        });
    }
    Ok(())
}

async fn deliver(app: &Arc<App>, store: &Store, due: Due) {
    let judge = Judge::now(app, EndpointId::AgentsWebhooksSet);
    let at = now();
    let tried = signed::post(&judge, &due.url, due.secret.as_deref(), &due.delivery_id, &due.body, at).await;
    let delivery = Delivery {
        delivery_id: due.delivery_id.clone(),
        kind: due.kind.clone(),
        at,
        status: tried.answer.as_ref().ok().copied(),
        attempt: due.attempt + 1,
        ms: tried.ms,
        error: tried.answer.err().map(|error| error.name().to_owned()),
    };
    // What is not written down is delivered again: at least once.
    if let Err(error) = store.write(move |db| outbox::settle(db, &due, &delivery)).await {
        log::say(format_args!("webhooks: {error}"));
    }
}
