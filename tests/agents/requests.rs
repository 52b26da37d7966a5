//! Requests of agents: asked, answered once, expired, lost; and the rules that answer in a person's place.

use crate::client::Client;
use crate::lab::{Lab, until};
use crate::log;
use serde_json::{Value, json};

/// Prompts for one request and yields it.
fn asked(lab: &Lab, session: &str, prompt: &str) -> Value {
    let turn = lab.turn(session, prompt);
    assert_eq!(turn["state"], "waiting", "{turn}");
    turn["pending_requests"][0].clone()
}

fn id(request: &Value) -> &str {
    request["request_id"].as_str().unwrap()
}

fn after(lab: &Lab, session: &str, request: &Value) -> Value {
    let turn = request["turn_id"].as_str().unwrap();
    lab.get(&format!("/agents/sessions/{session}/turns/{turn}?wait_ms=60000"))["turn"].clone()
}

fn decide(lab: &Lab, request: &Value, body: Value) -> Value {
    lab.post(&format!("/agents/requests/{}/decision", id(request)), body)
}

#[test]
fn a_person_allows_and_rejects() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    for (body, said, chosen) in [
        (json!({"decision": "allow"}), "allowed by allow-once", "allow-once"),
        (json!({"decision": "reject"}), "rejected by reject-once", "reject-once"),
        (json!({"option_id": "allow-always"}), "allowed by allow-always", "allow-always"),
        (
            json!({"option_id": "reject-always", "note": "never"}),
            "rejected by reject-always",
            "reject-always",
        ),
    ] {
        let request = asked(&lab, &session, "permission ls");
        assert_eq!(
            (&request["kind"], &request["title"], &request["tool_kind"], &request["raw_input"]),
            (&json!("permission"), &json!("ls"), &json!("execute"), &json!({"command": "ls"}))
        );
        assert_eq!(request["options"].as_array().unwrap().len(), 4);
        assert_eq!(lab.get(&format!("/agents/sessions/{session}"))["session"]["state"], "waiting");
        let decided = decide(&lab, &request, body.clone());
        assert_eq!((&decided["delivered"], &decided["request"]["state"]), (&json!(true), &json!("answered")));
        assert_eq!(decided["request"]["answer"]["option_id"], chosen);
        assert_eq!(decided["request"]["answered_by"], "anonymous");
        assert_eq!(after(&lab, &session, &request)["text"], said, "{body}");
        let (status, again) =
            lab.ask("POST", &format!("/agents/requests/{}/decision", id(&request)), Some(body));
        assert_eq!((status, &again["code"]), (409, &json!("request_resolved")));
        assert_eq!(again["answer"]["option_id"], chosen);
    }
}

#[test]
fn what_is_no_decision_is_refused_and_the_request_waits_on() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let request = asked(&lab, &session, "permission ls");
    let path = format!("/agents/requests/{}/decision", id(&request));
    for (body, code) in [
        (json!({}), "400 missing_parameter"),
        (json!({"decision": "perhaps"}), "400 invalid_parameter"),
        (json!({"decision": "allow", "option_id": "allow-once"}), "400 invalid_parameter"),
        (json!({"option_id": "unheard-of"}), "400 invalid_option"),
        (json!({"decision": "allow", "on_reject": "cry"}), "400 invalid_parameter"),
        (json!({"decision": "allow", "remember": {"match": {"command_glob": "[x"}}}), "400 invalid_rule"),
        (json!({"decision": "allow", "remember": []}), "400 invalid_rule"),
    ] {
        assert_eq!(lab.refused("POST", &path, Some(body.clone())), code, "{body}");
    }
    let answer = format!("/agents/requests/{}/answer", id(&request));
    assert_eq!(lab.refused("POST", &answer, Some(json!({"action": "accept"}))), "409 wrong_kind");
    for path in ["/agents/requests/req_x/decision", "/agents/requests/req_x/answer"] {
        let body = json!({"decision": "allow", "action": "accept"});
        assert_eq!(lab.refused("POST", path, Some(body)), "404 request_not_found");
    }
    let listed = lab.get("/agents/requests");
    assert_eq!(listed["requests"][0]["request_id"], request["request_id"]);
    decide(&lab, &request, json!({"decision": "allow"}));
    assert_eq!(lab.get("/agents/requests"), json!({"requests": [], "next_cursor": null}));
}

