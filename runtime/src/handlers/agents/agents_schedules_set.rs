//! Create, change, pause or resume a schedule.
//!
//! # Request
//! In the body: `schedule_id`, to change one; `name`; one of `cron` (five fields, or six with seconds first), `every_seconds`
//! and `at` (epoch seconds); `timezone` (UTC), in which a cron line is read; `enabled` (true); `prompt`; either `session_id`, or
//! `agent_id` and `cwd` with the further fields of a new session; `overlap`: `skip` or `queue` (`skip`); `missed`: `skip` or
//! `run_once` (`skip`); `max_failures` (5), after so many in a row it is disabled. What is absent stays as it is in a change.
//!
//! # Response
//! `{"schedule": {…}, "next_times": [5 times]}`.
//!
//! # Limits
//! 100 schedules.
//!
//! # Errors
//! 400 `invalid_schedule`, 403 `path_not_allowed`, 404 `session_not_found`, 404 `schedule_not_found`, 429 `schedule_limit`.
//!
//! # Policy
//! `paths` bounds `cwd` and `additional_directories`; asked again whenever it fires, by the rules of running a schedule.
//! `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/agents/schedules \
//!   --json '{"name": "nightly", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "agent_id": "opencode", "cwd": "project",
//!        "prompt": "update the dependencies"}'
//! ```

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::agents_schedules_list::view;
use crate::agents::ids;
use crate::agents::process::Judge;
use crate::agents::schedules::rows::{self, Schedule};
use crate::agents::schedules::start::blocks;
use crate::agents::schedules::trigger::Trigger;
use crate::agents::schedules::zone::zone;
use crate::agents::sessions::fields::Fields;
use crate::agents::sessions::open;
use crate::agents::store::now;
use crate::agents::store::sessions;
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};

/// Most schedules.
const MOST: i64 = 100;

/// Slots that are shown.
const SHOWN: usize = 5;

/// Fields of a schedule itself; the others are those of a new session.
const OWN: [&str; 13] = [
    "schedule_id",
    "name",
    "cron",
    "every_seconds",
    "at",
    "timezone",
    "enabled",
    "session_id",
    "prompt",
    "overlap",
    "missed",
    "max_failures",
    "idempotency_key",
];

pub(crate) async fn call(mut call: Call) -> Answer {
    let body = call.json().into_members();
    let (app, judge) = (Arc::clone(call.app()), Judge::of(call.permit()));
    let owner = call.principal().id.to_string();
    drop(call);
    let store = app.agents.store().await?;
    let earlier = match body.get("schedule_id").filter(|id| !id.is_null()) {
        None => None,
        Some(id) => {
            let id = id.as_str().unwrap_or_default().to_owned();
            let found = store.read(move |db| rows::find(db, &id)).await?;
            let missing = || ApiError::new(ErrorCode::ScheduleNotFound, "There is no such schedule");
            Some(found.ok_or_else(missing)?)
        }
    };
    let schedule = read(body, earlier, owner)?;
    match &schedule.session_id {
        Some(session_id) => {
            let name = session_id.clone();
            let found = store.read(move |db| sessions::number(db, &name)).await?;
            found.ok_or_else(|| ApiError::new(ErrorCode::SessionNotFound, "There is no such session"))?;
        }
        None => {
            let fields = Fields::read(&mut JsonBody::new(schedule.session_fields.clone()))?;
            open::directory(&judge, "cwd", &fields.cwd)?;
            for directory in &fields.additional_directories {
                open::directory(&judge, "additional_directories", directory)?;
            }
        }
    }
    let next_times = schedule.trigger.upcoming(seconds(), schedule.anchor, &schedule.zone, SHOWN);
    let stored = store.write(move |db| {
        if rows::find(db, &schedule.schedule_id)?.is_none() && rows::count(db)? >= MOST {
            return Ok(None);
        }
        let no = rows::put(db, &schedule)?;
        view(db, &Schedule { no, ..schedule }).map(Some)
    });
    let Some(shown) = stored.await? else {
        let error = ApiError::new(ErrorCode::ScheduleLimit, format!("There are {MOST} schedules already"));
        return Err(error.with("limit", MOST));
    };
    app.agents.automation.begin(&app).await?;
    Ok(Reply::ok(&json!({"schedule": shown, "next_times": next_times})))
}

