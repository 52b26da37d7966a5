//! Turns: in order, one at a time, waited for, streamed, cancelled, steered, and within their budget.

use crate::client::Client;
use crate::follow::Follower;
use crate::lab::{Lab, until};
use crate::log;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn start(lab: &Lab, session: &str, prompt: &str) -> String {
    let started = lab.post(&format!("/agents/sessions/{session}/turns"), json!({"prompt": prompt}));
    started["turn"]["turn_id"].as_str().unwrap().to_owned()
}

fn done(lab: &Lab, session: &str, turn: &str) -> Value {
    lab.get(&format!("/agents/sessions/{session}/turns/{turn}?wait_ms=60000"))["turn"].clone()
}

fn running(lab: &Lab, session: &str, turn: &str) {
    until("it runs, or has run", || {
        let turn = lab.get(&format!("/agents/sessions/{session}/turns/{turn}"));
        (turn["turn"]["state"] != "queued").then_some(())
    });
}

#[test]
fn twenty_at_once_keep_their_order_and_only_one_is_in_flight() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    lab.post(&format!("/agents/sessions/{id}"), json!({"queue_paused": true}));
    let port = lab.server.port;
    let path = format!("/agents/sessions/{id}/turns");
    std::thread::scope(|scope| {
        for n in 0..20 {
            let path = path.clone();
            scope.spawn(move || {
                let body = json!({"prompt": format!("sleep 5\necho {n}")}).to_string();
                // More at once than the endpoint takes: those are asked again.
                loop {
                    let answer = Client::new(port).ask("POST", &path, None, Some(&body));
                    if answer.status != 429 {
                        return assert_eq!(answer.status, 200);
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
    });
    let queue = lab.get(&format!("/agents/sessions/{id}"))["session"]["queue"].clone();
    let order: Vec<Value> = queue.as_array().unwrap().iter().map(|turn| turn["turn_id"].clone()).collect();
    assert_eq!(order.len(), 20);
    lab.post(&format!("/agents/sessions/{id}"), json!({"queue_paused": false}));
    done(&lab, &id, order[19].as_str().unwrap());
    let log = log::read(&lab, &id, &["turn.started", "turn.completed"]);
    let said: Vec<(String, Value)> = log
        .iter()
        .map(|event| (event["kind"].as_str().unwrap().to_owned(), event["turn_id"].clone()))
        .collect();
    let wanted: Vec<(String, Value)> = order
        .iter()
        .flat_map(|id| [("turn.started".to_owned(), id.clone()), ("turn.completed".to_owned(), id.clone())])
        .collect();
    assert_eq!(said, wanted);
}

#[test]
fn a_turn_says_what_came_of_it() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "image"]);
    let id = lab.session("mine");
    let turn = lab.turn(&id, "echo hello\nsave new.txt text\nopen_tool\nearly_tool");
    assert_eq!(
        (&turn["state"], &turn["stop_reason"], &turn["error"], &turn["pending_requests"]),
        (&json!("completed"), &json!("end_turn"), &json!(null), &json!([]))
    );
    assert_eq!(turn["usage"], json!({"input_tokens": 20, "output_tokens": 10}));
    assert_eq!(turn["changes"], json!({"added": ["new.txt"], "modified": [], "deleted": []}));
    assert_eq!(turn["tool_calls"], json!({"completed": 1, "unsettled": 1}));
    assert!(turn["text"].as_str().unwrap().starts_with("hello"), "{turn}");
    for (scene, state, reason) in [
        ("stop max_tokens", "completed", Some("max_tokens")),
        ("stop refusal", "completed", Some("refusal")),
        ("stop cancelled", "cancelled", Some("cancelled")),
        // What it ended with is a fault.
        ("fail -32603", "failed", None),
        ("crash 7", "interrupted", Some("agent_exit")),
    ] {
        let turn = lab.turn(&id, scene);
        assert_eq!(
            (&turn["state"], &turn["stop_reason"]),
            (&json!(state), &json!(reason)),
            "{scene}: {turn}"
        );
        if state == "failed" {
            assert_eq!(turn["error"]["rpc_error"]["code"], json!(-32603));
        }
    }
    let listed = lab.get(&format!("/agents/sessions/{id}/turns?limit=4"));
    assert_eq!(listed["turns"].as_array().unwrap().len(), 4);
    let cursor = listed["next_cursor"].as_str().unwrap();
    let rest = lab.get(&format!("/agents/sessions/{id}/turns?cursor={cursor}"));
    assert_eq!(rest["turns"].as_array().unwrap().len(), 2);
    let failed = lab.get(&format!("/agents/sessions/{id}/turns?state=failed"));
    assert_eq!(failed["turns"][0]["prompt_preview"], "fail -32603");
}

#[test]
fn what_is_no_turn_is_refused() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/turns");
    let image = json!([{"type": "image", "data": "aGk=", "mimeType": "image/png"}]);
    for (body, code) in [
        (json!({}), "400 missing_parameter"),
        (json!({"prompt": ""}), "400 invalid_prompt"),
        (json!({"prompt": 1}), "400 invalid_prompt"),
        (json!({"prompt": "x", "command": {"name": "y"}}), "400 invalid_prompt"),
        (json!({"prompt": image}), "400 capability_missing"),
        (json!({"prompt": "x", "on_busy": "wait"}), "400 invalid_parameter"),
        (json!({"prompt": "x", "wait_ms": 60001}), "400 invalid_parameter"),
        (json!({"prompt": "x", "timeout_seconds": 0}), "400 invalid_parameter"),
        (json!({"retry_of": "trn_x"}), "404 turn_not_found"),
    ] {
        assert_eq!(lab.refused("POST", &path, Some(body.clone())), code, "{body}");
        // A stream waits for nothing.
        if body.get("wait_ms").is_none() {
            assert_eq!(lab.refused("POST", &format!("{path}/stream"), Some(body.clone())), code, "{body}");
        }
    }
    for (path, code) in [
        (format!("{path}/trn_x"), "404 turn_not_found"),
        (format!("{path}?state=new"), "400 invalid_parameter"),
        (format!("{path}?cursor=%25"), "400 invalid_cursor"),
        (format!("{path}/trn_x?wait_ms=60001"), "400 invalid_parameter"),
        (format!("{path}/trn_x?until=later"), "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("GET", &path, None), code, "{path}");
    }
    let turn = lab.turn(&id, "echo once")["turn_id"].clone();
    let turn = turn.as_str().unwrap();
    let again = lab.post(&path, json!({"retry_of": turn, "wait_ms": 60000}));
    assert_eq!((&again["turn"]["text"], &again["turn"]["retry_of"]), (&json!("once"), &json!(turn)));
    assert_eq!(lab.refused("POST", &format!("{path}/{turn}/cancel"), Some(json!({}))), "409 turn_finished");
    assert_eq!(lab.refused("POST", &format!("{path}/trn_x/cancel"), Some(json!({}))), "404 turn_not_found");
    let grace = json!({"grace_seconds": 31});
    assert_eq!(lab.refused("POST", &format!("{path}/{turn}/cancel"), Some(grace)), "400 invalid_parameter");
}

#[test]
fn a_busy_session_queues_interrupts_or_refuses() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/turns");
    let first = start(&lab, &id, "wait");
    running(&lab, &id, &first);
    let body = |on_busy: &str, prompt: &str| json!({"prompt": prompt, "on_busy": on_busy});
    assert_eq!(lab.refused("POST", &path, Some(body("reject", "echo r"))), "409 session_busy");
    let queued = lab.post(&path, body("queue", "echo queued"));
    assert_eq!((&queued["turn"]["state"], &queued["turn"]["position"]), (&json!("queued"), &json!(1)));
    let urgent = lab.post(&path, body("interrupt", "echo urgent"));
    let urgent = done(&lab, &id, urgent["turn"]["turn_id"].as_str().unwrap());
    let queued = done(&lab, &id, queued["turn"]["turn_id"].as_str().unwrap());
    assert_eq!(done(&lab, &id, &first)["state"], "cancelled");
    assert_eq!((&urgent["text"], &queued["text"]), (&json!("urgent"), &json!("queued")));
    assert!(urgent["ended_at"].as_f64() <= queued["started_at"].as_f64());
}

