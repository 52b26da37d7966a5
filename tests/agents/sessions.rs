//! Sessions: opened, looked at, changed, closed, brought back, branched, adopted and deleted.

use crate::lab::{Lab, lives, until};
use crate::log;
use serde_json::{Value, json};

const NOBODY: &str = "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn pid(lab: &Lab, agent: &str) -> i64 {
    lab.processes(agent)[0]["pid"].as_i64().unwrap()
}

/// Kills the agent alone, by its own number: a negative one is read as something else by some versions of `kill`.
fn kill(pid: i64) {
    assert!(pid > 1, "{pid} is no process of ours");
    let done = std::process::Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status().unwrap();
    assert!(done.success());
}

fn state(lab: &Lab, session: &str) -> String {
    lab.get(&format!("/agents/sessions/{session}"))["session"]["state"].as_str().unwrap().to_owned()
}

fn kinds(lab: &Lab, session: &str) -> Vec<String> {
    log::kinds(lab, session, &[])
}

#[test]
fn a_session_that_is_opened_shows_what_was_said_of_it() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "load,close"]);
    let opened = lab.post(
        "/agents/sessions",
        json!({
            "agent_id": "mine", "cwd": lab.base(), "title": "first", "labels": {"team": "blue"},
            "policy": {"default": "allow_reads", "timeout_seconds": 60}, "budget": {"turns": 3}, "trace": true,
        }),
    );
    let session = &opened["session"];
    for (name, value) in [
        ("state", json!("idle")),
        ("agent_id", json!("mine")),
        ("cwd", json!(lab.base())),
        ("title", json!("first")),
        ("labels", json!({"team": "blue"})),
        ("policy", json!({"default": "allow_reads", "timeout_seconds": 60.0})),
        ("budget", json!({"turns": 3})),
        ("version", json!(1)),
        ("archived", json!(false)),
    ] {
        assert_eq!(session[name], value, "{name}: {session}");
    }
    assert_eq!(session["capabilities"]["loadSession"], json!(true));
    let id = session["session_id"].as_str().unwrap();
    let whole = lab.get(&format!("/agents/sessions/{id}"))["session"].clone();
    assert_eq!(
        (&whole["queue"], &whole["pending_requests"], &whole["current_turn"], &whole["resumable"]),
        (&json!([]), &json!([]), &json!(null), &json!("load"))
    );
    assert_eq!(whole["process_id"], lab.processes("mine")[0]["process_id"]);
    assert_eq!(kinds(&lab, id)[..2], ["session.created", "process.started"]);
}

#[test]
fn what_cannot_be_opened_says_why() {
    let lab = Lab::start();
    lab.register("mine", &["--offer", "modes"]);
    lab.register("dead", &["--die", "3"]);
    lab.register("shy", &["--require-auth", "--auth", "agent"]);
    lab.post("/agents/catalog", json!({"id": "absent", "command": "no-such-program-here"}));
    let open = |more: Value| {
        let mut body = json!({"agent_id": "mine", "cwd": lab.base()});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lab.refused("POST", "/agents/sessions", Some(body))
    };
    for (more, code) in [
        (json!({"agent_id": null}), "400 missing_parameter"),
        (json!({"cwd": null}), "400 missing_parameter"),
        (json!({"cwd": 3}), "400 invalid_parameter"),
        (json!({"cwd": "/etc"}), "403 path_not_allowed"),
        (json!({"cwd": "/home/not-there-at-all"}), "403 path_not_allowed"),
        (json!({"additional_directories": ["/etc"]}), "403 path_not_allowed"),
        (json!({"agent_id": "nobody"}), "404 agent_not_found"),
        (json!({"agent_id": "absent"}), "409 agent_not_installed"),
        (json!({"agent_id": "dead"}), "503 agent_unavailable"),
        (json!({"agent_id": "shy"}), "409 agent_auth_required"),
        (json!({"policy": {"default": "sometimes"}}), "400 invalid_request"),
        (json!({"policy": []}), "400 invalid_request"),
        (json!({"policy": {"timeout_seconds": -1}}), "400 invalid_request"),
        (json!({"budget": {"cost": -1}}), "400 invalid_request"),
        (json!({"isolation": "moon"}), "400 invalid_parameter"),
        (json!({"labels": {"a": 1}}), "400 invalid_parameter"),
        (json!({"options": {"mode": "sleepy"}}), "400 invalid_value"),
        (json!({"options": {"mode": "bypass"}}), "403 mode_denied"),
        (json!({"options": {"colour": "red"}}), "404 option_not_found"),
        (json!({"mcp": ["unheard-of"]}), "404 server_not_found"),
        (json!({"mcp": [{"name": "x"}]}), "400 invalid_server"),
        (json!({"isolation": "worktree"}), "409 capability_missing"),
    ] {
        assert_eq!(open(more.clone()), code, "{more}");
    }
    let (_, body) = lab.ask("POST", "/agents/sessions", Some(json!({"agent_id": "shy", "cwd": lab.base()})));
    assert_eq!(body["auth_methods"][0]["id"], "agent");
    // What did not come up is left to be looked at, and nothing of it runs.
    let failed = body["session_id"].as_str().unwrap();
    assert_eq!(state(&lab, failed), "failed");
    assert_eq!(lab.processes("shy"), Vec::<Value>::new());
}

