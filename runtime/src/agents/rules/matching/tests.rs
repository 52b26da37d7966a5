//! Rules against calls: by table, and by properties.

use super::{Caller, Decision, Match, Rule, Scope};
use crate::agents::rules::subject::Subject;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn caller() -> Caller<'static> {
    Caller { session_id: "ses_1", agent_id: "opencode", cwd: Path::new("/w") }
}

fn rule(decision: Decision, matches: Match) -> Rule {
    let scope = Scope { agent_id: Some("opencode".into()), ..Scope::default() };
    Rule::new("rul_1".into(), scope, matches, decision, None).unwrap()
}

fn command(text: &str) -> Subject {
    Subject { tool_kind: "execute".into(), title: text.into(), command: Some(text.into()), paths: Vec::new() }
}

fn paths(names: &[&str]) -> Subject {
    let paths = names.iter().map(PathBuf::from).collect();
    Subject { tool_kind: "edit".into(), title: "edit".into(), command: None, paths }
}

fn globs(command: Option<&str>, path: Option<&str>) -> Match {
    Match { command_glob: command.map(Into::into), path_glob: path.map(Into::into), ..Match::default() }
}

#[test]
fn commands() {
    for (glob, text, allowed, rejected) in [
        ("ls*", "ls -la /tmp/x", true, true),
        ("ls*", "ls; rm x", false, true),
        ("rm *", "ls; rm x", false, true),
        ("rm *", "echo \"$(rm x)\"", false, true),
        ("rm *", "ls", false, false),
        ("git status", "git status", true, true),
        ("git status", "git status -s", false, false),
        ("echo *", "echo a > b", false, true),
    ] {
        let applies =
            |decision| rule(decision, globs(Some(glob), None)).applies(caller(), &command(text), 0.0);
        assert_eq!(applies(Decision::Allow), allowed, "allow {glob}: {text}");
        assert_eq!(applies(Decision::Reject), rejected, "reject {glob}: {text}");
        assert_eq!(applies(Decision::Ask), rejected, "ask {glob}: {text}");
    }
    let none = Subject { command: None, ..command("ls") };
    assert!(!rule(Decision::Allow, globs(Some("*"), None)).applies(caller(), &none, 0.0));
}

#[test]
fn path_globs() {
    for (glob, names, allowed, rejected) in [
        ("/w/src/**", &["/w/src/a/b.rs"][..], true, true),
        ("src/**", &["/w/src/a/b.rs"], true, true),
        ("src/*", &["/w/src/a/b.rs"], false, false),
        ("src/**", &["/w/src/a.rs", "/etc/passwd"], false, true),
        ("src/**", &[], false, false),
    ] {
        let applies =
            |decision| rule(decision, globs(None, Some(glob))).applies(caller(), &paths(names), 0.0);
        assert_eq!(applies(Decision::Allow), allowed, "allow {glob}: {names:?}");
        assert_eq!(applies(Decision::Reject), rejected, "reject {glob}: {names:?}");
    }
}

#[test]
fn scopes_and_ends() {
    let within =
        |scope| Rule::new("r".into(), scope, Match::default(), Decision::Reject, Some(10.0)).unwrap();
    let session = |id: &str| Scope { session_id: Some(id.into()), ..Scope::default() };
    let cwd = |cwd: &str| Scope { cwd: Some(cwd.into()), ..Scope::default() };
    for (scope, applies) in [
        (Scope::default(), true),
        (session("ses_1"), true),
        (session("ses_2"), false),
        (cwd("/w"), true),
        (cwd("/"), true),
        (cwd("/w/x"), false),
        (cwd("/wx"), false),
    ] {
        assert_eq!(within(scope.clone()).applies(caller(), &command("ls"), 9.0), applies, "{scope:?}");
        assert!(!within(scope).applies(caller(), &command("ls"), 10.0));
    }
}

#[test]
fn what_is_no_rule() {
    let new = |scope, matches, decision| Rule::new("r".into(), scope, matches, decision, None).map(|_| ());
    assert_eq!(
        new(Scope::default(), Match::default(), Decision::Allow).unwrap_err(),
        "an `allow` rule needs a scope or something to match"
    );
    assert!(new(Scope::default(), Match::default(), Decision::Reject).is_ok());
    let open = new(Scope::default(), globs(Some("[a"), None), Decision::Ask).unwrap_err();
    assert!(open.starts_with("`command_glob`: "), "{open}");
    let relative = Scope { cwd: Some("w".into()), ..Scope::default() };
    assert_eq!(
        new(relative, Match::default(), Decision::Ask).unwrap_err(),
        "`scope.cwd` must be an absolute path"
    );
}

proptest! {
    #[test]
    fn a_compound_text_is_never_allowed_by_its_command(
        before in "[a-z -]{0,12}", operator in "[;&|<>()`\n]", after in "\\PC{0,12}"
    ) {
        let text = format!("{before}{operator}{after}");
        let allow = rule(Decision::Allow, globs(Some("*"), None));
        prop_assert!(!allow.applies(caller(), &command(&text), 0.0));
    }

    #[test]
    fn what_is_allowed_would_be_rejected_by_the_same_match(text in "\\PC{0,20}", glob in "[a-z*? ]{1,6}") {
        let matches = globs(Some(&glob), None);
        let (allow, reject) = (rule(Decision::Allow, matches.clone()), rule(Decision::Reject, matches));
        let call = command(&text);
        prop_assert!(!allow.applies(caller(), &call, 0.0) || reject.applies(caller(), &call, 0.0));
    }

    #[test]
    fn no_glob_panics(glob in "\\PC{0,12}", text in "\\PC{0,12}") {
        if let Ok(rule) = Rule::new("r".into(), Scope::default(), globs(Some(&glob), Some(&glob)), Decision::Ask, None) {
            let _ = rule.applies(caller(), &command(&text), 0.0);
        }
    }
}
