//! Bounds of the group as a whole: how many turns run at once.

use crate::lab::{Lab, until};
use serde_json::json;

/// Asked more often than a policy lets by itself.
fn lab() -> Lab {
    Lab::under("defaults: {limits: {rate_per_minute: 100000, max_concurrency: 64}}")
}

#[test]
fn eight_turns_run_and_the_ninth_waits_for_a_place() {
    let lab = lab();
    lab.register_with("mine", &[], json!({"share_process": true}));
    let start = |_| {
        let path = format!("/agents/sessions/{}/turns", lab.session("mine"));
        let started = lab.post(&path, json!({"prompt": "wait"}));
        format!("{path}/{}", started["turn"]["turn_id"].as_str().unwrap())
    };
    let turns: Vec<String> = (0..9).map(start).collect();
    let state = |turn: &String| lab.get(turn)["turn"]["state"].as_str().unwrap().to_owned();
    let these = |wanted: &str| turns.iter().filter(|turn| state(turn) == wanted).collect::<Vec<_>>();
    until("eight run", || (these("running").len() == 8).then_some(()));
    // A ninth would be seen in one of many looks.
    for _ in 0..10 {
        assert_eq!((these("running").len(), these("queued").len()), (8, 1));
    }
    let (first, waits) = (these("running")[0], these("queued")[0]);
    assert_eq!(lab.post(&format!("{first}/cancel"), json!({}))["turn"]["state"], "cancelled");
    until("its place is taken", || (state(waits) == "running").then_some(()));
    assert_eq!(these("running").len(), 8);
}
