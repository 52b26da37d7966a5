//! The task that fires: claims the slots that have come, starts their turns, and sees what becomes of them.

use std::sync::Arc;
use std::time::Duration;

use super::runs::{self, Claim};
use super::{rows, start};
use crate::agents::store::{Store, StoreError, now};
use crate::app::App;
use crate::log;

/// How often runs that go on are looked at.
const PACE: Duration = Duration::from_secs(1);

/// The longest sleep: the machine's clock may be set.
const LONGEST: Duration = Duration::from_secs(20);

/// Fires until the server stops.
pub async fn run(app: Arc<App>, store: Store) {
    match store.write(runs::left_behind).await {
        Ok(claims) => fire(&app, &store, claims),
        Err(error) => log::say(format_args!("schedules: {error}")),
    }
    loop {
        let pause = match round(&app, &store).await {
            Ok(pause) => pause,
            Err(error) => {
                log::say(format_args!("schedules: {error}"));
                LONGEST
            }
        };
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = app.agents.automation.schedules_changed() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Looks once; how long until the next look.
async fn round(app: &Arc<App>, store: &Store) -> Result<Duration, StoreError> {
    let (earliest, open) = store.read(|db| Ok((rows::earliest(db)?, runs::are_open(db)?))).await?;
    if earliest.is_some_and(|at| at <= now()) {
        let claims = store.write(|db| runs::claim(db, seconds(now()))).await?;
        fire(app, store, claims);
        return Ok(Duration::ZERO);
    }
    let goes_on = open && store.write(runs::settle).await?;
    let until = earliest.map_or(LONGEST, |at| Duration::try_from_secs_f64(at - now()).unwrap_or_default());
    Ok(until.min(if goes_on { PACE } else { LONGEST }))
}

fn fire(app: &Arc<App>, store: &Store, claims: Vec<Claim>) {
    for claim in claims {
        let (app, store) = (Arc::clone(app), store.clone());
        tokio::spawn(async move {
            // The outcome is written down; nobody waits for it here.
            let _ = start::start(&app, &store, claim).await;
        });
    }
}

/// Whole seconds of a time.
pub(super) fn seconds(time: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a time")]
    let seconds = time.floor() as i64;
    seconds
}
