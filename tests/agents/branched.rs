//! The way back with the conversation: files as they were, and a branch that ends where they were so.

use crate::lab::{Lab, until};
use serde_json::{Value, json};
use std::path::PathBuf;

struct Scene {
    lab: Lab,
    session: String,
    cwd: PathBuf,
}

impl Scene {
    /// A session of three turns, the second of which writes a file, and the third changes it.
    fn new(can: &[&str]) -> Self {
        let lab = Lab::start();
        lab.register("mine", can);
        let cwd = lab.server.base().join("project");
        std::fs::create_dir(&cwd).unwrap();
        let session = lab.session_with("mine", json!({"cwd": cwd, "title": "first way"}));
        let scene = Self { lab, session, cwd };
        for prompt in ["echo the first", "echo the second\nsave a.txt one", "echo the third\nsave a.txt two"]
        {
            let turn = scene.lab.turn(&scene.session, prompt);
            assert_eq!(turn["state"], "completed", "{turn}");
            scene.settled(turn["turn_id"].as_str().unwrap());
        }
        scene
    }

    fn path(&self, rest: &str) -> String {
        format!("/agents/sessions/{}{rest}", self.session)
    }

    /// Waits until the workspace after a turn has been kept: until then its changes are not known to be its own.
    fn settled(&self, turn: &str) {
        until("the end of the turn is kept", || {
            let path = self.path(&format!("/changes?from={turn}&to={turn}"));
            (self.lab.ask("GET", &path, None).0 == 200).then_some(())
        });
    }

    /// The points before each turn, the first turn's first.
    fn points(&self) -> Vec<String> {
        let points = self.lab.get(&self.path("/checkpoints"))["checkpoints"].clone();
        let names = points.as_array().unwrap().iter().rev();
        names.map(|point| point["checkpoint_id"].as_str().unwrap().to_owned()).collect()
    }

    fn restore(&self, point: &str, body: Value) -> (u16, Value) {
        self.lab.ask("POST", &self.path(&format!("/checkpoints/{point}/restore")), Some(body))
    }

    fn file(&self) -> Option<String> {
        std::fs::read_to_string(self.cwd.join("a.txt")).ok()
    }
}

#[test]
fn a_branch_ends_where_the_files_were_so() {
    let scene = Scene::new(&["--can", "fork"]);
    let before = scene.lab.get(&scene.path(""))["session"].clone();
    let third = scene.points()[2].clone();
    let (status, preview) = scene.restore(&third, json!({"dry_run": true, "conversation": "fork"}));
    assert_eq!(
        (status, preview.get("session"), scene.file()),
        (200, None, Some("two".to_owned())),
        "{preview}"
    );
    let (status, done) = scene.restore(&third, json!({"conversation": "fork"}));
    assert_eq!(
        (status, &done["verified"], &done["restored"]),
        (200, &json!(true), &json!(["a.txt"])),
        "{done}"
    );
    assert_eq!(scene.file().as_deref(), Some("one"));
    let branch = &done["session"];
    assert_eq!(
        (&branch["parent_id"], &branch["state"], &branch["cwd"], &branch["title"]),
        (&json!(scene.session), &json!("idle"), &before["cwd"], &json!("first way"))
    );
    // It knows what was said until then, and nothing of what came later.
    let told = scene.lab.turn(branch["session_id"].as_str().unwrap(), "blocks")["text"].clone();
    let told = told.as_str().unwrap();
    assert!(told.contains("the first") && told.contains("the second"), "{told}");
    assert!(!told.contains("the third"), "{told}");
    // The first conversation stands as it did, and goes on.
    let after = scene.lab.get(&scene.path("/turns"))["turns"].clone();
    assert_eq!(after.as_array().unwrap().len(), 3);
    assert_eq!(scene.lab.turn(&scene.session, "echo on")["text"], "on");
}

