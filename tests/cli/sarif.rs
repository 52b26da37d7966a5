//! SARIF as code-scanning views read it: what the standard demands of every member that is written, and that the line which
//! widened is the one that is marked.

use crate::run::{Ran, folder, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A document with findings of every kind: an error with a fix, a warning with a place beside it, one about no place.
const BAD: &str = "\
preset: lokced
endpoints:
  shel: false
  download: { limits: { max_bytes: 0 }, paths: { allow: [/srv/é], deny: [/srv] } }
";

const OLD: &str = "\
endpoints:
  upload: { limits: { max_bytes: 5MB } }
  download: { paths: { deny: [.env, '*.pem'] } }
  system_metrics: { scopes: ['system:read'] }
";

const NEW: &str = "\
# One line more, so that no place is the same by chance.
endpoints:
  upload: { limits: { max_bytes: 50MB } }
  download: { paths: { deny: [.env] } }
  system_metrics: { scopes: ['files:read'] }
";

fn files() -> tempfile::TempDir {
    folder(&BTreeMap::from(
        [
            ("bad policy.yaml", BAD),
            ("good.yaml", "endpoints:\n  shell: false\n"),
            ("warned.yaml", "endpoints:\n  shell: {}\n"),
            ("old.yaml", OLD),
            ("new.yaml", NEW),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned())),
    ))
}

fn called(dir: &Path, args: &[&str]) -> (Ran, Value) {
    let call: Vec<&str> = args.iter().chain(&["--format", "sarif"]).copied().collect();
    let ran = run(dir, &call, &BTreeMap::new(), "");
    let log = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    (ran, log)
}

fn results(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().expect("a run has results")
}

#[test]
fn every_log_is_what_the_standard_demands() {
    let schema: Value = serde_json::from_str(include_str!("sarif.schema.json")).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let dir = files();
    let calls: &[(&[&str], i32, bool)] = &[
        (&["check-config", "--policy", "good.yaml"], 0, true),
        (&["check-config", "--policy", "warned.yaml"], 0, true),
        (&["check-config", "--policy", "bad policy.yaml"], 1, true),
        (&["check-config", "--policy", "absent.yaml"], 3, false),
        (&["diff", "old.yaml", "old.yaml"], 0, true),
        (&["diff", "old.yaml", "new.yaml", "--deny-widening"], 4, true),
        (&["diff", "new.yaml", "old.yaml"], 0, true),
        (&["diff", "bad policy.yaml", "old.yaml"], 1, true),
        (&["diff", "old.yaml", "absent.yaml"], 3, false),
    ];
    let mut written = 0;
    for (args, exit, successful) in calls {
        let (ran, log) = called(dir.path(), args);
        assert_eq!(ran.exit, *exit, "{args:?}: {}", ran.stderr);
        let faults: Vec<String> =
            validator.iter_errors(&log).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{args:?}: {faults:#?}");
        let called = &log["runs"][0]["invocations"][0];
        assert_eq!(called["executionSuccessful"], *successful, "{args:?}");
        assert_eq!(called["exitCode"], *exit, "{args:?}");
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("a list of rules");
        for result in results(&log) {
            let index = result["ruleIndex"].as_u64().expect("an index");
            let rule = &rules[usize::try_from(index).expect("a small index")];
            assert_eq!(rule["id"], result["ruleId"], "{args:?}");
            written += 1;
        }
    }
    assert!(written >= 10, "{written} results were looked at");
}

#[test]
fn the_line_that_changed_is_marked() {
    let dir = files();
    let (_, log) = called(dir.path(), &["diff", "old.yaml", "new.yaml"]);
    let marked: Vec<_> = results(&log)
        .iter()
        .map(|result| {
            let place = |location: &Value| {
                let region = &location["physicalLocation"]["region"];
                let file = location["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("a file");
                let text = if file == "new.yaml" { NEW } else { OLD };
                let number = |name: &str| usize::try_from(region[name].as_u64().expect(name)).expect(name);
                let start = number("byteOffset");
                let line = text.get(..start).expect("a place in the text").lines().count();
                assert_eq!(number("startLine"), line, "{region}");
                let marked = text.get(start..start + number("byteLength"));
                format!("{file}:{line} {}", marked.expect("a range of the text"))
            };
            let related = result["relatedLocations"].as_array().expect("where it stood before");
            [
                result["ruleId"].as_str().expect("a rule").to_owned(),
                result["level"].as_str().expect("a level").to_owned(),
                place(&result["locations"][0]),
                place(&related[0]),
            ]
        })
        .collect();
    let wanted = [
        ["widened", "warning", "new.yaml:3 50MB", "old.yaml:2 5MB"],
        ["widened", "warning", "new.yaml:4 [.env]", "old.yaml:3 '*.pem'"],
        ["reshaped", "warning", "new.yaml:5 ['files:read']", "old.yaml:4 ['system:read']"],
    ];
    assert_eq!(marked, wanted.map(|row| row.map(str::to_owned)));
}
