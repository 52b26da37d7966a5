//! `diff` beyond its cases: revisions of git, compiled sets, standard input, and that every format tells the same.

use crate::run::{Ran, folder, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const OLD: &str = "endpoints:\n  upload: { limits: { max_bytes: 5MB } }\n";
const NEW: &str = "endpoints:\n  upload: { limits: { max_bytes: 50MB } }\n";

fn pair() -> tempfile::TempDir {
    folder(&BTreeMap::from([
        ("old.yaml".to_owned(), OLD.to_owned()),
        ("new.yaml".to_owned(), NEW.to_owned()),
    ]))
}

fn diff(dir: &Path, args: &[&str]) -> Ran {
    let call: Vec<&str> = ["diff"].iter().chain(args).copied().collect();
    run(dir, &call, &BTreeMap::new(), "")
}

/// The verdicts that a JSON report tells.
fn verdicts(ran: &Ran) -> Vec<String> {
    let report: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
    let comparisons = report["comparisons"].as_array().cloned().unwrap_or_default();
    let changes = comparisons.iter().flat_map(|one| one["changes"].as_array().cloned().unwrap_or_default());
    changes.map(|change| change["verdict"].as_str().expect("a word").to_owned()).collect()
}

#[test]
fn a_revision_is_compared_with_the_working_tree() {
    let dir = pair();
    let git = |args: &[&str]| {
        let settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").args(settings).args(args).current_dir(dir.path()).output();
        assert!(ran.expect("git starts").status.success(), "{args:?}");
    };
    std::fs::create_dir(dir.path().join("t")).expect("a folder");
    std::fs::copy(dir.path().join("old.yaml"), dir.path().join("t/a.yaml")).expect("a copy");
    git(&["init", "-q"]);
    git(&["add", "t"]);
    git(&["commit", "-qm", "old"]);
    std::fs::copy(dir.path().join("new.yaml"), dir.path().join("t/a.yaml")).expect("a copy");
    for (old, new) in [("git:HEAD:t/a.yaml", "t/a.yaml"), ("git:HEAD:t", "t"), ("git:HEAD:t/", "t/")] {
        let ran = diff(dir.path(), &[old, new, "--json", "--deny-widening"]);
        assert_eq!(ran.exit, 4, "{old}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(verdicts(&ran), ["widened"], "{old}");
    }
    for absent in ["git:HEAD:t/b.yaml", "git:nowhere:t/a.yaml"] {
        let ran = diff(dir.path(), &[absent, "t/a.yaml"]);
        assert_eq!(ran.exit, 3, "{absent}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(&format!("error: cannot read `{absent}`: ")), "{}", ran.stderr);
    }
}

#[test]
fn a_compiled_set_stands_for_its_text() {
    let dir = pair();
    for name in ["old", "new"] {
        let (text, set) = (format!("{name}.yaml"), format!("{name}.json"));
        let ran = run(dir.path(), &["compile", "--policy", &text, "-o", &set], &BTreeMap::new(), "");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    }
    for (old, new) in [("old.json", "new.yaml"), ("old.yaml", "new.json"), ("old.json", "new.json")] {
        assert_eq!(verdicts(&diff(dir.path(), &[old, new, "--json"])), ["widened"], "{old} {new}");
    }
    assert_eq!(verdicts(&diff(dir.path(), &["old.json", "old.yaml", "--json"])), [""; 0]);
    let ran = diff(dir.path(), &["old.json", "new.json"]);
    assert!(ran.stdout.contains("before by `policy:endpoints.upload` at old.yaml:2:34"), "{}", ran.stdout);
    let broken =
        std::fs::read_to_string(dir.path().join("old.json")).expect("the set").replace("5000000", "6000000");
    std::fs::write(dir.path().join("old.json"), broken).expect("the set");
    assert_eq!(diff(dir.path(), &["old.json", "new.yaml"]).exit, 1);
}

#[test]
fn a_side_may_come_from_standard_input() {
    let dir = pair();
    let ran = run(dir.path(), &["diff", "-", "new.yaml", "--json"], &BTreeMap::new(), OLD);
    assert_eq!(verdicts(&ran), ["widened"]);
    assert_eq!(diff(dir.path(), &["-", "-"]).exit, 2);
}

#[test]
fn every_format_ends_alike_and_fits_its_schema() {
    let schema = run(Path::new("."), &["schema", "diff-report"], &BTreeMap::new(), "").stdout;
    let schema: Value = serde_json::from_str(&schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema that is one");
    let dir = pair();
    for (args, exit) in [
        (&["old.yaml", "new.yaml"][..], 0),
        (&["old.yaml", "new.yaml", "--deny-widening"], 4),
        (&["new.yaml", "old.yaml", "--deny-widening"], 0),
        (&["old.yaml", "absent.yaml", "--deny-widening"], 3),
        (&["old.yaml"], 2),
    ] {
        for format in ["human", "json", "sarif", "github"] {
            let call: Vec<&str> = args.iter().chain(&["--format", format]).copied().collect();
            let ran = diff(dir.path(), &call);
            assert_eq!(ran.exit, exit, "{args:?} as {format}: {}{}", ran.stdout, ran.stderr);
            assert!(!ran.stdout.contains('\u{1b}'), "{args:?} as {format}: no colour into a pipe");
        }
        let call: Vec<&str> = args.iter().chain(&["--json"]).copied().collect();
        let report: Value = serde_json::from_str(&diff(dir.path(), &call).stdout).expect("one JSON document");
        let faults: Vec<String> = validator.iter_errors(&report).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{args:?}: {faults:?}");
        assert_eq!(report["exit_code"], exit, "{args:?}");
    }
}
