//! What a session that came from elsewhere knows of its work: which turn changed what, and how the workspace was.

use crate::bundles::{archive, manifest, unpacked};
use crate::lab::{Lab, until};
use serde_json::{Value, json};
use std::path::PathBuf;

struct Scene {
    lab: Lab,
    session: String,
    turns: Vec<String>,
}

fn project(lab: &Lab, files: &[(&str, &str)]) -> PathBuf {
    let cwd = lab.server.base().join("project");
    std::fs::create_dir_all(&cwd).unwrap();
    for (name, text) in files {
        std::fs::write(cwd.join(name), text).unwrap();
    }
    cwd
}

/// Two turns, each of which changes a file, with a change by somebody else between them.
fn worked() -> Scene {
    let lab = Lab::start();
    lab.register("mine", &[]);
    let cwd = project(&lab, &[("a.txt", "zero\n")]);
    let session = lab.session_with("mine", json!({"cwd": cwd}));
    let mut turns = Vec::new();
    for prompt in ["save a.txt one", "save b.txt two"] {
        let turn = lab.turn(&session, prompt);
        assert_eq!(turn["state"], "completed", "{turn}");
        let turn = turn["turn_id"].as_str().unwrap().to_owned();
        until("the end of the turn is kept", || {
            let path = format!("/agents/sessions/{session}/changes?from={turn}&to={turn}");
            (lab.ask("GET", &path, None).0 == 200).then_some(())
        });
        std::fs::write(cwd.join("foreign.txt"), prompt).unwrap();
        turns.push(turn);
    }
    Scene { lab, session, turns }
}

fn export(scene: &Scene) -> String {
    let bundle = scene.lab.get(&format!("/agents/sessions/{}/export?format=bundle", scene.session));
    bundle["content_base64"].as_str().unwrap().to_owned()
}

fn changes(lab: &Lab, session: &str, query: &str) -> Value {
    lab.get(&format!("/agents/sessions/{session}/changes{query}"))["files"].clone()
}

#[test]
fn changes_are_told_apart_elsewhere_as_they_were_here() {
    let here = worked();
    let [first, second] = [&here.turns[0], &here.turns[1]];
    let wanted = changes(&here.lab, &here.session, "");
    let by: Vec<Value> =
        wanted.as_array().unwrap().iter().map(|file| json!([file["path"], file["turn_ids"]])).collect();
    assert_eq!(json!(by), json!([["a.txt", [first]], ["b.txt", [second]], ["foreign.txt", []]]));
    let there = Lab::start();
    let last = [("a.txt", "one"), ("b.txt", "two"), ("foreign.txt", "save b.txt two")];
    let cwd = project(&there, &last);
    let content = export(&here);
    let imported = there.post("/agents/imports", json!({"content_base64": content, "cwd": cwd}));
    assert_eq!(imported["session"]["session_id"], here.session);
    assert_eq!(changes(&there, &here.session, ""), wanted);
    for turn in [first, second] {
        let one = format!("?from={turn}&to={turn}");
        assert_eq!(changes(&there, &here.session, &one), changes(&here.lab, &here.session, &one), "{turn}");
    }
    // Out again it is the same.
    let again = Scene { lab: there, session: here.session.clone(), turns: Vec::new() };
    let (sent, again) = (unpacked(&content), unpacked(&export(&again)));
    assert!(!sent["spans.jsonl"].is_empty());
    assert_eq!(sent["spans.jsonl"], again["spans.jsonl"]);
}

#[test]
fn under_other_names_they_are_told_apart_too() {
    let here = worked();
    // A directory of its own: in a shared one nobody's changes are told apart.
    let cwd = here.lab.server.base().join("copy");
    std::fs::create_dir(&cwd).unwrap();
    for name in ["a.txt", "b.txt", "foreign.txt"] {
        std::fs::copy(here.lab.server.base().join("project").join(name), cwd.join(name)).unwrap();
    }
    let body = json!({"content_base64": export(&here), "cwd": cwd});
    let copy = here.lab.post("/agents/imports", body)["session"]["session_id"].as_str().unwrap().to_owned();
    assert_ne!(copy, here.session);
    let turns = here.lab.get(&format!("/agents/sessions/{copy}/turns"))["turns"].clone();
    let turns: Vec<&Value> = turns.as_array().unwrap().iter().map(|turn| &turn["turn_id"]).collect();
    assert!(turns.iter().all(|turn| !here.turns.contains(&turn.as_str().unwrap().to_owned())));
    let files = changes(&here.lab, &copy, "");
    let by = |at: usize| files[at]["turn_ids"].as_array().unwrap().clone();
    assert!(by(0).len() == 1 && by(1).len() == 1 && by(0) != by(1), "{files}");
    assert!(by(0).iter().chain(&by(1)).all(|turn| turns.contains(&turn)), "{files}");
    assert_eq!(by(2), Vec::<Value>::new());
}

#[test]
fn a_span_that_does_not_fit_is_refused() {
    let here = worked();
    let whole = unpacked(&export(&here));
    let [first, second] = [&here.turns[0], &here.turns[1]];
    let text = String::from_utf8(whole["spans.jsonl"].clone()).unwrap();
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let (tree, point) = (line["end_tree"].as_str().unwrap(), line["checkpoint_id"].as_str().unwrap());
    for (from, to) in [
        (first.as_str(), "trn_01ARZ3NDEKTSV4RRFFQ69G5FA9"),
        (second.as_str(), first.as_str()),
        (point, "chk_01ARZ3NDEKTSV4RRFFQ69G5FA9"),
        (tree, &"0".repeat(tree.len())),
        ("\"ended_at\":", "\"begun_at\":"),
    ] {
        assert!(text.contains(from), "{from}");
        let mut entries = whole.clone();
        entries.remove("manifest.json");
        entries.insert("spans.jsonl".to_owned(), text.replace(from, to).into_bytes());
        let content = archive(&entries, &manifest(&entries));
        let body = json!({"content_base64": content, "cwd": here.lab.base()});
        assert_eq!(here.lab.refused("POST", "/agents/imports", Some(body)), "400 import_invalid", "{to}");
    }
}