#[test]
fn two_race_and_one_wins() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    for _ in 0..5 {
        let request = asked(&lab, &session, "permission ls");
        let path = format!("/agents/requests/{}/decision", id(&request));
        let port = lab.server.port;
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let race = |decision: &'static str| {
                let path = path.clone();
                scope.spawn(move || {
                    let body = json!({"decision": decision}).to_string();
                    Client::new(port).ask("POST", &path, None, Some(&body)).status
                })
            };
            let racers = [race("allow"), race("reject"), race("allow"), race("reject")];
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 3, "{statuses:?}");
        after(&lab, &session, &request);
    }
}

#[test]
fn three_open_requests_are_still_there_for_another_client() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let sessions: Vec<String> = (0..3).map(|_| lab.session("mine")).collect();
    for session in &sessions[..2] {
        asked(&lab, session, "permission ls");
    }
    asked(&lab, &sessions[2], "form");
    let all = lab.get("/agents/requests?limit=2");
    assert_eq!(all["requests"].as_array().unwrap().len(), 2);
    let rest = lab.get(&format!("/agents/requests?cursor={}", all["next_cursor"].as_str().unwrap()));
    assert_eq!(rest["requests"][0]["kind"], "question");
    let one = lab.get(&format!("/agents/requests?session_id={}", sessions[1]));
    assert_eq!(one["requests"].as_array().unwrap().len(), 1);
    assert_eq!(lab.get("/agents/requests?kind=question")["requests"].as_array().unwrap().len(), 1);
    for query in ["state=open", "kind=plea", "limit=0"] {
        let refused = lab.refused("GET", &format!("/agents/requests?{query}"), None);
        assert_eq!(refused, "400 invalid_parameter", "{query}");
    }
    // Its agent's end is the end of a request.
    lab.post(&format!("/agents/sessions/{}/close", sessions[0]), json!({"force": true}));
    let ended = lab.get(&format!("/agents/requests?session_id={}&state=any", sessions[0]));
    assert_eq!(ended["requests"][0]["state"], "cancelled");
}

#[test]
fn a_cancel_answers_what_is_open() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    for prompt in ["permission ls", "form"] {
        let request = asked(&lab, &session, prompt);
        let turn = request["turn_id"].as_str().unwrap();
        let done = lab.post(&format!("/agents/sessions/{session}/turns/{turn}/cancel"), json!({}));
        assert_eq!(done["requests_cancelled"], json!([id(&request)]));
        assert_eq!(
            (&done["turn"]["state"], &done["forced"]),
            (&json!("cancelled"), &json!(false)),
            "{prompt}"
        );
        let shown = lab.get(&format!("/agents/requests?state=any&request_id={}", id(&request)));
        assert_eq!(shown["requests"][0]["state"], "cancelled");
    }
    let request = asked(&lab, &session, "permission ls");
    decide(&lab, &request, json!({"decision": "reject", "on_reject": "cancel_turn"}));
    assert_eq!(after(&lab, &session, &request)["state"], "cancelled");
}

