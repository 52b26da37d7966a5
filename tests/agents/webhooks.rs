//! Webhooks: signed, ordered, tried again, and never where the rules do not let them.

use crate::lab::{Lab, PATIENCE, until};
use crate::receiver::{Receiver, Reply, Sent};
use crate::server::Setup;
use crate::server::machine::ClosedPort;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

fn hook(lab: &Lab, url: &str, more: &Value) -> Value {
    let mut body = json!({"url": url, "kinds": ["turn.*"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    lab.post("/agents/webhooks", body)
}

fn kinds(sent: &[Sent]) -> Vec<String> {
    sent.iter().map(|sent| sent.json()["event"]["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A server whose base directory and state outlive it.
fn lasting(dir: &Path, policy: &str) -> Lab {
    let name = |part: &str| dir.join(part).display().to_string();
    std::fs::create_dir_all(dir.join("base")).unwrap();
    let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").no_base_dir().policy(policy);
    let setup = setup.arg("--base-dir").arg(&name("base")).arg("--state-dir").arg(&name("state"));
    Lab { server: setup.start(), token: None }
}

fn session_in(lab: &Lab, dir: &Path) -> String {
    lab.session_with("mine", json!({"cwd": dir.join("base").display().to_string()}))
}

#[test]
fn a_webhook_is_pinged_changed_listed_and_deleted() {
    let receiver = Receiver::start(|_, _| Reply::status(204));
    let lab = Lab::start();
    let made = hook(&lab, &receiver.url("/in?a=1"), &json!({"secret": "canary-key", "ping": true}));
    assert_eq!(made["ping_result"]["status"], 204);
    let id = made["webhook"]["webhook_id"].as_str().unwrap().to_owned();
    assert_eq!(
        made["webhook"],
        json!({"webhook_id": id, "url": receiver.url("/in?a=1"), "kinds": ["turn.*"], "filter": {}, "enabled": true,
            "has_secret": true, "created_at": made["webhook"]["created_at"],
            "updated_at": made["webhook"]["updated_at"], "pending": 0, "last_deliveries": []})
    );
    let ping = receiver.sent()[0].clone();
    assert_eq!((ping.path.as_str(), &ping.json()["event"]["kind"]), ("/in?a=1", &json!("ping")));
    let change = json!({"webhook_id": id, "kinds": ["*"], "filter": {"label": "a:b"}, "enabled": false});
    let changed = lab.post("/agents/webhooks", change)["webhook"].clone();
    assert_eq!(
        (&changed["kinds"], &changed["filter"], &changed["enabled"], &changed["has_secret"]),
        (&json!(["*"]), &json!({"label": "a:b"}), &json!(false), &json!(true))
    );
    let listed = lab.get("/agents/webhooks");
    assert_eq!(listed["webhooks"], json!([changed]));
    assert!(!listed.to_string().contains("canary"));
    let gone = lab.delete(&format!("/agents/webhooks/{id}"));
    assert_eq!(gone, json!({"webhook_id": id, "deleted": true, "dropped": 0}));
    assert_eq!(lab.refused("DELETE", &format!("/agents/webhooks/{id}"), None), "404 webhook_not_found");
}

#[test]
fn what_is_no_webhook_or_not_allowed_is_refused() {
    let lab = Lab::under("endpoints: {agents_webhooks_set: {params: {block_private_networks: true}}}");
    for (body, wanted) in [
        (json!({"kinds": ["ext"]}), "400 invalid_webhook"),
        (json!({"url": "http://example.com/"}), "400 invalid_webhook"),
        (json!({"url": "http://example.com/", "kinds": []}), "400 invalid_webhook"),
        (json!({"url": "http://example.com/", "kinds": ["Nope!"]}), "400 invalid_webhook"),
        (
            json!({"url": "http://example.com/", "kinds": ["ext"], "filter": {"x": "y"}}),
            "400 invalid_webhook",
        ),
        (json!({"url": "http://example.com/", "kinds": ["ext"], "secret": ""}), "400 invalid_webhook"),
        (json!({"url": "nonsense", "kinds": ["ext"]}), "400 invalid_webhook"),
        (json!({"url": "http://a:b@example.com/", "kinds": ["ext"]}), "400 invalid_webhook"),
        (json!({"url": "http://x/", "kinds": "ext"}), "400 invalid_parameter"),
        (json!({"webhook_id": "whk_none", "url": "http://x/", "kinds": ["ext"]}), "404 webhook_not_found"),
        (json!({"url": "http://127.0.0.1/", "kinds": ["ext"]}), "403 url_not_allowed"),
        (json!({"url": "http://0177.0.0.1/", "kinds": ["ext"]}), "403 url_not_allowed"),
        (json!({"url": "http://[::ffff:7f00:1]/", "kinds": ["ext"]}), "403 url_not_allowed"),
        (json!({"url": "http://ok.com@127.0.0.1/", "kinds": ["ext"]}), "403 url_not_allowed"),
        (json!({"url": "ftp://example.com/", "kinds": ["ext"]}), "403 url_not_allowed"),
    ] {
        assert_eq!(lab.refused("POST", "/agents/webhooks", Some(body.clone())), wanted, "{body}");
    }
    assert_eq!(lab.get("/agents/webhooks")["webhooks"], json!([]));
    let open = Lab::start();
    for _ in 0..32 {
        hook(&open, "http://127.0.0.1:9/", &json!({}));
    }
    let more = json!({"url": "http://127.0.0.1:9/", "kinds": ["ext"]});
    assert_eq!(open.refused("POST", "/agents/webhooks", Some(more)), "429 webhook_limit");
}

#[test]
fn a_receiver_that_fails_twice_gets_everything_in_order_and_signed() {
    let receiver = Receiver::start(|_, before| Reply::status(if before < 2 { 503 } else { 200 }));
    let lab = Lab::start();
    lab.register("mine", &[]);
    hook(&lab, &receiver.url("/"), &json!({"secret": "key"}));
    let session = lab.session("mine");
    lab.turn(&session, "echo hello");
    let sent = until("all deliveries", || Some(receiver.sent()).filter(|sent| sent.len() >= 5));
    assert_eq!(
        kinds(&sent),
        ["turn.queued", "turn.queued", "turn.queued", "turn.started", "turn.completed"],
        "the first is tried again, and the others wait for it"
    );
    let ids: Vec<&str> = sent.iter().map(|sent| sent.headers["x-delivery-id"].as_str()).collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[2] != ids[3]);
    for sent in &sent {
        let script =
            r#"printf '%s.%s' "$1" "$2" | openssl dgst -sha256 -hmac key | sed 's/.* //' | tr -d '\n'"#;
        let args = ["-c", script, "sh", &sent.headers["x-timestamp"], &sent.body];
        let signed = std::process::Command::new("sh").args(args).output().unwrap();
        let signed = String::from_utf8(signed.stdout).unwrap();
        assert_eq!(sent.headers["x-signature"], format!("sha256={signed}"));
        assert_eq!(sent.json()["session"]["session_id"], session.as_str());
    }
    let listed = until("the records", || {
        Some(lab.get("/agents/webhooks")["webhooks"][0].clone()).filter(|hook| hook["pending"] == 0)
    });
    let tries: Vec<_> = listed["last_deliveries"].as_array().unwrap().iter().rev().collect();
    assert_eq!((&tries[0]["status"], &tries[0]["attempt"]), (&json!(503), &json!(1)));
    assert_eq!((&tries[2]["status"], &tries[2]["attempt"]), (&json!(200), &json!(3)));
}

#[test]
fn a_slow_receiver_holds_up_no_other() {
    let slow = Receiver::start(|_, _| Reply::status(200).slow(Duration::from_secs(8)));
    let quick = Receiver::start(|_, _| Reply::status(200));
    let lab = Lab::start();
    lab.register("mine", &[]);
    hook(&lab, &slow.url("/"), &json!({}));
    hook(&lab, &quick.url("/"), &json!({}));
    let session = lab.session("mine");
    let begun = Instant::now();
    lab.turn(&session, "echo hello");
    until("the quick deliveries", || (quick.sent().len() >= 3).then_some(()));
    assert!(begun.elapsed() < PATIENCE);
    assert!(slow.sent().len() <= 2, "one at a time for a session");
}

#[test]
fn deliveries_outlive_a_server_whose_receiver_was_down() {
    let dir = tempfile::tempdir().unwrap();
    // A port that nobody listens on for now.
    let closed = ClosedPort::new();
    let first = lasting(dir.path(), "{}");
    first.register("mine", &[]);
    hook(&first, &format!("http://127.0.0.1:{}/", closed.number), &json!({"kinds": ["turn.completed"]}));
    let session = session_in(&first, dir.path());
    first.turn(&session, "echo hello");
    let failed = until("a failed attempt", || {
        let hook = first.get("/agents/webhooks")["webhooks"][0].clone();
        Some(hook).filter(|hook| hook["last_deliveries"][0]["error"] == "not_connected")
    });
    assert_eq!(failed["pending"], 1);
    drop(first);
    let receiver = Receiver::on(closed.open(), |_, _| Reply::status(200));
    let second = lasting(dir.path(), "{}");
    let sent = until("the delivery", || Some(receiver.sent()).filter(|sent| !sent.is_empty()));
    assert_eq!(kinds(&sent), ["turn.completed"]);
    until("nothing left", || (second.get("/agents/webhooks")["webhooks"][0]["pending"] == 0).then_some(()));
    assert_eq!(receiver.sent().len(), 1, "once it has arrived it is not sent again");
}

#[test]
fn the_rules_that_hold_at_the_connection_decide() {
    let dir = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(|_, _| Reply::status(200));
    let first = lasting(dir.path(), "{}");
    first.register("mine", &[]);
    hook(&first, &receiver.url("/"), &json!({}));
    drop(first);
    let strict = "endpoints: {agents_webhooks_set: {params: {block_private_networks: true}}}";
    let second = lasting(dir.path(), strict);
    let session = session_in(&second, dir.path());
    second.turn(&session, "echo hello");
    let tried = until("a refused attempt", || {
        let hook = second.get("/agents/webhooks")["webhooks"][0].clone();
        Some(hook["last_deliveries"][0].clone()).filter(|tried| !tried.is_null())
    });
    assert_eq!((&tried["error"], &tried["kind"]), (&json!("url_not_allowed"), &json!("turn.queued")));
    assert!(receiver.sent().is_empty());
}