#[test]
fn a_paused_queue_is_put_into_another_order() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let session = format!("/agents/sessions/{id}");
    let running_turn = start(&lab, &id, "sleep 1000");
    running(&lab, &id, &running_turn);
    lab.post(&session, json!({"queue_paused": true}));
    let (a, b) = (start(&lab, &id, "echo a"), start(&lab, &id, "echo b"));
    // The turn that runs is let finish; those that wait are held.
    assert_eq!(done(&lab, &id, &running_turn)["state"], "completed");
    let shown = lab.post(&session, json!({"queue_order": [b, a]}))["session"].clone();
    assert_eq!((&shown["queue"][0]["turn_id"], &shown["queue_paused"]), (&json!(b), &json!(true)));
    for order in [json!([a]), json!([a, a]), json!([a, b, "trn_x"])] {
        let refused = lab.refused("POST", &session, Some(json!({"queue_order": order})));
        assert_eq!(refused, "400 invalid_queue_order");
    }
    let cancelled = lab.post(&format!("{session}/turns/{a}/cancel"), json!({}));
    assert_eq!((&cancelled["turn"]["state"], &cancelled["forced"]), (&json!("cancelled"), &json!(false)));
    let a = start(&lab, &id, "echo a");
    lab.post(&session, json!({"queue_paused": false}));
    let (a, b) = (done(&lab, &id, &a), done(&lab, &id, &b));
    assert!(b["ended_at"].as_f64() <= a["started_at"].as_f64());
}

