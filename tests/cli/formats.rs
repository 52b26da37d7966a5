//! Every format is a view of one verdict: the same findings, the same exit status, on stdout alone.

use crate::run::{Ran, folder, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Documents with their exit status without and with `--strict`.
const DOCUMENTS: &[(&str, &str, i32, i32)] = &[
    ("clean", "endpoints:\n  shell: false\n", 0, 0),
    ("warning", "endpoints:\n  shell: {}\n", 0, 1),
    ("error", "endpoints:\n  shel: false\n", 1, 1),
    ("several", "preset: lokced\nendpoints:\n  shel: false\n  download: {limits: {max_bytes: 0}}\n", 1, 1),
    ("syntax", "endpoints: [\n", 1, 1),
    ("information", "preset: locked\nendpoints:\n  files_stat: true\n", 0, 0),
];

/// The codes of the findings as each format tells them, in order.
fn codes(format: &str, ran: &Ran) -> Vec<String> {
    let words = |value: &Value, member: &str| {
        let list = value[member].as_array().cloned().unwrap_or_default();
        list.iter().map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
    };
    let between = |line: &str, open: &str, close: &str| {
        let rest = line.split_once(open)?.1;
        Some(rest.split_once(close)?.0.to_owned())
    };
    match format {
        "human" => {
            let heads = ["error[", "warning[", "note["];
            let head = |line: &&str| heads.iter().any(|head| line.starts_with(head));
            ran.stdout.lines().filter(head).filter_map(|line| between(line, "[", "]")).collect()
        }
        "json" => words(&serde_json::from_str(&ran.stdout).expect("one JSON document"), "findings"),
        "jsonl" => (ran.stdout.lines())
            .map(|line| serde_json::from_str::<Value>(line).expect("one JSON document a line"))
            .filter(|line| line["type"] == "finding")
            .map(|line| line["code"].as_str().expect("a code").to_owned())
            .collect(),
        "sarif" => {
            let document: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
            let results = document["runs"][0]["results"].as_array().cloned().unwrap_or_default();
            results.iter().map(|result| result["ruleId"].as_str().expect("a rule").to_owned()).collect()
        }
        "github" => ran.stdout.lines().filter_map(|line| between(line, "title=", "::")).collect(),
        "junit" => {
            let cases = ran.stdout.lines().filter(|line| line.contains("<testcase"));
            cases.filter_map(|line| between(line, "\" name=\"", " at ")).collect()
        }
        other => panic!("unknown format {other}"),
    }
}

fn check(dir: &Path, format: &str, strict: bool) -> Ran {
    let mut args = vec!["check-config", "--policy", "template.yaml", "--format", format];
    args.extend(strict.then_some("--strict"));
    run(dir, &args, &BTreeMap::new(), "")
}

#[test]
fn formats_agree_on_findings_and_exit_status() {
    for (name, text, plain, strict) in DOCUMENTS {
        let dir = folder(&BTreeMap::from([("template.yaml".to_owned(), (*text).to_owned())]));
        for (flag, wanted) in [(false, *plain), (true, *strict)] {
            let reference = codes("json", &check(dir.path(), "json", flag));
            for format in ["human", "json", "jsonl", "sarif", "github", "junit"] {
                let ran = check(dir.path(), format, flag);
                assert_eq!(ran.exit, wanted, "{name} as {format}, strict {flag}: {}", ran.stdout);
                assert_eq!(codes(format, &ran), reference, "{name} as {format}, strict {flag}");
                assert_eq!(
                    ran.stderr, "",
                    "{name} as {format}: findings go to stdout, and nothing else is said"
                );
                assert!(!ran.stdout.contains('\u{1b}'), "{name} as {format}: no colour into a pipe");
            }
        }
    }
}

#[test]
fn json_is_one_valid_document_for_every_outcome() {
    let schema: Value = serde_json::from_str(include_str!("../../schemas/check-report.schema.json"))
        .expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let files = BTreeMap::from([
        ("good.yaml".to_owned(), "endpoints:\n  shell: false\n".to_owned()),
        ("bad.yaml".to_owned(), "endpoints:\n  shel: false\n".to_owned()),
    ]);
    let dir = folder(&files);
    let calls: &[(&[&str], i32)] = &[
        (&["--policy", "good.yaml"], 0),
        (&["--policy", "bad.yaml"], 1),
        (&["--policy", "bad.yaml", "--policy", "good.yaml"], 1),
        (&["--policy", "good.yaml", "--explain", "download", "--path", "/etc/passwd"], 0),
        (
            &["--policy", "good.yaml", "--explain", "download", "--path", "/etc/passwd", "--expect", "allow"],
            1,
        ),
        (&["--policy", "good.yaml", "--explain", "downlod"], 2),
        (&["--policy", "good.yaml", "--explain", "shell", "--scopes", "files:raed"], 2),
        (&["--policy", "good.yaml", "--deny", "no-such-code"], 2),
        (&["--policy", "good.yaml", "--no-such-flag"], 2),
        (&["--policy", "absent.yaml"], 3),
        (&["--policy", "good.yaml", "--preset", "lokced"], 1),
    ];
    for (args, wanted) in calls {
        let call: Vec<&str> = ["check-config", "--json"].iter().chain(*args).copied().collect();
        let ran = run(dir.path(), &call, &BTreeMap::new(), "");
        assert_eq!(ran.exit, *wanted, "{args:?}: {}{}", ran.stdout, ran.stderr);
        let report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"));
        let faults: Vec<String> = validator
            .iter_errors(&report)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{args:?}: {faults:?}");
        assert_eq!(report["exit_code"], *wanted, "{args:?}");
    }
}
