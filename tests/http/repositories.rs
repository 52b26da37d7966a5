//! Git endpoints on real repositories, friendly and hostile ones.

use crate::raw::get;
use crate::server::{Server, Setup};
use serde_json::json;
use std::path::Path;
use std::process::Command;

fn server() -> Server {
    Setup::new().env("ABX_SERVER_ENABLED_GROUPS", "dev_tools").start()
}

fn git(directory: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn repository(directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    git(directory, &["init", "-q"]);
    std::fs::write(directory.join("old name.txt"), "one\ntwo\nthree\n").unwrap();
    std::fs::write(directory.join("b.txt"), "b\n").unwrap();
    git(directory, &["add", "."]);
    git(directory, &["commit", "-q", "-m", "first"]);
}

#[test]
fn renames_quotes_and_foreign_names_are_right() {
    let server = server();
    let tree = server.base().join("r");
    repository(&tree);
    assert_eq!(
        get(server.port, "/git/status?path=r").json(),
        json!({"branch": "main", "clean": true, "files": [], "truncated": false})
    );
    git(&tree, &["mv", "old name.txt", "new \"name\".txt"]);
    std::fs::write(tree.join("b.txt"), "b\nc\n").unwrap();
    std::fs::write(tree.join("报告.txt"), "").unwrap();
    assert_eq!(
        get(server.port, "/git/status?path=r").json(),
        json!({"branch": "main", "clean": false, "truncated": false, "files": [
            {"path": "b.txt", "status": "modified"},
            {"path": "new \"name\".txt", "status": "renamed", "original_path": "old name.txt"},
            {"path": "报告.txt", "status": "untracked"},
        ]})
    );
    let diff = get(server.port, "/git/diff?path=r&context=0").json();
    assert_eq!(diff["stats"], json!({"files_changed": 1, "insertions": 1, "deletions": 0}));
    assert!(diff["diff"].as_str().unwrap().ends_with("@@ -1,0 +2 @@ b\n+c\n"), "{diff}");
    let staged = get(server.port, "/git/diff?path=r&staged=true").json();
    assert_eq!(staged["stats"], json!({"files_changed": 1, "insertions": 0, "deletions": 0}));
    let one = get(server.port, "/git/diff?path=r&file=none.txt").json();
    assert_eq!(one, json!({"diff": "", "stats": {"files_changed": 0, "insertions": 0, "deletions": 0}}));
}

// security 49
#[test]
fn nothing_that_a_repository_names_is_run() {
    let server = server();
    let tree = server.base().join("r");
    repository(&tree);
    let marker = server.base().join("marker");
    let program = server.base().join("program");
    crate::server::machine::program(
        &program,
        &format!("#!/bin/sh\necho ran \"$@\" >> {}\ncat\n", marker.display()),
    );
    let program = program.to_str().unwrap();
    for name in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.process",
        "filter.a.b.clean",
    ] {
        git(&tree, &["config", name, program]);
    }
    git(&tree, &["config", "filter.evil.required", "true"]);
    git(&tree, &["config", "core.hooksPath", server.base().to_str().unwrap()]);
    std::fs::write(tree.join(".gitattributes"), "*.txt diff=evil filter=evil\nb.txt filter=a.b\n").unwrap();
    std::fs::write(tree.join("b.txt"), "changed\n").unwrap();
    std::fs::write(tree.join("old name.txt"), "one\ntwo\nfour!\n").unwrap();
    for target in ["/git/status?path=r", "/git/diff?path=r", "/git/diff?path=r&staged=true"] {
        let answer = get(server.port, target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.json());
    }
    assert!(!marker.exists(), "{}", std::fs::read_to_string(&marker).unwrap_or_default());
    assert_eq!(get(server.port, "/git/diff?path=r").json()["stats"]["files_changed"], 2);
}

// security 52
#[test]
fn a_repository_that_points_away_is_refused() {
    let server = server();
    let outside = tempfile::tempdir().unwrap();
    repository(&outside.path().join("o"));
    let base = server.base();
    std::fs::create_dir(base.join("pointer")).unwrap();
    std::fs::write(
        base.join("pointer/.git"),
        format!("gitdir: {}\n", outside.path().join("o/.git").display()),
    )
    .unwrap();
    repository(&base.join("borrower"));
    let alternates = base.join("borrower/.git/objects/info/alternates");
    std::fs::write(alternates, format!("{}\n", outside.path().join("o/.git/objects").display())).unwrap();
    repository(&base.join("elsewhere"));
    git(&base.join("elsewhere"), &["config", "core.worktree", outside.path().to_str().unwrap()]);
    for path in ["pointer", "borrower", "elsewhere"] {
        for door in ["status", "diff"] {
            let answer = get(server.port, &format!("/git/{door}?path={path}"));
            assert_eq!((answer.status, answer.code().as_str()), (403, "path_not_allowed"), "{path} {door}");
        }
    }
}