#[test]
fn the_queue_is_bounded() {
    let lab =
        Lab::under("server:\n  endpoints:\n    agents_turns_start:\n      limits: {rate_per_minute: 6000}\n");
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/turns");
    let first = start(&lab, &id, "wait");
    running(&lab, &id, &first);
    for _ in 0..50 {
        lab.post(&path, json!({"prompt": "echo x"}));
    }
    for path in [path.clone(), format!("{path}/{first}/steer")] {
        assert_eq!(lab.refused("POST", &path, Some(json!({"prompt": "echo x"}))), "429 queue_full", "{path}");
    }
}

#[test]
fn two_waiters_and_one_cancel() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let turn = start(&lab, &id, "wait");
    running(&lab, &id, &turn);
    let path = format!("/agents/sessions/{id}/turns/{turn}?wait_ms=60000");
    let clock = Instant::now();
    std::thread::scope(|scope| {
        let waiters: Vec<_> =
            (0..2).map(|_| scope.spawn(|| lab.get(&path)["turn"]["state"].clone())).collect();
        std::thread::sleep(Duration::from_millis(200));
        let done = lab.post(&format!("/agents/sessions/{id}/turns/{turn}/cancel"), json!({}));
        assert_eq!((&done["turn"]["stop_reason"], &done["forced"]), (&json!("cancelled"), &json!(false)));
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), "cancelled");
        }
    });
    assert!(clock.elapsed() < Duration::from_secs(50));
    // An ended turn is answered at once.
    let clock = Instant::now();
    lab.get(&path);
    assert!(clock.elapsed() < Duration::from_secs(50));
}

/// Waits until the turn has said so: then its prompt is open.
fn begun(lab: &Lab, session: &str, turn: &str) {
    until("it has begun", || {
        let text = lab.get(&format!("/agents/sessions/{session}/turns/{turn}"))["turn"]["text"].clone();
        (text == "begun").then_some(())
    });
}

#[test]
fn an_agent_that_ignores_a_cancel_is_killed_for_it() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let turn = start(&lab, &id, "echo begun\nignore_cancel");
    begun(&lab, &id, &turn);
    let path = format!("/agents/sessions/{id}/turns/{turn}/cancel");
    let done = lab.post(&path, json!({"grace_seconds": 0.1}));
    assert_eq!((&done["turn"]["state"], &done["forced"]), (&json!("cancelled"), &json!(true)));
    assert_eq!(lab.get(&format!("/agents/sessions/{id}"))["session"]["state"], "disconnected");
}

#[test]
fn an_agent_that_ignores_everything_is_killed_for_it() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "load", "--store", &format!("{}/kept", lab.base())]);
    let id = lab.session("mine");
    let turn = start(&lab, &id, "echo begun\nwait");
    begun(&lab, &id, &turn);
    // One that is held hears nothing.
    let pid = lab.processes("mine")[0]["pid"].as_i64().unwrap();
    assert!(pid > 1, "{pid} is no process of ours");
    let held = std::process::Command::new("kill").args(["-s", "STOP", &pid.to_string()]).status().unwrap();
    assert!(held.success());
    let path = format!("/agents/sessions/{id}/turns/{turn}/cancel");
    let kept = lab.post(&path, json!({"grace_seconds": 0, "force": false}));
    assert_eq!((&kept["turn"]["state"], &kept["forced"]), (&json!("running"), &json!(false)));
    let done = lab.post(&path, json!({"grace_seconds": 0.1}));
    assert_eq!(
        (&done["turn"]["state"], &done["turn"]["stop_reason"], &done["forced"]),
        (&json!("cancelled"), &json!("forced"), &json!(true))
    );
    assert_eq!(lab.get(&format!("/agents/sessions/{id}"))["session"]["state"], "disconnected");
    // The next prompt brings it back.
    assert_eq!(lab.turn(&id, "echo back")["text"], "back");
}

#[test]
fn a_turn_ends_when_its_time_is_up() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/turns");
    let turn = lab.post(&path, json!({"prompt": "wait", "timeout_seconds": 0.2, "wait_ms": 60000}));
    assert_eq!(
        (&turn["turn"]["state"], &turn["turn"]["stop_reason"]),
        (&json!("cancelled"), &json!("timeout"))
    );
}