#[test]
fn where_nothing_was_said_before_there_is_no_branch_and_nothing_is_done() {
    let scene = Scene::new(&[]);
    let first = scene.points()[0].clone();
    let (status, refused) = scene.restore(&first, json!({"conversation": "fork"}));
    assert_eq!((status, &refused["code"]), (404, &json!("turn_not_found")));
    assert_eq!(scene.file().as_deref(), Some("two"));
    let (status, refused) = scene.restore(&first, json!({"conversation": "burn"}));
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_parameter")));
    let (status, kept) = scene.restore(&first, json!({"conversation": "keep"}));
    assert_eq!((status, kept.get("session"), scene.file()), (200, None, None), "{kept}");
    let all = scene.lab.get("/agents/sessions")["sessions"].clone();
    assert_eq!(all.as_array().unwrap().len(), 1);
}

#[test]
fn a_native_branch_is_loaded_again_when_its_agent_was_killed() {
    let lab = Lab::start();
    lab.register("mine", &["--can", "fork,load", "--store", &format!("{}/kept", lab.base())]);
    let parent = lab.session("mine");
    lab.turn(&parent, "echo the first");
    let before = lab.get(&format!("/agents/sessions/{parent}"))["session"].clone();
    let fork = lab.post(&format!("/agents/sessions/{parent}/fork"), json!({"require_native": true}));
    let branch = fork["session"]["session_id"].as_str().unwrap().to_owned();
    let native = fork["session"]["native_session_id"].clone();
    assert_ne!(native, before["native_session_id"]);
    lab.turn(&branch, "echo of the branch");
    let shown = lab.get(&format!("/agents/sessions/{branch}"))["session"].clone();
    lab.delete(&format!("/agents/processes/{}?force=true", shown["process_id"].as_str().unwrap()));
    let resumed = lab.post(&format!("/agents/sessions/{branch}/resume"), json!({"allow": ["load"]}));
    // What it repeats is both turns, with what was asked and what was said, and none of it is told again.
    assert_eq!(
        (&resumed["continuity"], &resumed["replayed_updates"], &resumed["session"]["native_session_id"]),
        (&json!("native"), &json!(4), &native)
    );
    assert_eq!(lab.turn(&branch, "echo once more")["text"], "once more");
    let said = lab.get(&format!("/agents/sessions/{branch}/items?kinds=agent_message"))["items"].clone();
    let said: Vec<&Value> = said.as_array().unwrap().iter().map(|item| &item["text"]).collect();
    assert_eq!(said, ["of the branch", "once more"]);
    let after = lab.get(&format!("/agents/sessions/{parent}"))["session"].clone();
    assert_eq!((&after["last_seq"], &after["state"]), (&before["last_seq"], &json!("idle")));
}

#[test]
fn a_branch_that_its_agent_has_only_named_is_taken_up_when_it_is_prompted() {
    for (can, known) in [("fork,resume,load", true), ("fork,load", true), ("fork", false)] {
        let lab = Lab::start();
        lab.register("mine", &["--sleepy", "--can", can, "--store", &format!("{}/kept", lab.base())]);
        let parent = lab.session("mine");
        lab.turn(&parent, "echo the first");
        let fork = lab.post(&format!("/agents/sessions/{parent}/fork"), json!({"require_native": true}));
        assert_eq!(fork["continuity"], "native");
        let branch = fork["session"]["session_id"].as_str().unwrap().to_owned();
        let turn = lab.turn(&branch, "echo of the branch");
        let wanted = if known { ("completed", "of the branch") } else { ("failed", "") };
        assert_eq!(
            (turn["state"].as_str(), turn["text"].as_str()),
            (Some(wanted.0), Some(wanted.1)),
            "{can}: {turn}"
        );
        if !known {
            assert_eq!(turn["error"]["rpc_error"]["code"], -32002, "what it said at first: {turn}");
            continue;
        }
        assert_eq!(lab.turn(&branch, "echo on")["text"], "on");
        // What was asked is told once, and what it repeated of its parent is not told again.
        let items =
            lab.get(&format!("/agents/sessions/{branch}/items?kinds=user_message,agent_message"))["items"]
                .clone();
        let told: Vec<&Value> = items.as_array().unwrap().iter().map(|item| &item["text"]).collect();
        assert_eq!(told, ["echo of the branch", "of the branch", "echo on", "on"], "{can}");
    }
}
