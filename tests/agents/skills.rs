//! Skills: stored, checked, put where agents look, and taken away again.

use crate::lab::Lab;
use serde_json::{Value, json};

fn review() -> Value {
    json!({"name": "code-review", "description": "How we review", "targets": ["mine"],
        "files": {"SKILL.md": "# Steps\n", "run.sh": "true\n"}})
}

#[test]
fn skills_are_stored_listed_and_deleted() {
    let lab = Lab::start();
    let skill = lab.post("/agents/skills", review())["skill"].clone();
    assert_eq!(
        skill,
        json!({"name": "code-review", "description": "How we review", "files": ["SKILL.md", "run.sh"],
            "bytes": skill["bytes"], "targets": ["mine"], "cwds": [], "installed_in": [], "source": "stored"})
    );
    assert_eq!(lab.get("/agents/skills")["skills"], json!([skill]));
    // What lies in a workspace already is reported with who will find it.
    let folder = lab.server.base().join("project/.claude/skills/own");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "---\nname: own\ndescription: mine alone\n---\nx").unwrap();
    let listed = lab.get("/agents/skills?cwd=project")["skills"].clone();
    assert_eq!(
        listed[1],
        json!({"name": "own", "description": "mine alone", "files": ["SKILL.md"], "bytes": 43, "targets": ["claude"],
            "installed_in": [folder.display().to_string()], "source": "workspace"})
    );
    let gone = lab.delete("/agents/skills/code-review");
    assert_eq!(gone, json!({"name": "code-review", "deleted": true, "removed_from": []}));
    assert_eq!(lab.refused("DELETE", "/agents/skills/code-review", None), "404 skill_not_found");
}

#[test]
fn a_directory_becomes_a_skill() {
    let lab = Lab::under("endpoints: {agents_skills_set: {paths: {deny: [.env]}}}");
    let folder = lab.server.base().join("drafts/deploy");
    std::fs::create_dir_all(folder.join("scripts")).unwrap();
    std::fs::write(folder.join("scripts/go"), b"\x00\xff").unwrap();
    std::fs::write(folder.join(".env"), "canary").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
    let body = json!({"name": "deploy", "description": "d", "from_dir": "drafts/deploy"});
    let skill = lab.post("/agents/skills", body.clone())["skill"].clone();
    assert_eq!(
        skill["files"],
        json!(["SKILL.md", "scripts/go"]),
        "neither what is denied nor what a link names"
    );
    for (dir, wanted) in [("/etc", "403 path_not_allowed"), ("drafts/none", "400 invalid_parameter")] {
        let mut body = body.clone();
        body["from_dir"] = dir.into();
        assert_eq!(lab.refused("POST", "/agents/skills", Some(body)), wanted, "{dir}");
    }
}

#[test]
fn what_is_no_skill_is_refused() {
    let lab = Lab::start();
    let with = |name: &str, value: Value| {
        let mut body = review();
        body[name] = value;
        body
    };
    for (body, wanted) in [
        (with("name", json!("Code Review")), "400 invalid_skill"),
        (with("name", Value::Null), "400 missing_parameter"),
        (with("description", json!("a\nb")), "400 invalid_skill"),
        (with("files", json!({"../x": "y"})), "400 invalid_skill"),
        (with("files", json!({"/etc/x": "y"})), "400 invalid_skill"),
        (with("files", json!({".git/hooks/x": "y"})), "400 invalid_skill"),
        (with("files", json!({"SKILL.md": "---\nname: other\ndescription: x\n---\n"})), "400 invalid_skill"),
        (with("files", json!({"x": 1})), "400 invalid_parameter"),
        (with("files", Value::Null), "400 invalid_skill"),
        (with("from_dir", json!("x")), "400 invalid_skill"),
        (with("cwds", json!(["/etc"])), "403 path_not_allowed"),
    ] {
        assert_eq!(lab.refused("POST", "/agents/skills", Some(body.clone())), wanted, "{body}");
    }
    let many: serde_json::Map<String, Value> = (0..300).map(|n| (format!("f{n}"), json!("x"))).collect();
    assert_eq!(lab.refused("POST", "/agents/skills", Some(with("files", many.into()))), "413 too_large");
    assert_eq!(lab.get("/agents/skills")["skills"], json!([]));
    assert_eq!(lab.refused("GET", "/agents/skills?cwd=/etc", None), "403 path_not_allowed");
}

#[test]
fn a_session_gets_its_skills_and_gives_back_what_is_unchanged() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    lab.post("/agents/skills", review());
    let folder = lab.server.base().join(".agents/skills/code-review");
    let own = folder.join("run.sh");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(&own, "the user's own").unwrap();
    let first = lab.session("mine");
    assert!(folder.join("SKILL.md").exists());
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "the user's own");
    let listed = lab.get("/agents/skills")["skills"][0]["installed_in"].clone();
    assert_eq!(listed, json!([lab.base()]));
    let second = lab.session("mine");
    lab.post(&format!("/agents/sessions/{first}/close"), json!({}));
    assert!(folder.join("SKILL.md").exists(), "the second session still uses it");
    lab.post(&format!("/agents/sessions/{second}/close"), json!({}));
    assert!(!folder.join("SKILL.md").exists());
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "the user's own");
    // What was changed meanwhile stays, and so does what nobody asked for.
    let third = lab.session_with("mine", json!({"skills": ["code-review"]}));
    std::fs::write(folder.join("SKILL.md"), "changed").unwrap();
    lab.post(&format!("/agents/sessions/{third}/close"), json!({}));
    assert_eq!(std::fs::read_to_string(folder.join("SKILL.md")).unwrap(), "changed");
    let none = json!({"agent_id": "mine", "cwd": lab.base(), "skills": ["absent"]});
    assert_eq!(lab.refused("POST", "/agents/sessions", Some(none)), "404 skill_not_found");
}

#[test]
fn a_skill_that_is_deleted_is_taken_out_of_the_workspaces_that_have_it() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    lab.post("/agents/skills", review());
    lab.session("mine");
    let folder = lab.server.base().join(".agents/skills/code-review");
    std::fs::write(folder.join("run.sh"), "changed").unwrap();
    let gone = lab.delete("/agents/skills/code-review");
    let taken = json!([folder.join("SKILL.md")]);
    assert_eq!(gone, json!({"name": "code-review", "deleted": true, "removed_from": taken}));
    assert!(!folder.join("SKILL.md").exists());
    assert_eq!(std::fs::read_to_string(folder.join("run.sh")).unwrap(), "changed");
}