#[test]
fn time_answers_for_nobody() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    for (on_timeout, state) in [("reject", "completed"), ("cancel_turn", "cancelled")] {
        let policy = json!({"default": "ask", "timeout_seconds": 0.3, "on_timeout": on_timeout});
        let session = lab.session_with("mine", json!({"policy": policy}));
        let turn = lab.post(&format!("/agents/sessions/{session}/turns"), json!({"prompt": "permission ls"}));
        let turn = turn["turn"]["turn_id"].as_str().unwrap();
        let done = lab.get(&format!("/agents/sessions/{session}/turns/{turn}?wait_ms=60000"));
        assert_eq!(done["turn"]["state"], state, "{done}");
        let shown = lab.get(&format!("/agents/requests?state=expired&session_id={session}"));
        assert_eq!(shown["requests"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_stricter_policy_holds_for_what_is_open() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let request = asked(&lab, &session, "permission ls");
    lab.post(&format!("/agents/sessions/{session}"), json!({"policy": {"default": "deny_all"}}));
    assert_eq!(after(&lab, &session, &request)["text"], "rejected by reject-once");
    let shown = lab.get(&format!("/agents/requests?state=any&request_id={}", id(&request)));
    assert_eq!(shown["requests"][0]["answered_by"], "policy");
}

#[test]
fn a_form_is_answered_by_its_schema() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let request = asked(&lab, &session, "form");
    assert_eq!((&request["kind"], &request["message"]), (&json!("question"), &json!("Which one?")));
    let path = format!("/agents/requests/{}/answer", id(&request));
    let content = json!({"colour": "green", "count": 9, "sure": "yes", "mail": "nobody", "other": 1});
    let (status, body) = lab.ask("POST", &path, Some(json!({"action": "accept", "content": content})));
    assert_eq!((status, &body["code"]), (400, &json!("invalid_answer")));
    let mut fields: Vec<&str> =
        body["problems"].as_array().unwrap().iter().map(|one| one["field"].as_str().unwrap()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["colour", "count", "mail", "other", "sure"]);
    for (body, code) in [
        (json!({"action": "accept"}), "400 invalid_answer"),
        (json!({"action": "nod"}), "400 invalid_parameter"),
        (json!({}), "400 missing_parameter"),
        (json!({"action": "accept", "content": []}), "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("POST", &path, Some(body.clone())), code, "{body}");
    }
    let decision = format!("/agents/requests/{}/decision", id(&request));
    assert_eq!(lab.refused("POST", &decision, Some(json!({"decision": "allow"}))), "409 wrong_kind");
    let content = json!({"colour": "red", "count": 3, "sure": true, "mail": "a@example.org"});
    lab.post(&path, json!({"action": "accept", "content": content}));
    let told = after(&lab, &session, &request)["text"].as_str().unwrap().to_owned();
    let told: Value = serde_json::from_str(told.strip_prefix("answered ").unwrap()).unwrap();
    assert_eq!(told, json!({"action": "accept", "content": content}));
    for action in ["decline", "cancel"] {
        let request = asked(&lab, &session, "form");
        lab.post(&format!("/agents/requests/{}/answer", id(&request)), json!({"action": action}));
        let told = after(&lab, &session, &request)["text"].as_str().unwrap().to_owned();
        assert!(told.contains(action), "{told}");
    }
}

#[test]
fn a_page_is_consented_to_and_done_with() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let request = asked(&lab, &session, "url");
    assert_eq!(request["url"], "https://example.test/consent");
    let path = format!("/agents/requests/{}/answer", id(&request));
    let content = json!({"action": "accept", "content": {"a": 1}});
    assert_eq!(lab.refused("POST", &path, Some(content)), "400 invalid_answer");
    lab.post(&path, json!({"action": "accept"}));
    after(&lab, &session, &request);
    let kinds = log::kinds(&lab, &session, &["question"]);
    assert_eq!(kinds, ["question.asked", "question.resolved", "question.completed"]);
    let done = log::read(&lab, &session, &["question.completed"]).remove(0);
    assert_eq!(done["data"], json!({"elicitation_id": "elc-1", "request_id": id(&request)}));
    // That it is done with is no answer: the one that was given stays.
    let items = lab.get(&format!("/agents/sessions/{session}/items?kinds=question"));
    assert_eq!(items["items"][0]["status"], "answered");
    // A page that nobody here was asked to open.
    lab.turn(&session, "done_with elc-9");
    assert_eq!(log::read(&lab, &session, &["question.completed"]).len(), 1);
    let told = log::read(&lab, &session, &["ext"]).remove(0)["data"].clone();
    let params = json!({"elicitationId": "elc-9"});
    assert_eq!(told, json!({"type": "notification", "method": "elicitation/complete", "params": params}));
}

#[test]
fn a_rule_answers_until_it_is_taken_back() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let rule = lab.post(
        "/agents/rules",
        json!({"scope": {"agent_id": "mine"}, "match": {"command_glob": "ls*"}, "decision": "allow"}),
    );
    let rule = rule["rule"]["rule_id"].as_str().unwrap().to_owned();
    assert_eq!(lab.turn(&session, "permission ls -la")["text"], "allowed by allow-once");
    let listed = lab.get("/agents/rules")["rules"][0].clone();
    assert_eq!((&listed["hits"], &listed["decision"]), (&json!(1), &json!("allow")));
    // A second command behind the first is another thing.
    let request = asked(&lab, &session, "permission ls; rm x");
    decide(&lab, &request, json!({"decision": "reject"}));
    after(&lab, &session, &request);
    assert_eq!(lab.delete(&format!("/agents/rules/{rule}")), json!({"rule_id": rule, "deleted": true}));
    assert_eq!(lab.refused("DELETE", &format!("/agents/rules/{rule}"), None), "404 rule_not_found");
    let request = asked(&lab, &session, "permission ls -la");
    let answer = decide(&lab, &request, json!({"decision": "allow", "remember": {}}));
    let remembered = answer["rule_id"].as_str().unwrap();
    after(&lab, &session, &request);
    assert_eq!(lab.turn(&session, "permission ls -la")["state"], "completed");
    let kept = lab.get(&format!("/agents/rules?scope=session&session_id={session}"));
    assert_eq!((&kept["rules"][0]["rule_id"], &kept["rules"][0]["hits"]), (&json!(remembered), &json!(1)));
    let other = lab.session("mine");
    asked(&lab, &other, "permission ls -la");
}