#[test]
fn sessions_that_are_not_there_are_not_found() {
    let lab = Lab::start();
    for (method, path, body) in [
        ("GET", "", None),
        ("POST", "", Some(json!({"title": "x"}))),
        ("DELETE", "", None),
        ("POST", "/close", Some(json!({}))),
        ("POST", "/resume", Some(json!({}))),
        ("POST", "/fork", Some(json!({}))),
        ("POST", "/turns", Some(json!({"prompt": "x"}))),
        ("POST", "/turns/stream", Some(json!({"prompt": "x"}))),
        ("GET", "/turns", None),
        ("GET", "/turns/trn_x", None),
        ("GET", "/options", None),
        ("POST", "/options", Some(json!({"option_id": "mode", "value": "x"}))),
        ("GET", "/plan", None),
    ] {
        for id in [NOBODY, "x"] {
            let path = format!("/agents/sessions/{id}{path}");
            assert_eq!(lab.refused(method, &path, body.clone()), "404 session_not_found", "{path}");
        }
    }
}

#[test]
fn lists_page_stably_and_count_states() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let ids: Vec<String> = (0..5)
        .map(|n| {
            let label = if n % 2 == 0 { "even" } else { "odd" };
            lab.session_with("mine", json!({"title": format!("s{n}"), "labels": {"n": label}}))
        })
        .collect();
    let first = lab.get("/agents/sessions?limit=2");
    let listed = |page: &Value| -> Vec<String> {
        let sessions = page["sessions"].as_array().unwrap();
        sessions.iter().map(|one| one["session_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(&first), [ids[4].clone(), ids[3].clone()]);
    assert_eq!(first["counts"], json!({"idle": 5}));
    // One that appears meanwhile moves nothing.
    lab.session("mine");
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = lab.get(&format!("/agents/sessions?limit=10&cursor={cursor}"));
    assert_eq!(listed(&second), [ids[2].clone(), ids[1].clone(), ids[0].clone()]);
    assert_eq!(second["next_cursor"], json!(null));
    assert_eq!(
        listed(&lab.get("/agents/sessions?label=n:odd&order=oldest")),
        [ids[1].clone(), ids[3].clone()]
    );
    lab.post(&format!("/agents/sessions/{}", ids[0]), json!({"archived": true}));
    lab.post(&format!("/agents/sessions/{}/close", ids[1]), json!({}));
    assert_eq!(listed(&lab.get("/agents/sessions?archived=true")), [ids[0].clone()]);
    assert_eq!(listed(&lab.get("/agents/sessions?state=closed")), [ids[1].clone()]);
    assert_eq!(listed(&lab.get("/agents/sessions?agent_id=other")), Vec::<String>::new());
    for (query, code) in [
        ("cursor=x", "400 invalid_cursor"),
        ("state=open", "400 invalid_parameter"),
        ("label=n", "400 invalid_parameter"),
        ("limit=0", "400 invalid_parameter"),
        ("order=best", "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("GET", &format!("/agents/sessions?{query}"), None), code, "{query}");
    }
}

#[test]
fn changes_are_all_or_nothing_and_seen_by_version() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}");
    let changed = lab.post(
        &path,
        json!({"title": "new", "labels": {"a": "b"}, "archived": true, "budget": {"tokens": 5}, "expected_version": 1}),
    );
    let session = &changed["session"];
    assert_eq!(
        (
            &session["title"],
            &session["labels"],
            &session["archived"],
            &session["budget"],
            &session["version"]
        ),
        (&json!("new"), &json!({"a": "b"}), &json!(true), &json!({"tokens": 5}), &json!(2))
    );
    for (body, code) in [
        (json!({"title": "x", "expected_version": 1}), "409 version_conflict"),
        (json!({"title": "x", "queue_order": ["trn_x"]}), "400 invalid_queue_order"),
        (json!({"title": 3}), "400 invalid_parameter"),
        (json!({"policy": {"default": "no"}}), "400 invalid_request"),
        (json!({"archived": "yes"}), "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("POST", &path, Some(body.clone())), code, "{body}");
    }
    assert_eq!(lab.get(&path)["session"]["title"], "new");
}

#[test]
fn closing_ends_the_process_and_keeps_the_history() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "close"]);
    let id = lab.session("mine");
    lab.turn(&id, "echo hi");
    let running = lab.post(&format!("/agents/sessions/{id}/turns"), json!({"prompt": "wait"}));
    let queued = lab.post(&format!("/agents/sessions/{id}/turns"), json!({"prompt": "echo never"}));
    let pid = pid(&lab, "mine");
    let closed = lab.post(&format!("/agents/sessions/{id}/close"), json!({}));
    assert_eq!(closed["session"]["state"], "closed");
    assert_eq!(closed["cancelled_turns"], json!([queued["turn"]["turn_id"], running["turn"]["turn_id"]]));
    until("the process is gone", || (!lives(pid)).then_some(()));
    assert_eq!(kinds(&lab, &id).last().unwrap(), "session.state");
    assert!(kinds(&lab, &id).contains(&"session.closed".to_owned()));
    let again = lab.post(&format!("/agents/sessions/{id}/close"), json!({"force": true}));
    assert_eq!(again["cancelled_turns"], json!([]));
    let refused = lab.refused("POST", &format!("/agents/sessions/{id}/turns"), Some(json!({"prompt": "x"})));
    assert_eq!(refused, "409 session_closed");
}

