//! What a session changes on disk, and the way back: with the agent's own tools and behind its back.

use crate::lab::{Lab, until};
use crate::receiver::{Receiver, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every file below `dir` by its path, with its content.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut left) = (BTreeMap::new(), vec![dir.to_owned()]);
    while let Some(here) = left.pop() {
        for entry in std::fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn names(values: &Value, member: &str) -> Vec<String> {
    let all = values.as_array().unwrap_or_else(|| panic!("no list: {values}"));
    all.iter().map(|value| value[member].as_str().unwrap_or_default().to_owned()).collect()
}

fn texts(values: &Value) -> Vec<&str> {
    values.as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

struct Scene {
    lab: Lab,
    session: String,
    cwd: PathBuf,
}

impl Scene {
    fn new() -> Self {
        Self::under("{}")
    }

    fn under(policy: &str) -> Self {
        let lab = Lab::under(policy);
        lab.register("mine", &[]);
        let cwd = lab.server.base().join("project");
        std::fs::create_dir(&cwd).unwrap();
        std::fs::write(cwd.join("kept.txt"), "one\ntwo\n").unwrap();
        std::fs::write(cwd.join("gone.txt"), "bye\n").unwrap();
        let session = lab.session_with("mine", json!({"cwd": cwd.display().to_string()}));
        Self { lab, session, cwd }
    }

    fn path(&self, rest: &str) -> String {
        format!("/agents/sessions/{}{rest}", self.session)
    }

    fn turn(&self, prompt: &str) -> String {
        let turn = self.lab.turn(&self.session, prompt);
        assert_eq!(turn["state"], "completed", "{turn}");
        turn["turn_id"].as_str().unwrap().to_owned()
    }

    /// Waits until the workspace after a turn has been kept: until then its changes are not known to be its own.
    fn settled(&self, turn: &str) {
        until("the end of the turn is kept", || {
            let (status, _) =
                self.lab.ask("GET", &self.path(&format!("/changes?from={turn}&to={turn}")), None);
            (status == 200).then_some(())
        });
    }

    fn checkpoints(&self) -> Value {
        self.lab.get(&self.path("/checkpoints"))["checkpoints"].clone()
    }

    fn restore(&self, checkpoint: &str, body: Value) -> (u16, Value) {
        self.lab.ask("POST", &self.path(&format!("/checkpoints/{checkpoint}/restore")), Some(body))
    }
}

/// A prompt that makes, changes and removes a file the way a shell would.
fn work(scene: &Scene) -> String {
    let at = |name: &str| scene.cwd.join(name).display().to_string();
    format!(
        "save {} made by bash\nsave {} one\nunlink {}",
        at("sub/made.txt"),
        at("kept.txt"),
        at("gone.txt")
    )
}

#[test]
fn a_file_made_by_bash_disappears_and_the_safety_point_brings_it_back() {
    let scene = Scene::new();
    let told = Receiver::start(|_, _| Reply::status(204));
    scene.lab.post("/agents/webhooks", json!({"url": told.url("/"), "kinds": ["checkpoint.*"]}));
    let before = tree(&scene.cwd);
    std::fs::create_dir(scene.cwd.join("sub")).unwrap();
    let turn = scene.turn(&work(&scene));
    scene.settled(&turn);
    let after = tree(&scene.cwd);
    assert_ne!(before, after);

    let changes = scene.lab.get(&scene.path("/changes"));
    let files = &changes["files"];
    assert_eq!(names(files, "path"), ["gone.txt", "kept.txt", "sub/made.txt"]);
    assert_eq!(names(files, "status"), ["deleted", "modified", "added"]);
    assert!(files.as_array().unwrap().iter().all(|file| file["turn_ids"] == json!([turn])), "{changes}");
    assert_eq!((&changes["shared"], &changes["shared_with"]), (&json!(false), &json!([])));

    let points = scene.checkpoints();
    assert_eq!(names(&points, "kind"), ["auto"]);
    assert_eq!((&points[0]["turn_id"], &points[0]["files"]), (&json!(turn), &json!(2)));
    let first = points[0]["checkpoint_id"].as_str().unwrap();
    let (status, preview) = scene.restore(first, json!({"dry_run": true}));
    assert_eq!(status, 200, "{preview}");
    assert_eq!(
        (texts(&preview["restored"]), texts(&preview["deleted"])),
        (vec!["gone.txt", "kept.txt"], vec!["sub/made.txt"])
    );
    assert_eq!(
        (tree(&scene.cwd), &preview["safety_checkpoint_id"]),
        (after.clone(), &Value::Null),
        "only a look"
    );

    let (status, done) = scene.restore(first, json!({}));
    assert_eq!(status, 200, "{done}");
    assert_eq!(
        (&done["verified"], &done["skipped"], &done["conflicts"]),
        (&json!(true), &json!([]), &json!([]))
    );
    assert_eq!(tree(&scene.cwd), before);
    let safety = done["safety_checkpoint_id"].as_str().unwrap();
    let (status, undone) = scene.restore(safety, json!({}));
    assert_eq!((status, &undone["verified"]), (200, &json!(true)), "{undone}");
    assert_eq!(tree(&scene.cwd), after);
    assert_eq!(names(&scene.checkpoints(), "kind"), ["safety", "safety", "auto"]);
    let sent = until("all is told", || Some(told.sent()).filter(|sent| sent.len() >= 5));
    let kinds: Vec<Value> = sent.iter().map(|sent| sent.json()["event"]["kind"].clone()).collect();
    let (created, restored) = ("checkpoint.created", "checkpoint.restored");
    assert_eq!(kinds, [created, created, restored, created, restored]);
}

#[test]
fn a_foreign_edit_is_a_conflict() {
    let scene = Scene::new();
    std::fs::create_dir(scene.cwd.join("sub")).unwrap();
    let turn = scene.turn(&work(&scene));
    scene.settled(&turn);
    std::fs::write(scene.cwd.join("kept.txt"), "somebody else was here\n").unwrap();
    std::fs::write(scene.cwd.join("other.txt"), "theirs\n").unwrap();
    let after = tree(&scene.cwd);
    let first = scene.checkpoints()[0]["checkpoint_id"].as_str().unwrap().to_owned();

    let (status, refused) = scene.restore(&first, json!({}));
    assert_eq!((status, &refused["code"]), (409, &json!("restore_conflict")), "{refused}");
    assert_eq!(texts(&refused["conflicts"]), ["kept.txt", "other.txt"]);
    assert_eq!(tree(&scene.cwd), after, "nothing was done");
    assert_eq!(names(&scene.checkpoints(), "kind"), ["auto"]);

    let (status, kept) = scene.restore(&first, json!({"on_conflict": "keep"}));
    assert_eq!(status, 200, "{kept}");
    assert_eq!((texts(&kept["restored"]), texts(&kept["deleted"])), (vec!["gone.txt"], vec!["sub/made.txt"]));
    assert_eq!(names(&kept["skipped"], "path"), ["kept.txt", "other.txt"]);
    assert_eq!(std::fs::read_to_string(scene.cwd.join("kept.txt")).unwrap(), "somebody else was here\n");

    let (status, all) = scene.restore(&first, json!({"on_conflict": "overwrite", "paths": ["kept.txt"]}));
    assert_eq!((status, texts(&all["restored"])), (200, vec!["kept.txt"]), "{all}");
    assert_eq!(std::fs::read_to_string(scene.cwd.join("kept.txt")).unwrap(), "one\ntwo\n");
    assert!(scene.cwd.join("other.txt").exists(), "it was not asked for");
}

#[test]
fn a_diff_applied_to_the_old_tree_gives_the_new_one() {
    let scene = Scene::new();
    std::fs::write(scene.cwd.join("image.bin"), [0, 159, 146, 150]).unwrap();
    let old = tempfile::tempdir().unwrap();
    for (path, content) in tree(&scene.cwd) {
        std::fs::write(old.path().join(path), content).unwrap();
    }
    std::fs::create_dir(scene.cwd.join("sub")).unwrap();
    let binary = scene.cwd.join("image.bin").display().to_string();
    let turn = scene.turn(&format!("{}\nsave {binary} \u{0}\u{1}no text", work(&scene)));
    scene.settled(&turn);
    let answer = scene.lab.get(&scene.path("/diff?context=1"));
    assert_eq!((&answer["truncated"], &answer["stats"]["files_changed"]), (&json!(false), &json!(4)));
    let folder = tempfile::tempdir().unwrap();
    let patch = folder.path().join("change.patch");
    std::fs::write(&patch, answer["diff"].as_str().unwrap()).unwrap();
    let applied = Command::new("git").arg("apply").arg(&patch).current_dir(old.path()).output().unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    assert_eq!(tree(old.path()), tree(&scene.cwd));
    let cut = scene.lab.get(&scene.path("/diff?max_bytes=40"));
    assert_eq!((cut["truncated"].as_bool(), cut["diff"].as_str().unwrap().len()), (Some(true), 40));
    let one = scene.lab.get(&scene.path("/diff?path=kept.txt"));
    assert_eq!(one["stats"], json!({"files_changed": 1, "insertions": 1, "deletions": 2}));
}

#[test]
fn the_users_repository_is_untouched() {
    let scene = Scene::new();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=b", "-c", "core.hooksPath=/dev/null"]).args(words);
        let done = git.current_dir(&scene.cwd).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    // What the repository would run, were it asked to.
    let trap = scene.lab.server.base().join("trapped");
    let filter = format!("sh -c 'touch {}; cat'", trap.display());
    git(&["config", "filter.trap.clean", &filter]);
    git(&["config", "filter.trap.smudge", &filter]);
    git(&["config", "core.fsmonitor", &filter]);
    std::fs::write(scene.cwd.join(".gitattributes"), "* filter=trap text eol=crlf\n").unwrap();
    std::fs::write(scene.cwd.join(".gitignore"), "ignored/\n").unwrap();
    std::fs::create_dir(scene.cwd.join("ignored")).unwrap();
    std::fs::write(scene.cwd.join("ignored/big"), "x").unwrap();
    let before = tree(&scene.cwd.join(".git"));
    std::fs::create_dir(scene.cwd.join("sub")).unwrap();
    let turn = scene.turn(&work(&scene));
    scene.settled(&turn);
    scene.lab.get(&scene.path("/diff"));
    let first = scene.checkpoints()[0]["checkpoint_id"].as_str().unwrap().to_owned();
    let (status, done) = scene.restore(&first, json!({}));
    assert_eq!((status, &done["verified"]), (200, &json!(true)), "{done}");
    assert_eq!(tree(&scene.cwd.join(".git")), before, "byte for byte");
    assert!(!trap.exists(), "nothing of the repository was run");
    assert_eq!(
        std::fs::read(scene.cwd.join("kept.txt")).unwrap(),
        b"one\ntwo\n",
        "and no line end was changed"
    );
    assert!(scene.cwd.join("ignored/big").exists());
}

#[test]
fn points_by_hand_have_labels_pages_and_named_paths() {
    let scene = Scene::new();
    std::fs::write(scene.cwd.join(".gitignore"), "*.log\n").unwrap();
    std::fs::write(scene.cwd.join("a.log"), "x").unwrap();
    let create = |body: Value| scene.lab.post(&scene.path("/checkpoints"), body)["checkpoint"].clone();
    let plain = create(json!({"label": "plain"}));
    assert_eq!(
        (&plain["kind"], &plain["label"], &plain["files"]),
        (&json!("manual"), &json!("plain"), &json!(3))
    );
    assert_eq!(create(json!({"paths": ["a.log"]}))["files"], 4);
    let page = scene.lab.get(&scene.path("/checkpoints?limit=1"));
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = scene.lab.get(&scene.path(&format!("/checkpoints?cursor={cursor}")));
    assert_eq!((&rest["checkpoints"], rest.get("next_cursor")), (&json!([plain]), None));
    for (path, wanted) in [("/etc/passwd", "403 path_not_allowed"), ("../outside", "403 path_not_allowed")] {
        let asked = Some(json!({"paths": [path]}));
        assert_eq!(scene.lab.refused("POST", &scene.path("/checkpoints"), asked), wanted, "{path}");
    }
    let bad = Some(json!({"label": 5}));
    assert_eq!(scene.lab.refused("POST", &scene.path("/checkpoints"), bad), "400 invalid_parameter");
    assert_eq!(scene.lab.refused("GET", &scene.path("/checkpoints?cursor=x"), None), "400 invalid_cursor");
}

#[test]
fn what_is_not_there_or_not_for_the_caller_is_refused_or_left_out() {
    let policy = "
endpoints:
  agents_changes_list: {paths: {deny: ['*.secret']}}
  agents_diff_get: {paths: {deny: ['*.secret']}}
  agents_checkpoints_restore: {paths: {read_only: ['project/kept.txt']}}
";
    let scene = Scene::under(policy);
    std::fs::create_dir(scene.cwd.join("sub")).unwrap();
    let hidden = scene.cwd.join("a.secret").display().to_string();
    let turn = scene.turn(&format!("{}\nsave {hidden} canary", work(&scene)));
    scene.settled(&turn);
    let changes = scene.lab.get(&scene.path("/changes"));
    assert_eq!(names(&changes["files"], "path"), ["gone.txt", "kept.txt", "sub/made.txt"]);
    assert!(!scene.lab.get(&scene.path("/diff")).to_string().contains("canary"));
    for (path, wanted) in [
        ("/changes?path=a.secret", "403 path_not_allowed"),
        ("/diff?path=../..", "403 path_not_allowed"),
        ("/changes?from=chk_none", "404 checkpoint_not_found"),
        ("/diff?to=trn_none", "404 checkpoint_not_found"),
        ("/diff?context=x", "400 invalid_parameter"),
    ] {
        assert_eq!(scene.lab.refused("GET", &scene.path(path), None), wanted, "{path}");
    }
    for method in ["changes", "diff", "checkpoints"] {
        let path = format!("/agents/sessions/ses_none/{method}");
        assert_eq!(scene.lab.refused("GET", &path, None), "404 session_not_found");
    }
    let (status, body) = scene.restore("chk_none", json!({}));
    assert_eq!((status, &body["code"]), (404, &json!("checkpoint_not_found")));
    let first = scene.checkpoints()[0]["checkpoint_id"].as_str().unwrap().to_owned();
    let (status, body) = scene.restore(&first, json!({"on_conflict": "maybe"}));
    assert_eq!((status, &body["code"]), (400, &json!("invalid_parameter")));
    let (status, done) = scene.restore(&first, json!({}));
    assert_eq!(status, 200, "{done}");
    assert_eq!(done["skipped"], json!([{"path": "kept.txt", "why": "read_only"}]));
    assert!(scene.cwd.join("gone.txt").exists());
}

#[test]
fn a_running_turn_keeps_its_workspace() {
    let scene = Scene::new();
    scene.turn("echo first");
    let first = scene.checkpoints()[0]["checkpoint_id"].as_str().unwrap().to_owned();
    scene.lab.post(&scene.path("/turns"), json!({"prompt": "wait"}));
    until("the turn runs", || {
        (scene.lab.get(&scene.path(""))["session"]["state"] == "running").then_some(())
    });
    let (status, body) = scene.restore(&first, json!({}));
    assert_eq!((status, &body["code"]), (409, &json!("session_busy")));
}

#[test]
fn two_sessions_in_one_tree_are_told_apart_by_their_tools_alone() {
    let scene = Scene::new();
    let cwd = scene.cwd.display().to_string();
    let other = scene.lab.session_with("mine", json!({"cwd": cwd}));
    let at = |name: &str| scene.cwd.join(name).display().to_string();
    let turn = scene.turn(&format!("save {} one", at("mine.txt")));
    scene.lab.turn(&other, &format!("save {} two", at("theirs.txt")));
    scene.settled(&turn);
    let changes = scene.lab.get(&scene.path("/changes"));
    assert_eq!((&changes["shared"], &changes["shared_with"]), (&json!(true), &json!([other])));
    assert_eq!(names(&changes["files"], "path"), ["mine.txt", "theirs.txt"]);
    for file in changes["files"].as_array().unwrap() {
        assert_eq!((&file["sources"], &file["turn_ids"]), (&json!(["unknown"]), &json!([])), "{file}");
    }
}

#[test]
fn a_workspace_over_the_cap_says_so_and_holds_up_no_turn() {
    let scene = Scene::under("endpoints: {agents_checkpoints_create: {limits: {max_entries: 3}}}");
    for n in 0..5 {
        std::fs::write(scene.cwd.join(format!("f{n}")), "x").unwrap();
    }
    let turn = scene.turn("echo hello");
    scene.turn("echo more");
    let point = scene.checkpoints()[0].clone();
    assert_eq!((&point["reason"], &point["files"]), (&json!("workspace_too_large"), &json!(0)));
    let (status, body) = scene.lab.ask("POST", &scene.path("/checkpoints"), Some(json!({})));
    assert_eq!((status, &body["code"]), (409, &json!("workspace_too_large")));
    assert_eq!((&body["files"], &body["limit"]["files"]), (&json!(4), &json!(3)));
    let name = point["checkpoint_id"].as_str().unwrap().to_owned();
    let (status, body) = scene.restore(&name, json!({}));
    assert_eq!((status, &body["code"]), (404, &json!("checkpoint_not_found")));
    for (path, body) in [
        ("/turns", json!({"retry_of": turn, "restore_files": true})),
        ("/fork", json!({"after_turn_id": turn, "restore_files": true})),
    ] {
        let refused = scene.lab.refused("POST", &scene.path(path), Some(body));
        assert_eq!(refused, "404 checkpoint_not_found", "{path}");
    }
}

/// A scene with a directory that stays, whatever is made in it.
fn with_room() -> Scene {
    let scene = Scene::new();
    std::fs::create_dir(scene.cwd.join("sub")).unwrap();
    std::fs::write(scene.cwd.join("sub/stays.txt"), "stays\n").unwrap();
    scene
}

/// Two turns: the first makes what `work` makes, the second changes it further.
fn two_turns(scene: &Scene) -> (String, String) {
    let first = scene.turn(&work(scene));
    scene.settled(&first);
    let made = scene.cwd.join("sub/made.txt").display().to_string();
    let second = scene.turn(&format!("save {made} made again"));
    scene.settled(&second);
    (first, second)
}

#[test]
fn a_turn_is_repeated_on_the_files_that_it_began_with() {
    let scene = with_room();
    let before = tree(&scene.cwd);
    let (first, _) = two_turns(&scene);
    let body = json!({"retry_of": first, "restore_files": true, "wait_ms": 30000});
    let again = scene.lab.post(&scene.path("/turns"), body)["turn"].clone();
    // It removes a file that its first run has removed: it could not, had the file not been put back.
    assert_eq!((&again["state"], &again["retry_of"]), (&json!("completed"), &json!(first)), "{again}");
    let kept = &scene.checkpoints()[0];
    assert_eq!((&kept["kind"], &kept["turn_id"]), (&json!("auto"), &again["turn_id"]));
    let (status, done) =
        scene.restore(kept["checkpoint_id"].as_str().unwrap(), json!({"on_conflict": "overwrite"}));
    assert_eq!((status, tree(&scene.cwd)), (200, before), "{done}");
}

#[test]
fn a_branch_begins_with_the_files_of_its_turn() {
    let scene = with_room();
    let (first, second) = two_turns(&scene);
    let made = scene.cwd.join("sub/made.txt");
    assert_eq!(std::fs::read_to_string(&made).unwrap(), "made again");
    let fork = |body: Value| scene.lab.ask("POST", &scene.path("/fork"), Some(body));
    // Behind the last turn nothing has happened.
    let (status, last) = fork(json!({"after_turn_id": second, "restore_files": true}));
    assert_eq!((status, std::fs::read_to_string(&made).unwrap().as_str()), (200, "made again"), "{last}");
    let (status, branch) = fork(json!({"after_turn_id": first, "restore_files": true}));
    assert_eq!((status, &branch["continuity"]), (200, &json!("digest")), "{branch}");
    assert_eq!(std::fs::read_to_string(&made).unwrap(), "made by bash");
    for (body, wanted) in [
        (json!({"restore_files": true}), "400 invalid_parameter"),
        (json!({"restore_files": true, "after_turn_id": "trn_none"}), "404 turn_not_found"),
        (
            json!({"restore_files": true, "after_turn_id": first, "require_native": true}),
            "409 capability_missing",
        ),
    ] {
        assert_eq!(scene.lab.refused("POST", &scene.path("/fork"), Some(body.clone())), wanted, "{body}");
    }
}

#[test]
fn files_are_put_back_only_for_who_may_do_so_and_over_nobody_elses() {
    let scene = with_room();
    let (first, _) = two_turns(&scene);
    std::fs::write(scene.cwd.join("kept.txt"), "somebody else was here\n").unwrap();
    let turns = scene.path("/turns");
    let retry = json!({"retry_of": first, "restore_files": true});
    let (status, refused) = scene.lab.ask("POST", &turns, Some(retry));
    assert_eq!(
        (status, &refused["code"], texts(&refused["conflicts"])),
        (409, &json!("restore_conflict"), vec!["kept.txt"])
    );
    let fork = json!({"after_turn_id": first, "restore_files": true});
    let (status, refused) = scene.lab.ask("POST", &scene.path("/fork"), Some(fork));
    assert_eq!(
        (status, &refused["code"], texts(&refused["conflicts"])),
        (409, &json!("restore_conflict"), vec!["kept.txt"])
    );
    let prompt = json!({"prompt": "echo hi", "restore_files": true});
    assert_eq!(scene.lab.refused("POST", &turns, Some(prompt)), "400 invalid_parameter");
    let unknown = json!({"retry_of": "trn_none", "restore_files": true});
    assert_eq!(scene.lab.refused("POST", &turns, Some(unknown)), "404 turn_not_found");
    let closed = Scene::under("endpoints: {agents_checkpoints_restore: false}");
    let first = closed.turn("echo hi");
    let retry = json!({"retry_of": first, "restore_files": true});
    assert_eq!(closed.lab.refused("POST", &closed.path("/turns"), Some(retry)), "404 endpoint_disabled");
}