#[test]
fn a_budget_ends_turns_and_refuses_further_ones() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session_with("mine", json!({"budget": {"cost": 2.0, "currency": "USD", "turns": 5}}));
    let path = format!("/agents/sessions/{id}/turns");
    let turn = lab.turn(&id, "usage 5 3\nwait");
    assert_eq!((&turn["state"], &turn["stop_reason"]), (&json!("cancelled"), &json!("budget")));
    let log = log::read(&lab, &id, &["budget"]);
    let event = &log[0];
    assert_eq!(event["kind"], "budget.exceeded");
    assert_eq!(
        event["data"],
        json!({"measure": "cost", "limit": 2.0, "used": 3.0, "over": 1.0, "currency": "USD"})
    );
    assert_eq!(lab.refused("POST", &path, Some(json!({"prompt": "echo x"}))), "429 budget_exceeded");
    lab.post(&format!("/agents/sessions/{id}"), json!({"budget": {"turns": 2}}));
    assert_eq!(lab.turn(&id, "echo second")["state"], "completed");
    assert_eq!(lab.refused("POST", &path, Some(json!({"prompt": "echo x"}))), "429 budget_exceeded");
}

#[test]
fn a_key_starts_one_turn() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/turns");
    let ask = |prompt: &str| lab.ask("POST", &path, Some(json!({"prompt": prompt, "idempotency_key": "k"})));
    let (first, again, other) = (ask("echo a"), ask("echo a"), ask("echo b"));
    assert_eq!(first, again);
    assert_eq!((other.0, &other.1["code"]), (409, &json!("idempotency_conflict")));
    assert_eq!(lab.get(&path)["turns"].as_array().unwrap().len(), 1);
}

#[test]
fn attachments_lie_where_the_agent_can_read_them() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "embedded"]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/turns");
    let attachment = json!({"name": "a.txt", "mime_type": "text/plain", "content_base64": "aGk="});
    let turn = lab.post(&path, json!({"prompt": "blocks", "attachments": [attachment], "wait_ms": 60000}));
    let blocks: Value = serde_json::from_str(turn["turn"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(blocks[1]["resource"]["text"], "hi");
    assert_eq!((&blocks[2]["type"], &blocks[2]["name"]), (&json!("resource_link"), &json!("a.txt")));
    let file = blocks[2]["uri"].as_str().unwrap().strip_prefix("file://").unwrap();
    assert!(file.starts_with(&lab.base()));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "hi");
    // They are no change of the workspace.
    let turn = turn["turn"]["turn_id"].as_str().unwrap();
    let shown = lab.get(&format!("{path}/{turn}"));
    assert_eq!(shown["turn"]["changes"]["added"], json!([]));
}

#[test]
fn a_stream_has_the_events_of_its_turn_and_ends_with_it() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let body = json!({"prompt": "echo one\necho two"});
    let path = format!("/agents/sessions/{id}/turns/stream");
    let mut stream = Follower::ask(lab.server.port, "POST", &path, None, Some(&body), None);
    assert_eq!(stream.status, 200);
    let events = stream.all();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds.first(), Some(&"turn.queued"));
    assert_eq!(kinds.last(), Some(&"turn.completed"));
    let turn = &events[0].data["turn_id"];
    assert!(events.iter().all(|event| event.data["turn_id"] == *turn));
    let said: String = events
        .iter()
        .filter(|event| event.kind == "message.chunk" && event.data["data"]["role"] == "agent")
        .map(|event| event.data["data"]["content"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, "onetwo");
    assert!(events.windows(2).all(|pair| pair[0].id < pair[1].id));
}

#[test]
fn a_reader_that_leaves_cancels_only_where_it_said_so() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    for (cancels, state) in [(false, "running"), (true, "cancelled")] {
        let body = json!({"prompt": "echo begun\nwait", "cancel_on_disconnect": cancels});
        let path = format!("/agents/sessions/{id}/turns/stream");
        let mut stream = Follower::ask(lab.server.port, "POST", &path, None, Some(&body), None);
        let turn = stream.until("message.chunk")[0].data["turn_id"].as_str().unwrap().to_owned();
        drop(stream);
        let path = format!("/agents/sessions/{id}/turns/{turn}");
        if cancels {
            // The socket's end is noticed when the next heartbeat is sent, at the latest.
            until("it is cancelled", || (lab.get(&path)["turn"]["state"] == state).then_some(()));
        } else {
            // Its line says that the server knows of it.
            let line = lab.server.wait_for("\"endpoint\":\"agents_turns_stream\"");
            assert!(line.contains("\"event\":\"cut\""), "{line}");
            assert_eq!(lab.get(&path)["turn"]["state"], state);
            lab.post(&format!("{path}/cancel"), json!({}));
        }
    }
}

