//! Schedules: set, fired once whatever dies when, and looked after. The edges of clocks are in the unit tests.

use crate::lab::{Lab, until};
use crate::server::Setup;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// A server whose base directory and state outlive it.
fn lasting(dir: &Path) -> Lab {
    let name = |part: &str| dir.join(part).display().to_string();
    std::fs::create_dir_all(dir.join("base")).unwrap();
    let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").no_base_dir();
    let setup = setup.arg("--base-dir").arg(&name("base")).arg("--state-dir").arg(&name("state"));
    Lab { server: setup.start(), token: None }
}

/// Sets a schedule that opens a session in the directory `cwd`; yields its id.
fn set(lab: &Lab, cwd: &str, more: &Value) -> String {
    let mut body = json!({"name": "nightly", "agent_id": "mine", "cwd": cwd, "prompt": "echo done"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    lab.post("/agents/schedules", body)["schedule"]["schedule_id"].as_str().unwrap().to_owned()
}

fn schedule(lab: &Lab, id: &str) -> Value {
    let all = lab.get("/agents/schedules")["schedules"].clone();
    let found = all.as_array().unwrap().iter().find(|one| one["schedule_id"] == id).cloned();
    found.unwrap_or_else(|| panic!("no {id} in {all}"))
}

/// The newest run once it is in this state.
fn run(lab: &Lab, id: &str, state: &str) -> Value {
    until(&format!("a run that is {state}"), || {
        Some(schedule(lab, id)["last_runs"][0].clone()).filter(|run| run["state"] == state)
    })
}

#[test]
fn a_schedule_is_set_changed_paused_and_deleted() {
    let lab = Lab::start();
    let body = json!({"name": "nightly", "cron": "30 2 * * *", "timezone": "Europe/Berlin", "agent_id": "mine",
        "cwd": lab.base(), "title": "t", "prompt": "echo hi"});
    let before = now();
    let made = lab.post("/agents/schedules", body);
    let schedule = made["schedule"].clone();
    let id = schedule["schedule_id"].as_str().unwrap().to_owned();
    assert_eq!(
        (
            &schedule["trigger"],
            &schedule["timezone"],
            &schedule["enabled"],
            &schedule["overlap"],
            &schedule["missed"]
        ),
        (
            &json!({"cron": "30 2 * * *"}),
            &json!("Europe/Berlin"),
            &json!(true),
            &json!("skip"),
            &json!("skip")
        )
    );
    assert_eq!((&schedule["last_runs"], &schedule["failures_in_a_row"]), (&json!([]), &json!(0)));
    let times: Vec<f64> = made["next_times"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert_eq!((times.len(), Some(times[0])), (5, schedule["next_at"].as_f64()));
    assert!(
        times[0] > before
            && times.windows(2).all(|pair| (22..=26).contains(&(((pair[1] - pair[0]) / 3600.0) as i64)))
    );
    let change = |more: Value| {
        let mut body = json!({"schedule_id": id});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lab.post("/agents/schedules", body)["schedule"].clone()
    };
    let paused = change(json!({"enabled": false, "prompt": "echo other"}));
    assert_eq!(
        (&paused["enabled"], &paused["prompt"], paused.get("next_at")),
        (&json!(false), &json!("echo other"), None)
    );
    assert_eq!(paused["title"], "t", "what is not said stays");
    assert_eq!(lab.get("/agents/schedules?enabled=true")["schedules"], json!([]));
    let again = change(json!({"enabled": true, "every_seconds": 3600}));
    assert_eq!(again["trigger"], json!({"every_seconds": 3600}));
    assert!((3500.0..=3600.0).contains(&(again["next_at"].as_f64().unwrap() - now())));
    assert_eq!(lab.delete(&format!("/agents/schedules/{id}")), json!({"schedule_id": id, "deleted": true}));
    assert_eq!(lab.refused("DELETE", &format!("/agents/schedules/{id}"), None), "404 schedule_not_found");
}

#[test]
fn what_is_no_schedule_or_not_allowed_is_refused() {
    let lab = Lab::start();
    let with = |more: Value| {
        let mut body =
            json!({"name": "n", "every_seconds": 60, "agent_id": "mine", "cwd": lab.base(), "prompt": "p"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (more, wanted) in [
        (json!({"every_seconds": null}), "400 invalid_schedule"),
        (json!({"cron": "* * * * *"}), "400 invalid_schedule"),
        (json!({"every_seconds": null, "cron": "61 * * * *"}), "400 invalid_schedule"),
        (json!({"every_seconds": null, "cron": "0 0 30 2 *"}), "400 invalid_schedule"),
        (json!({"every_seconds": null, "at": 5}), "400 invalid_schedule"),
        (json!({"every_seconds": 0}), "400 invalid_schedule"),
        (json!({"timezone": "Mars/Olympus"}), "400 invalid_schedule"),
        (json!({"overlap": "maybe"}), "400 invalid_schedule"),
        (json!({"max_failures": 0}), "400 invalid_schedule"),
        (json!({"session_id": "ses_x"}), "400 invalid_schedule"),
        (json!({"prompt": null}), "400 missing_parameter"),
        (json!({"name": null}), "400 missing_parameter"),
        (json!({"agent_id": null}), "400 missing_parameter"),
        (json!({"cwd": "/etc"}), "403 path_not_allowed"),
        (json!({"agent_id": null, "cwd": null, "session_id": "ses_none"}), "400 invalid_schedule"),
        (json!({"schedule_id": "sch_none"}), "404 schedule_not_found"),
    ] {
        let body = with(more.clone());
        assert_eq!(lab.refused("POST", "/agents/schedules", Some(body)), wanted, "{more}");
    }
    let bound = json!({"name": "n", "every_seconds": 60, "prompt": "p", "session_id": "ses_none"});
    assert_eq!(lab.refused("POST", "/agents/schedules", Some(bound)), "404 session_not_found");
    assert_eq!(lab.refused("POST", "/agents/schedules/sch_none/trigger", None), "404 schedule_not_found");
    for n in 0..100 {
        set(&lab, &lab.base(), &json!({"every_seconds": 86_400 + n}));
    }
    assert_eq!(lab.refused("POST", "/agents/schedules", Some(with(json!({})))), "429 schedule_limit");
}

#[test]
fn a_slot_opens_a_session_and_a_run_by_hand_moves_nothing() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = set(&lab, &lab.base(), &json!({"at": now() + 5.0, "title": "by night"}));
    let done = run(&lab, &id, "completed");
    assert_eq!(done["reason"], "end_turn");
    let session = done["session_id"].as_str().unwrap();
    let shown = lab.get(&format!("/agents/sessions/{session}"))["session"].clone();
    assert_eq!((&shown["schedule_id"], &shown["title"]), (&json!(id), &json!("by night")));
    let turns = lab.get(&format!("/agents/sessions/{session}/turns"));
    assert_eq!(turns["turns"][0]["schedule_id"], id.as_str());
    assert_eq!(schedule(&lab, &id).get("next_at"), None, "it comes once");
    let triggered = lab.post(&format!("/agents/schedules/{id}/trigger"), json!({}));
    assert_ne!(triggered["session_id"], session);
    let turn = triggered["turn"]["turn_id"].clone();
    let done = until("the second run", || {
        Some(schedule(&lab, &id)["last_runs"].clone())
            .filter(|runs| runs[0]["state"] == "completed" && runs[1].is_object())
    });
    assert_eq!((&done[0]["turn_id"], done[0].get("slot")), (&turn, None));
}

#[test]
fn a_session_of_ones_own_is_prompted_and_a_slow_run_is_not_overtaken() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let body = json!({"name": "n", "every_seconds": 1, "prompt": "wait", "session_id": session});
    let id = lab.post("/agents/schedules", body)["schedule"]["schedule_id"].as_str().unwrap().to_owned();
    let runs = until("a slot during the slow run", || {
        Some(schedule(&lab, &id)["last_runs"].clone()).filter(|runs| runs[0]["state"] == "skipped")
    });
    assert_eq!(runs[0]["reason"], "overlap");
    let trigger = format!("/agents/schedules/{id}/trigger");
    assert_eq!(lab.refused("POST", &trigger, None), "409 overlap");
    lab.post("/agents/schedules", json!({"schedule_id": id, "enabled": false}));
    let queued = lab.post(&trigger, json!({"ignore_overlap": true}));
    assert_eq!(queued["session_id"], session.as_str());
}

#[test]
fn a_schedule_that_keeps_failing_is_disabled() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = set(&lab, &lab.base(), &json!({"every_seconds": 1, "prompt": "fail -32603", "max_failures": 2}));
    let ended = until("it is disabled", || Some(schedule(&lab, &id)).filter(|one| one["enabled"] == false));
    assert_eq!(ended["failures_in_a_row"], 2);
    let failed: Vec<&Value> =
        ended["last_runs"].as_array().unwrap().iter().filter(|run| run["state"] == "failed").collect();
    assert_eq!(failed.len(), 2, "{ended}");
    assert!(failed.iter().all(|run| run["reason"] == "agent_protocol_error"), "{ended}");
    let again =
        lab.post("/agents/schedules", json!({"schedule_id": id, "enabled": true, "every_seconds": 9000}));
    assert_eq!(again["schedule"]["failures_in_a_row"], 0);
}

#[test]
fn a_restart_in_mid_slot_fires_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let first = lasting(dir.path());
    first.register("mine", &[]);
    let base = dir.path().join("base").display().to_string();
    let at = (now() + 10.0).floor();
    let id = set(&first, &base, &json!({"at": at}));
    let far = set(&first, &base, &json!({"at": at + 100_000.0}));
    // Killed before the slot, by seconds that a busy machine may lose; the next server is there just after it.
    while now() < at - 5.0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(first);
    while now() < at + 0.3 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = lasting(dir.path());
    let done = run(&second, &id, "completed");
    assert_eq!(done["slot"].as_f64(), Some(at));
    drop(second);
    let third = lasting(dir.path());
    std::thread::sleep(Duration::from_secs(2));
    let runs = schedule(&third, &id)["last_runs"].clone();
    assert_eq!(runs, json!([done]), "once and no more");
    assert_eq!(schedule(&third, &far)["last_runs"], json!([]));
    let sessions = third.get("/agents/sessions")["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 1);
}

#[test]
fn the_runs_of_an_identity_that_is_gone_are_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let name = |part: &str| dir.path().join(part).display().to_string();
    std::fs::create_dir_all(dir.path().join("base")).unwrap();
    let tokens = |ids: &[&str]| {
        let one = |id: &&str| {
            format!(
                "{{id: {id}, scopes: [agents:read, agents:run, agents:manage], token_env: TOKEN_{}}}",
                id.to_uppercase()
            )
        };
        format!("auth: {{tokens: [{}]}}", ids.iter().map(one).collect::<Vec<_>>().join(", "))
    };
    let lab = |ids: &[&str], token: &str| {
        let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").no_base_dir();
        let setup = setup.env("TOKEN_ANN", "ann-secret-0123456789").env("TOKEN_BOB", "bob-secret-0123456789");
        let setup = setup.policy(&tokens(ids)).arg("--base-dir").arg(&name("base"));
        let setup = setup.arg("--state-dir").arg(&name("state"));
        Lab { server: setup.start(), token: None }.token(token)
    };
    let first = lab(&["ann", "bob"], "ann-secret-0123456789");
    first.register("mine", &[]);
    let id = set(&first, &name("base"), &json!({"every_seconds": 2}));
    run(&first, &id, "completed");
    drop(first);
    let second = lab(&["bob"], "bob-secret-0123456789");
    until("a run that is skipped for its identity", || {
        let run = schedule(&second, &id)["last_runs"][0].clone();
        (run["state"] == "skipped" && run["reason"] == "identity").then_some(())
    });
}