/// What the body says, on top of what there was.
fn read(
    mut members: Map<String, Value>,
    earlier: Option<Schedule>,
    owner: String,
) -> Result<Schedule, ApiError> {
    let session_fields: Map<String, Value> = members
        .iter()
        .filter(|(name, _)| !OWN.contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let given = |name: &str| members.get(name).filter(|value| !value.is_null());
    let times = ["cron", "every_seconds", "at"].map(given);
    let new_trigger = times.iter().any(Option::is_some);
    let trigger = match (&earlier, new_trigger) {
        (Some(earlier), false) => earlier.trigger.clone(),
        _ => {
            let [cron, every, at] = times;
            Trigger::read(cron, every, at).map_err(|error| wrong(error.to_string()))?
        }
    };
    let prompt = match (given("prompt"), &earlier) {
        (Some(prompt), _) => prompt.clone(),
        (None, Some(earlier)) => earlier.prompt.clone(),
        (None, None) => return Err(ApiError::missing("prompt")),
    };
    blocks(&prompt).map_err(|error| wrong(error.message().to_owned()).with("parameter", "prompt"))?;
    let mut body = JsonBody::new(std::mem::take(&mut members));
    let name = body.text("name")?.or_else(|| earlier.as_ref().map(|earlier| earlier.name.clone()));
    let name = name.filter(|name| !name.is_empty()).ok_or_else(|| ApiError::missing("name"))?;
    if name.chars().count() > 200 {
        return Err(wrong("name must be at most 200 characters".to_owned()).with("parameter", "name"));
    }
    let zone = match body.text("timezone")? {
        Some(name) => zone(&name)
            .ok_or_else(|| wrong(format!("`{name}` is no time zone")).with("parameter", "timezone"))?,
        None => earlier.as_ref().map_or(TimeZone::UTC, |earlier| earlier.zone.clone()),
    };
    let choice = |body: &mut JsonBody, name: &str, words: [&str; 2], was: Option<bool>| match body
        .text(name)?
    {
        None => Ok(was.unwrap_or(false)),
        Some(word) if word == words[0] => Ok(false),
        Some(word) if word == words[1] => Ok(true),
        Some(_) => Err(wrong(format!("{name} must be {} or {}", words[0], words[1])).with("parameter", name)),
    };
    let queues =
        choice(&mut body, "overlap", ["skip", "queue"], earlier.as_ref().map(|earlier| earlier.queues))?;
    let makes_up =
        choice(&mut body, "missed", ["skip", "run_once"], earlier.as_ref().map(|earlier| earlier.makes_up))?;
    let max_failures = body.integer("max_failures")?;
    let max_failures = max_failures.or(earlier.as_ref().map(|earlier| earlier.max_failures)).unwrap_or(5);
    if !(1..=1000).contains(&max_failures) {
        return Err(
            wrong("max_failures must be between 1 and 1000".to_owned()).with("parameter", "max_failures")
        );
    }
    let was_enabled = earlier.as_ref().is_none_or(|earlier| earlier.enabled);
    let enabled = body.flag("enabled", was_enabled)?;
    let session_id = body.text("session_id")?;
    let (session_id, session_fields) = match (session_id, session_fields.is_empty(), &earlier) {
        (None, true, Some(earlier)) => (earlier.session_id.clone(), earlier.session_fields.clone()),
        (Some(session_id), true, _) => (Some(session_id), Map::new()),
        (None, false, _) => (None, session_fields),
        _ => return Err(wrong("give either session_id, or agent_id and cwd".to_owned())),
    };
    let at = now();
    // What was paused, and what got another time, begins anew; what only changed its prompt keeps its next slot.
    let begins = new_trigger || !was_enabled || earlier.as_ref().is_none_or(|earlier| earlier.zone != zone);
    let anchor = earlier.as_ref().filter(|_| !new_trigger).map_or_else(seconds, |earlier| earlier.anchor);
    let next_at = match &earlier {
        Some(earlier) if !begins => earlier.next_at,
        _ => trigger.next(seconds(), anchor, &zone),
    };
    if next_at.is_none() && enabled && begins {
        return Err(wrong("the schedule never fires".to_owned()));
    }
    Ok(Schedule {
        no: 0,
        schedule_id: earlier
            .as_ref()
            .map_or_else(|| ids::new(ids::SCHEDULE), |earlier| earlier.schedule_id.clone()),
        name,
        trigger,
        zone,
        enabled,
        owner: earlier.as_ref().map_or(owner, |earlier| earlier.owner.clone()),
        session_id,
        session_fields,
        prompt,
        queues,
        makes_up,
        max_failures,
        // Whoever enables it again gives it all its chances.
        failures: earlier.as_ref().filter(|_| was_enabled).map_or(0, |earlier| earlier.failures),
        anchor,
        next_at,
        created_at: earlier.as_ref().map_or(at, |earlier| earlier.created_at),
        updated_at: at,
    })
}

fn wrong(why: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidSchedule, why)
}

fn seconds() -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a time")]
    let seconds = now().floor() as i64;
    seconds
}
