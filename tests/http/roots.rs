//! Directories that a policy names, and what somebody else has put in their place: links, loops, nothing, other directories.

use crate::raw::{Answer, get, post, request};
use crate::server::{Server, Setup};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

/// A user of no machine, whom children run as.
const STRANGER: u32 = 61234;

/// `work` and, where somebody makes it, `out` below the base directory; `outside` beside it.
fn setup(paths: &Value) -> Setup {
    Setup::new()
        .policy(&json!({"defaults": {"paths": paths}}).to_string())
        .file("work/f", "inside")
        .file("../outside/secret", "canary")
        .file("../outside/inner/secret", "canary")
        .file("../log/other", "canary")
}

fn work_and_out() -> Value {
    json!({"allow": ["{base}/work", "{base}/out"]})
}

/// Puts another policy in force, and says whether it came in.
fn reload(server: &Server, paths: &Value) {
    let policy = json!({"defaults": {"paths": paths}}).to_string();
    let policy = crate::server::fill(&policy, &server.base());
    std::fs::write(server.dir.path().join("policy.yaml"), policy).unwrap();
    let before = server.stderr().iter().filter(|line| line.contains("policy reloaded")).count();
    server.signal("HUP");
    server.wait_for_count("policy reloaded", before + 1);
}

fn download(server: &Server, path: &str) -> Answer {
    get(server.port, &format!("/download?path={}", crate::server::fill(path, &server.base())))
}

/// The code of a refusal, or the text of a file.
fn told(answer: &Answer) -> String {
    use base64::Engine as _;
    assert!(!String::from_utf8_lossy(&answer.body).contains("Y2FuYXJ5"), "{answer:?}");
    match answer.json()["content_base64"].as_str() {
        Some(text) => {
            let text = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
            String::from_utf8(text).unwrap()
        }
        None => answer.code(),
    }
}

fn upload(server: &Server, path: &str) -> Answer {
    let path = crate::server::fill(path, &server.base());
    post(server.port, "/upload", &json!({"path": path, "content_base64": "bmV3"}).to_string())
}

fn names(dir: impl AsRef<std::path::Path>) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

// security 2, 4
#[test]
fn row_4_a_link_that_a_child_puts_in_the_place_of_an_absent_root_leads_nowhere() {
    if !rustix::process::geteuid().is_root() {
        return; // children run as another user
    }
    let server = setup(&work_and_out()).arg("--child-user").arg(&format!("{STRANGER}:{STRANGER}")).start();
    let outside = server.dir.path().join("outside");
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o700)).unwrap();
    for dir in [server.base(), server.base().join("work")] {
        chown(dir, Some(STRANGER), Some(STRANGER)).unwrap();
    }
    std::fs::set_permissions(server.dir.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let plant = format!("ln -s {} {}", outside.display(), server.base().join("out").display());
    let cwd = server.base().join("work");
    let ran = post(server.port, "/shell", &json!({"command": plant, "cwd": cwd}).to_string());
    assert_eq!(ran.json()["exit_code"], 0, "{ran:?}");
    for round in 0..3 {
        for path in ["out/secret", "out/inner/secret", "{dir}/outside/secret"] {
            assert_eq!(told(&download(&server, path)), "path_not_allowed", "{path} after {round} reloads");
        }
        assert_eq!(upload(&server, "out/planted").code(), "path_not_allowed");
        assert_eq!(get(server.port, "/files/list?path=out").code(), "path_not_allowed");
        assert_eq!(told(&download(&server, "work/f")), "inside");
        reload(&server, &work_and_out());
    }
    assert_eq!(names(&outside), ["inner", "secret"]);
}

// security 2, 4, 161
#[test]
fn row_161_nor_does_one_that_was_there_before_the_start() {
    let allow = json!(["{base}/work", "{base}/out", "{base}/out/inner"]);
    let rows = [
        (json!({}), "{dir}/outside", "out/secret", "path_not_allowed"),
        (json!({}), "../outside", "out/inner/secret", "path_not_allowed"),
        (json!({"symlinks": "deny"}), "{dir}/outside", "out/secret", "symlink_denied"),
        (json!({"symlinks": "deny"}), "work", "out/f", "symlink_denied"),
        (json!({"deny": ["{dir}/outside"]}), "{dir}/outside", "out/secret", "path_not_allowed"),
        (json!({}), "/dev", "out/null", "path_not_allowed"),
        (json!({}), "/proc/self", "out/status", "path_not_allowed"),
        (json!({}), "{dir}/log", "out/audit.json", "path_not_allowed"),
        (json!({}), "{dir}/log", "out/other", "path_not_allowed"),
        (json!({}), "out", "out/f", "path_not_allowed"),
        // As any other link within.
        (json!({}), "work", "out/f", "inside"),
    ];
    for (more, target, path, wanted) in rows {
        let mut paths = more.clone();
        paths["allow"] = allow.clone();
        let server = setup(&paths).link("out", target).env("ABX_AUDIT_FILE", "{dir}/log/audit.json").start();
        assert_eq!(told(&download(&server, path)), wanted, "{more} {target} {path}");
        assert_eq!(told(&download(&server, "work/f")), "inside", "{more} {target}");
        if wanted != "inside" {
            for (method, door) in
                [("GET", "/files/list?path=out/"), ("DELETE", &*format!("/files?path={path}"))]
            {
                let answer = request(server.port, method, door, &[], None);
                assert_eq!(answer.status, 403, "{method} {door}: {answer:?}");
            }
            assert_eq!(upload(&server, &format!("{path}.new")).status, 403, "{target}");
        }
        assert_eq!(names(server.dir.path().join("outside")), ["inner", "secret"]);
        assert!(names(server.dir.path().join("log")).contains(&"audit.json".to_owned()));
    }
}