#[test]
fn rules_are_tested_without_being_saved() {
    let lab = Lab::start();
    let call = json!({"tool_kind": "execute", "title": "ls", "raw_input": {"command": "ls; rm x"}});
    let test = |decision: &str| {
        let body = json!({"match": {"command_glob": "ls*"}, "decision": decision, "test": call});
        lab.post("/agents/rules", body)["test_result"]["decision"].clone()
    };
    assert_eq!((test("allow"), test("reject")), (json!("ask"), json!("reject")));
    assert_eq!(lab.get("/agents/rules"), json!({"rules": []}));
    lab.post("/agents/rules", json!({"match": {"tool_kind": "execute"}, "decision": "reject"}));
    let saved = lab.post("/agents/rules", json!({"test": call}));
    assert_eq!((&saved["rule"], &saved["test_result"]["decision"]), (&json!(null), &json!("reject")));
    for (body, code) in [
        (json!({}), "400 missing_parameter"),
        (json!({"decision": "maybe"}), "400 invalid_rule"),
        (json!({"decision": "allow"}), "400 invalid_rule"),
        (json!({"decision": "ask", "match": {"path_glob": "[x"}}), "400 invalid_rule"),
        (json!({"decision": "ask", "match": {"colour": "red"}}), "400 invalid_rule"),
        (json!({"decision": "ask", "scope": {"cwd": "here"}}), "400 invalid_rule"),
        (json!({"decision": "ask", "scope": []}), "400 invalid_rule"),
        (json!({"decision": "ask", "expires_at": 1}), "400 invalid_rule"),
        (json!({"decision": "ask", "rule_id": "rul_x"}), "404 rule_not_found"),
    ] {
        assert_eq!(lab.refused("POST", "/agents/rules", Some(body.clone())), code, "{body}");
    }
    assert_eq!(lab.refused("GET", "/agents/rules?scope=moon", None), "400 invalid_parameter");
}

#[test]
fn scopes_bound_who_may_answer_remember_and_see() {
    let policy = "server:
  auth:
    tokens:
      - {id: boss, token_env: BOSS, scopes: ['agents:read', 'agents:run', 'agents:manage', 'files:read']}
      - {id: helper, token_env: HELPER, scopes: ['agents:read', 'agents:run']}
      - {id: guest, token_env: GUEST, scopes: ['agents:read']}
";
    let setup = crate::server::Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(policy);
    let setup = setup.env("BOSS", "boss-secret").env("HELPER", "helper-secret").env("GUEST", "guest-secret");
    let mut lab = Lab::with(setup).token("boss-secret");
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let request = asked(&lab, &session, "permission_edit a.txt");
    assert_eq!(request["diffs"][0]["new_text"], "new\n");
    let path = format!("/agents/requests/{}/decision", id(&request));
    lab = lab.token("guest-secret");
    let seen = lab.get("/agents/requests")["requests"][0].clone();
    assert_eq!((&seen["diffs"], &seen["title"]), (&json!(null), &json!("Edit a.txt")));
    assert_eq!(lab.refused("POST", &path, Some(json!({"decision": "allow"}))), "403 missing_scope");
    assert_eq!(lab.refused("POST", "/agents/sessions", Some(json!({}))), "403 missing_scope");
    lab = lab.token("helper-secret");
    let wide = json!({"decision": "allow", "remember": {"scope": {"agent_id": "mine"}, "match": {"tool_kind": "edit"}}});
    assert_eq!(lab.refused("POST", &path, Some(wide)), "403 missing_scope");
    assert_eq!(lab.refused("POST", "/agents/rules", Some(json!({"decision": "ask"}))), "403 missing_scope");
    let delete = format!("/agents/sessions/{session}");
    assert_eq!(lab.refused("DELETE", &delete, None), "403 missing_scope");
    let own = json!({"decision": "allow", "remember": {"match": {"tool_kind": "edit"}}});
    assert!(lab.post(&path, own)["rule_id"].is_string());
    until("the turn ends", || {
        (lab.get(&format!("/agents/sessions/{session}"))["session"]["state"] == "idle").then_some(())
    });
}