#[test]
fn each_rung_brings_a_killed_agent_back() {
    for (can, continuity, replayed) in
        [("resume,load", "native", 0), ("load", "native", 2), ("fork", "digest", 0)]
    {
        let lab = Lab::start();
        let store = format!("{}/conversations", lab.base());
        lab.register("mine", &["--can", can, "--store", &store]);
        let id = lab.session("mine");
        lab.turn(&id, "echo remember me");
        kill(pid(&lab, "mine"));
        until("it is disconnected", || (state(&lab, &id) == "disconnected").then_some(()));
        let before = kinds(&lab, &id).iter().filter(|kind| *kind == "message.chunk").count();
        let resumed = lab.post(&format!("/agents/sessions/{id}/resume"), json!({}));
        assert_eq!(
            (&resumed["continuity"], &resumed["replayed_updates"], &resumed["session"]["state"]),
            (&json!(continuity), &json!(replayed), &json!("idle")),
            "{can}"
        );
        // What was repeated is in the log once.
        let after = kinds(&lab, &id).iter().filter(|kind| *kind == "message.chunk").count();
        assert_eq!(before, after, "{can}");
        let turn = lab.turn(&id, "blocks");
        assert_eq!(turn["state"], "completed", "{can}: {turn}");
        let told = turn["text"].as_str().unwrap();
        assert_eq!(told.contains("remember me"), continuity == "digest", "{can}: {told}");
        // A digest is told once.
        assert!(!lab.turn(&id, "blocks")["text"].as_str().unwrap().contains("remember me"));
        let live = lab.post(&format!("/agents/sessions/{id}/resume"), json!({}));
        assert_eq!(live["continuity"], "live");
    }
}

#[test]
fn only_the_rungs_that_are_allowed_are_tried() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}/resume");
    lab.post(&format!("/agents/sessions/{id}/close"), json!({}));
    assert_eq!(lab.refused("POST", &path, Some(json!({"allow": ["resume", "load"]}))), "409 not_resumable");
    assert_eq!(state(&lab, &id), "disconnected");
    assert_eq!(lab.refused("POST", &path, Some(json!({"allow": ["magic"]}))), "400 invalid_parameter");
    assert_eq!(lab.post(&path, json!({"allow": ["digest"]}))["continuity"], "digest");
}

