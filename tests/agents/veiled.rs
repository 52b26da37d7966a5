//! The stream of a turn for one who may prompt but not read files: what came out of files is left out.

use crate::follow::{Event, Follower};
use crate::lab::Lab;
use crate::server::Setup;
use serde_json::{Value, json};

const POLICY: &str = "server:
  auth:
    tokens:
      - {id: boss, token_env: BOSS, scopes: ['agents:read', 'agents:run', 'agents:manage', 'files:read']}
      - {id: helper, token_env: HELPER, scopes: ['agents:read', 'agents:run']}
";

const BOSS: &str = "boss-secret";
const HELPER: &str = "helper-secret";

/// Everything that carries what came out of files, but for the reply that it waits for.
const PROMPT: &str = "updates\nunknown\nimage\nterminal echo terminal-content\nwrite a.txt file-content\npermission_edit a.txt";

/// The events of one turn, its request answered by another caller.
fn stream(lab: &Lab, session: &str, token: &str) -> Vec<Event> {
    let path = format!("/agents/sessions/{session}/turns/stream");
    let body = json!({"prompt": PROMPT});
    let mut stream = Follower::ask(lab.server.port, "POST", &path, Some(token), Some(&body), None);
    assert_eq!(stream.status, 200);
    let mut events = stream.until("permission.requested");
    let request = events.last().unwrap().data["data"]["request_id"].as_str().unwrap();
    lab.post(&format!("/agents/requests/{request}/decision"), json!({"decision": "allow"}));
    events.extend(stream.all());
    assert_eq!(events.last().unwrap().kind, "turn.completed", "{events:#?}");
    events
}

fn hidden(events: &[Event]) -> Vec<&str> {
    let hidden = events.iter().filter(|event| event.data["data"]["hidden"] == true);
    let mut kinds: Vec<&str> = hidden.map(|event| event.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn text(events: &[Event]) -> String {
    events.iter().map(|event| event.data.to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn who_may_not_read_files_sees_that_there_was_something_and_not_what() {
    let setup = Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "agents").policy(POLICY);
    let lab = Lab::with(setup.env("BOSS", BOSS).env("HELPER", HELPER)).token(BOSS);
    lab.register_with("mine", &[], json!({"client_fs": true, "client_terminal": true}));
    let session = lab.session_with("mine", json!({"trace": true}));
    let open = stream(&lab, &session, BOSS);
    let veiled = stream(&lab, &session, HELPER);

    // The input and the output of a tool, its content, a diff, what nobody knows.
    let secrets = ["\"raw_input\"", "\"raw_output\"", "aaa", "new\\n", "\"what\":[1,2]"];
    for secret in secrets {
        assert!(text(&open).contains(secret), "{secret}: {:#?}", open);
        assert!(!text(&veiled).contains(secret), "{secret}: {:#?}", veiled);
    }
    let printed = |events: &[Event]| {
        let printed = events.iter().filter(|event| event.kind == "terminal.output");
        printed.filter_map(|event| event.data["data"]["data"].as_str().map(str::to_owned)).collect::<String>()
    };
    assert_eq!((printed(&open).as_str(), printed(&veiled).as_str()), ("terminal-content\n", ""));
    assert_eq!(hidden(&open), Vec::<&str>::new());
    // An event whose frame alone is left out says so too: these are left out whole or in part.
    let left_out = hidden(&veiled);
    for kind in ["ext", "permission.requested", "terminal.output", "tool_call.created", "tool_call.updated"] {
        assert!(left_out.contains(&kind), "{kind}: {left_out:?}");
    }
    // Nothing is missing but what is hidden, and nothing has a frame of the agent's with it. The image is kept once.
    let kinds = |events: &[Event]| {
        let mut kinds: Vec<String> = events.iter().map(|event| event.kind.clone()).collect();
        kinds.retain(|kind| kind != "artifact.created");
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds(&open), kinds(&veiled));
    assert!(open.iter().chain(&veiled).all(|event| event.data.get("raw").is_none()));
    let said = |events: &[Event]| -> Vec<Value> {
        let chunks = events.iter().filter(|event| event.kind == "message.chunk");
        let texts = chunks.map(|event| event.data["data"]["content"]["text"].clone());
        texts.filter(|text| text == "Hel" || text == "known").collect()
    };
    assert_eq!(said(&veiled), [json!("Hel"), json!("known")]);
}