#[test]
fn what_nobody_can_open_neither_stops_a_start_nor_keeps_a_policy_out() {
    let odd = ["x".repeat(300), "x/".repeat(3_000) + "y", "x/".repeat(300_000) + "y"];
    let allow: Vec<String> = odd.iter().map(|odd| format!("{{base}}/{odd}")).collect();
    let mut paths = work_and_out();
    paths["allow"].as_array_mut().unwrap().extend(allow.into_iter().map(Value::from));
    let server = setup(&paths).link("out", "out").start();
    assert_eq!(told(&download(&server, "work/f")), "inside");
    assert_eq!(told(&download(&server, "out/f")), "path_not_allowed");
    std::fs::remove_file(server.base().join("out")).unwrap();
    symlink("work/out", server.base().join("out")).unwrap();
    symlink("../out", server.base().join("work/out")).unwrap();
    paths["deny"] = json!(["{base}/work/f"]);
    reload(&server, &paths);
    assert_eq!(told(&download(&server, "work/f")), "path_denied");
}

// security 28
#[test]
fn row_28_a_reload_keeps_the_directories_that_were_opened_at_start() {
    for (root, moved) in [("work", "work"), ("a/work", "a"), ("a/work", "a/work")] {
        for absent in [0, 20] {
            let absent = (0..absent).map(|n| format!("{{base}}/absent-{n}"));
            let allow: Vec<String> = [format!("{{base}}/{root}")].into_iter().chain(absent).collect();
            let paths = json!({"allow": allow});
            let server = setup(&paths).file("a/work/f", "inside").start();
            let path = format!("{root}/f");
            let (base, outside) = (server.base(), server.dir.path().join("outside"));
            let still =
                |when: &str| assert_eq!(told(&download(&server, &path)), "inside", "{root} {moved} {when}");
            // Once it answers, its directories are open.
            still("before");
            std::fs::rename(base.join(moved), base.join("moved")).unwrap();
            reload(&server, &paths);
            still("gone");
            std::fs::create_dir_all(base.join(root)).unwrap();
            std::fs::write(base.join(&path), "canary").unwrap();
            still("another");
            reload(&server, &paths);
            still("another, reloaded");
            std::fs::remove_dir_all(base.join(root)).unwrap();
            std::fs::write(outside.join("f"), "canary").unwrap();
            symlink(&outside, base.join(root)).unwrap();
            for _ in 0..2 {
                reload(&server, &paths);
                still("a link");
            }
        }
    }
}

#[test]
fn whoever_takes_the_base_directory_away_keeps_no_policy_out() {
    let server = setup(&json!({"allow": ["{base}"]})).start();
    std::fs::rename(server.base(), server.dir.path().join("moved")).unwrap();
    reload(&server, &json!({"allow": ["{base}"], "deny": ["out"]}));
    assert_eq!(told(&download(&server, "work/f")), "inside");
    assert_eq!(told(&download(&server, "out/f")), "path_denied");
    symlink(server.dir.path().join("outside"), server.base()).unwrap();
    reload(&server, &json!({"allow": ["{base}"], "deny": ["work"]}));
    assert_eq!(told(&download(&server, "secret")), "not_found");
    assert_eq!(told(&download(&server, "work/f")), "path_denied");
    std::fs::remove_file(server.base()).unwrap();
}

/// Opening takes hardly more descriptors than holding.
#[test]
fn as_many_directories_are_held_as_there_is_room_for() {
    const DIRS: usize = 520;
    let dirs: Vec<String> = (0..DIRS).map(|n| format!("m/{n}/x")).collect();
    let paths = json!({"allow": dirs.iter().map(|dir| format!("{{base}}/{dir}")).collect::<Vec<_>>()});
    let setup = dirs.iter().fold(setup(&paths), |setup, dir| setup.file(&format!("{dir}/f"), "inside"));
    let server = setup.under(&["prlimit", "--nofile=700:700"]).start();
    for dir in [&dirs[0], &dirs[DIRS - 1]] {
        assert_eq!(told(&download(&server, &format!("{dir}/f"))), "inside");
    }
}