#[test]
fn branches_are_native_or_told() {
    let lab = Lab::start();
    lab.register("native", &["--can", "fork", "--store", &format!("{}/kept", lab.base())]);
    lab.register("plain", &[]);
    let parent = lab.session_with("native", json!({"title": "parent", "labels": {"a": "b"}}));
    lab.turn(&parent, "echo one");
    let last = lab.get(&format!("/agents/sessions/{parent}"))["session"]["last_seq"].clone();
    let fork = lab.post(&format!("/agents/sessions/{parent}/fork"), json!({"title": "branch"}));
    assert_eq!(fork["continuity"], "native");
    let session = &fork["session"];
    assert_eq!(
        (&session["parent_id"], &session["title"], &session["labels"], &session["state"]),
        (&json!(parent), &json!("branch"), &json!({"a": "b"}), &json!("idle"))
    );
    assert_eq!(lab.get(&format!("/agents/sessions/{parent}"))["session"]["last_seq"], last);
    assert_eq!(lab.turn(session["session_id"].as_str().unwrap(), "echo two")["text"], "two");

    let parent = lab.session("plain");
    let first = lab.turn(&parent, "echo the first");
    lab.turn(&parent, "echo the second");
    let path = format!("/agents/sessions/{parent}/fork");
    let fork = lab.post(&path, json!({"after_turn_id": first["turn_id"]}));
    assert_eq!(fork["continuity"], "digest");
    let told = lab.turn(fork["session"]["session_id"].as_str().unwrap(), "blocks")["text"].clone();
    let told = told.as_str().unwrap();
    assert!(told.contains("the first") && !told.contains("the second"), "{told}");
    for (body, code) in [
        (json!({"require_native": true}), "409 capability_missing"),
        (json!({"after_turn_id": "trn_x"}), "404 turn_not_found"),
        (json!({"cwd": "/etc"}), "403 path_not_allowed"),
    ] {
        assert_eq!(lab.refused("POST", &path, Some(body.clone())), code, "{body}");
    }
    let running = lab.post(&format!("/agents/sessions/{parent}/turns"), json!({"prompt": "wait"}));
    until("it runs", || (state(&lab, &parent) == "running").then_some(()));
    assert_eq!(lab.refused("POST", &path, Some(json!({}))), "409 session_busy");
    let turn = running["turn"]["turn_id"].as_str().unwrap();
    lab.post(&format!("/agents/sessions/{parent}/turns/{turn}/cancel"), json!({}));
}

#[test]
fn a_conversation_of_the_agent_itself_is_adopted_once() {
    let lab = Lab::start();
    let store = format!("{}/kept", lab.base());
    lab.register("mine", &["--can", "load,list", "--store", &store]);
    let made = lab.session("mine");
    lab.turn(&made, "echo from before");
    let native = lab.get(&format!("/agents/sessions/{made}"))["session"]["native_session_id"].clone();
    let adopt = json!({"native_session_id": native, "cwd": lab.base(), "title": "found"});
    let path = "/agents/catalog/mine/adopt";
    let (status, taken) = lab.ask("POST", path, Some(adopt.clone()));
    assert_eq!(
        (status, &taken["code"], &taken["session_id"]),
        (409, &json!("already_adopted"), &json!(made))
    );
    lab.delete(&format!("/agents/sessions/{made}"));
    let adopted = lab.post(path, adopt);
    assert_eq!((&adopted["imported_events"], &adopted["session"]["title"]), (&json!(2), &json!("found")));
    let id = adopted["session"]["session_id"].as_str().unwrap();
    let chunks = log::read(&lab, id, &["message.chunk"]);
    let sources: Vec<&Value> = chunks.iter().map(|event| &event["data"]["source"]).collect();
    assert_eq!(sources, ["replay", "replay"]);
    assert_eq!(lab.turn(id, "echo on we go")["text"], "on we go");
    let unknown = json!({"native_session_id": "unheard-of", "cwd": lab.base()});
    assert_eq!(lab.refused("POST", path, Some(unknown.clone())), "404 native_session_not_found");
    lab.register("plain", &[]);
    assert_eq!(lab.refused("POST", "/agents/catalog/plain/adopt", Some(unknown)), "409 capability_missing");
    assert_eq!(lab.refused("POST", path, Some(json!({"cwd": lab.base()}))), "400 missing_parameter");
}