#[test]
fn a_word_is_injected_or_falls_back() {
    let lab = Lab::start();
    lab.register("steered", &["--can", "steering"]);
    lab.register("plain", &[]);
    let id = lab.session("steered");
    let turn = start(&lab, &id, "echo begun\nlisten\necho end");
    begun(&lab, &id, &turn);
    let word = json!({"prompt": "mind the gap"});
    let steered = lab.post(&format!("/agents/sessions/{id}/turns/{turn}/steer"), word.clone());
    assert_eq!(steered, json!({"outcome": "injected", "turn_id": turn}));
    assert!(done(&lab, &id, &turn)["text"].as_str().unwrap().contains("mind the gap"));

    let id = lab.session("plain");
    let turn = start(&lab, &id, "wait");
    running(&lab, &id, &turn);
    let path = format!("/agents/sessions/{id}/turns/{turn}/steer");
    let with = |fallback: &str| json!({"prompt": "echo a word", "fallback": fallback});
    assert_eq!(lab.refused("POST", &path, Some(with("reject"))), "409 not_steerable");
    assert_eq!(lab.refused("POST", &path, Some(with("pray"))), "400 invalid_parameter");
    assert_eq!(lab.refused("POST", &path, Some(json!({}))), "400 missing_parameter");
    let queued = lab.post(&path, with("queue"));
    assert_eq!(queued["outcome"], "queued");
    let restarted = lab.post(&path, with("cancel_and_resend"));
    assert_eq!(restarted["outcome"], "restarted");
    assert_eq!(done(&lab, &id, &turn)["state"], "cancelled");
    assert_eq!(done(&lab, &id, restarted["turn_id"].as_str().unwrap())["text"], "a word");
    assert_eq!(done(&lab, &id, queued["turn_id"].as_str().unwrap())["text"], "a word");
    assert_eq!(lab.refused("POST", &path, Some(word)), "409 turn_finished");
    let unknown = format!("/agents/sessions/{id}/turns/trn_x/steer");
    assert_eq!(lab.refused("POST", &unknown, Some(json!({"prompt": "x"}))), "404 turn_not_found");
}

#[test]
fn a_task_runs_to_its_end_in_a_session_of_its_own() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let run = |more: Value| {
        let mut body = json!({"agent_id": "mine", "cwd": lab.base()});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let ran = lab.post("/agents/runs", run(json!({"prompt": "echo done\nsave out.txt text"})));
    assert_eq!(
        (&ran["state"], &ran["stop_reason"], &ran["changes"]["added"], &ran["pending_requests"]),
        (&json!("completed"), &json!("end_turn"), &json!(["out.txt"]), &json!([]))
    );
    let id = ran["session_id"].as_str().unwrap();
    assert_eq!(lab.get(&format!("/agents/sessions/{id}"))["session"]["state"], "closed");
    assert_eq!(lab.processes("mine"), Vec::<Value>::new());
    let gone = lab.post("/agents/runs", run(json!({"prompt": "echo x", "keep_session": false})));
    let path = format!("/agents/sessions/{}", gone["session_id"].as_str().unwrap());
    assert_eq!(lab.refused("GET", &path, None), "404 session_not_found");
    let waits = lab.post("/agents/runs", run(json!({"prompt": "permission ls"})));
    assert_eq!(
        (&waits["state"], waits["pending_requests"].as_array().unwrap().len()),
        (&json!("waiting"), 1)
    );
    let path = format!("/agents/sessions/{}", waits["session_id"].as_str().unwrap());
    assert_eq!(lab.get(&path)["session"]["state"], "waiting");
    let (status, body) =
        lab.ask("POST", "/agents/runs", Some(run(json!({"prompt": "wait", "timeout_seconds": 1}))));
    assert_eq!((status, &body["code"]), (504, &json!("turn_timeout")));
    assert!(body["session_id"].is_string() && body["turn_id"].is_string());
    for (more, code) in [
        (json!({}), "400 missing_parameter"),
        (json!({"prompt": ""}), "400 invalid_prompt"),
        (json!({"prompt": "x", "timeout_seconds": -1}), "400 invalid_parameter"),
        (json!({"prompt": "x", "cwd": "/etc"}), "403 path_not_allowed"),
    ] {
        assert_eq!(lab.refused("POST", "/agents/runs", Some(run(more.clone()))), code, "{more}");
    }
}