#[test]
fn what_lies_behind_a_linked_base_directory_is_judged_by_its_real_place_too() {
    let start = |paths: Value| {
        let policy = json!({"base_dir": "{dir}/lnk", "defaults": {"paths": paths}});
        Setup::new()
            .policy(&policy.to_string())
            .no_base_dir()
            .file("../real/priv/k", "canary")
            .file("../real/open/k", "inside")
            .file("../real/log/other", "inside")
            .link("../lnk", "{dir}/real")
            .link("../real/in", "priv")
            .link("../real/open/up", "../priv")
            .env("ABX_AUDIT_FILE", "{dir}/real/log/audit.json")
            .start()
    };
    // The link itself is the operator's.
    for symlinks in ["within", "deny"] {
        let server = start(json!({"deny": ["{dir}/real/priv"], "symlinks": symlinks}));
        for path in ["open/k", "{dir}/lnk/open/k", "log/other"] {
            assert_eq!(told(&download(&server, path)), "inside", "{symlinks} {path}");
        }
        for path in ["priv/k", "{dir}/lnk/priv/k", "log/audit.json"] {
            assert_eq!(told(&download(&server, path)), "path_denied", "{symlinks} {path}");
        }
        for path in ["in/k", "open/up/k"] {
            let wanted = if symlinks == "deny" { "symlink_denied" } else { "path_denied" };
            assert_eq!(told(&download(&server, path)), wanted, "{symlinks} {path}");
        }
        assert_eq!(upload(&server, "priv/new").code(), "path_denied");
        for target in ["priv", "log", "log/audit.json"] {
            let answer = request(server.port, "DELETE", &format!("/files?path={target}"), &[], None);
            assert_eq!(answer.code(), "path_denied", "{target}");
        }
        let found = post(server.port, "/files/grep", r#"{"path": ".", "pattern": "canary"}"#);
        assert_eq!(
            (found.status, found.json()["matches"].as_array().map(Vec::len)),
            (200, Some(0)),
            "{found:?}"
        );
        assert_eq!(upload(&server, "open/new").status, 200);
    }
    let server = start(json!({"read_only": ["{dir}/real/priv"]}));
    assert_eq!(upload(&server, "priv/w").code(), "read_only");
    assert_eq!(upload(&server, "in/w").code(), "read_only");
    assert_eq!(request(server.port, "DELETE", "/files?path=priv", &[], None).code(), "read_only");
    assert_eq!(upload(&server, "open/w").status, 200);
    assert_eq!(names(server.dir.path().join("real/priv")), ["k"]);
}

#[test]
fn a_base_directory_behind_a_link_in_an_allowed_directory_is_refused() {
    let start = |base: &str| {
        let policy = json!({"base_dir": base, "defaults": {"paths": {"allow": ["{dir}/all"]}}});
        Setup::new()
            .policy(&policy.to_string())
            .no_base_dir()
            .file("../all/one/f", "inside")
            .link("../all/current", "one")
            .link("../way", "all")
            .try_start()
    };
    for (base, refused) in [
        ("{dir}/all/one", false),
        ("{dir}/way/one", false),
        ("{dir}/all/current", true),
        ("{dir}/way/current", true),
    ] {
        match start(base) {
            Ok(_) => assert!(!refused, "{base}"),
            Err(refusal) => {
                assert_eq!((refused, refusal.status), (true, 1), "{base}: {}", refusal.stderr);
                assert!(
                    refusal.stderr.contains("/all/current` lies in the allowed directory `"),
                    "{}",
                    refusal.stderr
                );
            }
        }
    }
}

#[test]
fn a_root_behind_the_operators_own_link_is_judged_by_its_real_place_too() {
    let rows = [
        (json!({}), "{dir}/way/secret-not", "inside"),
        (json!({"deny": ["{dir}/elsewhere"]}), "{dir}/way/secret-not", "path_denied"),
        (json!({"symlinks": "deny"}), "{dir}/way/secret-not", "symlink_denied"),
        (json!({}), "{dir}/way/log/audit.json", "path_denied"),
        (json!({}), "{dir}/elsewhere/secret-not", "path_not_allowed"),
        (json!({}), "{dir}/machine/null", "path_not_allowed"),
    ];
    for (more, path, wanted) in rows {
        let mut paths = more.clone();
        paths["allow"] = json!(["{base}/work", "{dir}/way", "{dir}/machine"]);
        let setup = setup(&paths)
            .file("../elsewhere/secret-not", "inside")
            .file("../elsewhere/log/other", "inside")
            .link("../way", "elsewhere")
            .link("../machine", "/dev")
            .env("ABX_AUDIT_FILE", "{dir}/elsewhere/log/audit.json");
        let server = setup.start();
        for _ in 0..2 {
            assert_eq!(told(&download(&server, path)), wanted, "{more} {path}");
            assert_eq!(told(&download(&server, "work/f")), "inside");
            reload(&server, &paths);
        }
    }
}
