//! An agent under a server of root whose children are somebody else: it is that user through and through.

use crate::lab::{Lab, peer};
use crate::server::Setup;
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

/// A user that no list knows.
const STRANGER: u32 = 61235;

fn open(path: &std::path::Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Needs root, and passes without.
#[test]
fn an_agent_runs_as_the_child_user_and_its_workspace_stays_its_own() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let setup = Setup::new().arg("--child-user").arg(&format!("{STRANGER}:{STRANGER}"));
    let lab = Lab::with(setup.env("ABX_SERVER_ENABLED_GROUPS", "agents").env("HOME", "/root"));
    // The program lies where the stranger gets at it, and the workspace is theirs.
    let (dir, base) = (lab.server.dir.path(), lab.server.base());
    let agent = dir.join("agent");
    std::fs::copy(peer(), &agent).unwrap();
    [dir, &agent].into_iter().for_each(open);
    let cwd = base.join("project");
    std::fs::create_dir(&cwd).unwrap();
    std::fs::write(cwd.join("kept.txt"), "one\n").unwrap();
    for path in [&base, &cwd, &cwd.join("kept.txt")] {
        chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
    }
    lab.post("/agents/catalog", json!({"id": "mine", "command": agent, "client_terminal": true}));
    lab.post("/agents/credentials", json!({"name": "SCRIPTED_KEY", "value": "canary-value"}));
    let session = lab.session_with("mine", json!({"cwd": cwd}));
    let state = dir.join("state/agents");
    let turn = lab.turn(
        &session,
        &format!(
            "terminal id -u\nterminal id -g\nenv HOME\nterminal cat {0}/agents.db\nterminal cat {0}/credentials.json\n\
             save made.txt by the agent\nsave kept.txt two",
            state.display(),
        ),
    );
    assert_eq!(turn["state"], "completed", "{turn}");
    let text = turn["text"].as_str().unwrap();
    assert_eq!(text.matches(&format!("\"output\":\"{STRANGER}\\n\"")).count(), 2, "{text}");
    assert!(text.contains("HOME=/") && !text.contains("HOME=/root"), "{text}");
    assert_eq!(text.matches("Permission denied").count(), 2, "{text}");
    // The process itself, as the kernel knows it.
    let pid = lab.processes("mine")[0]["pid"].clone();
    let owner = std::fs::metadata(format!("/proc/{pid}")).unwrap();
    assert_eq!((owner.uid(), owner.gid()), (STRANGER, STRANGER));
    let owners = || -> Vec<(String, u32)> {
        let mut owners: Vec<(String, u32)> = std::fs::read_dir(&cwd)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().uid())
            })
            .collect();
        owners.sort();
        owners
    };
    let theirs = |names: &[&str]| -> Vec<(String, u32)> {
        names.iter().map(|name| ((*name).to_owned(), STRANGER)).collect()
    };
    assert_eq!(owners(), theirs(&["kept.txt", "made.txt"]));
    assert_eq!(turn["changes"], json!({"added": ["made.txt"], "modified": ["kept.txt"], "deleted": []}));
    // What is put back is theirs too: the agent changes it again.
    let points = lab.get(&format!("/agents/sessions/{session}/checkpoints"))["checkpoints"].clone();
    let point = points[0]["checkpoint_id"].as_str().unwrap();
    let path = format!("/agents/sessions/{session}/checkpoints/{point}/restore");
    let done: Value = lab.post(&path, json!({"on_conflict": "overwrite"}));
    assert_eq!((&done["verified"], &done["skipped"]), (&json!(true), &json!([])), "{done}");
    assert_eq!(owners(), theirs(&["kept.txt"]));
    assert_eq!(lab.turn(&session, "save kept.txt three")["state"], "completed");
    assert_eq!(std::fs::read_to_string(cwd.join("kept.txt")).unwrap(), "three");
}