#[test]
fn a_session_is_deleted_with_all_that_is_kept_of_it() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "delete", "--store", &format!("{}/kept", lab.base())]);
    let id = lab.session("mine");
    let path = format!("/agents/sessions/{id}");
    lab.turn(&id, "save made.txt kept");
    lab.post("/agents/rules", json!({"scope": {"session_id": id}, "decision": "reject"}));
    let turn =
        lab.post(&format!("{path}/turns"), json!({"prompt": "echo begun\nwait"}))["turn"]["turn_id"].clone();
    // The agent keeps what it is asked: it must have done so before it is told to forget.
    let turn = format!("{path}/turns/{}", turn.as_str().unwrap());
    until("it has begun", || (lab.get(&turn)["turn"]["text"] == "begun").then_some(()));
    assert_eq!(lab.refused("DELETE", &path, None), "409 session_busy");
    assert_eq!(lab.refused("DELETE", &format!("{path}?force=maybe"), None), "400 invalid_parameter");
    let gone = lab.delete(&format!("{path}?force=true&native=true"));
    assert_eq!(
        (&gone["deleted"], &gone["native_deleted"], gone["bytes_freed"].as_i64() > Some(0)),
        (&json!(true), &json!(true), true)
    );
    assert_eq!(lab.refused("GET", &path, None), "404 session_not_found");
    assert_eq!(lab.get("/agents/rules"), json!({"rules": []}));
    assert_eq!(lab.processes("mine"), Vec::<Value>::new());
    // Files of the workspace are left alone.
    assert!(lab.server.base().join("made.txt").exists());
    assert_eq!(std::fs::read_to_string(lab.server.base().join("kept")).unwrap(), "{}");
}

#[test]
fn no_more_sessions_are_open_than_may_be() {
    let lab = Lab::under(
        "server:\n  endpoints:\n    agents_sessions_create:\n      limits: {rate_per_minute: 600}\n",
    );
    lab.register_with("mine", &[], json!({}));
    let mut ids = Vec::new();
    let code = loop {
        let body = json!({"agent_id": "mine", "cwd": lab.base()});
        let (status, body) = lab.ask("POST", "/agents/sessions", Some(body));
        if status != 200 {
            break format!("{status} {}", body["code"].as_str().unwrap());
        }
        ids.push(body["session"]["session_id"].as_str().unwrap().to_owned());
        assert!(ids.len() <= 32);
    };
    // Sixteen processes are the tighter bound where each session has its own.
    assert_eq!((ids.len(), code.as_str()), (16, "429 too_many_processes"));
    lab.post(&format!("/agents/sessions/{}/close", ids[0]), json!({"force": true}));
    lab.session("mine");
}

#[test]
fn a_key_opens_one_session() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let open = |title: &str| {
        let body = json!({"agent_id": "mine", "cwd": lab.base(), "title": title, "idempotency_key": "k"});
        lab.ask("POST", "/agents/sessions", Some(body))
    };
    let (first, again, other) = (open("a"), open("a"), open("b"));
    assert_eq!(first, again);
    assert_eq!((other.0, &other.1["code"]), (409, &json!("idempotency_conflict")));
    assert_eq!(lab.get("/agents/sessions")["counts"], json!({"idle": 1}));
}

#[test]
fn a_tree_of_its_own_is_a_branch_of_the_repository() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(lab.server.base()).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
        assert!(git.args(args).status().unwrap().success(), "{args:?}");
    };
    git(&["init", "--quiet"]);
    std::fs::write(lab.server.base().join("a"), "a").unwrap();
    git(&["add", "a"]);
    git(&["commit", "--quiet", "-m", "first"]);
    let opened =
        lab.post("/agents/sessions", json!({"agent_id": "mine", "cwd": lab.base(), "isolation": "worktree"}));
    let session = &opened["session"];
    assert_eq!((&session["isolation"], &session["origin"]), (&json!("worktree"), &json!(lab.base())));
    let tree = session["cwd"].as_str().unwrap();
    assert!(tree.starts_with(&lab.base()) && tree != lab.base());
    lab.turn(session["session_id"].as_str().unwrap(), "save b text");
    assert!(std::path::Path::new(tree).join("b").exists() && !lab.server.base().join("b").exists());
}
