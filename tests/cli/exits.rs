//! Exit statuses: one for each kind of outcome, whatever the format and the colours.

use crate::run::{folder, run};
use std::collections::BTreeMap;

/// What is wrong, the arguments, the status.
const OUTCOMES: &[(&str, &[&str], i32)] = &[
    ("nothing", &["--policy", "good.yaml"], 0),
    ("a warning", &["--policy", "warning.yaml"], 0),
    ("a warning under --strict", &["--policy", "warning.yaml", "--strict"], 1),
    ("an error", &["--policy", "error.yaml"], 1),
    ("bad YAML", &["--policy", "syntax.yaml"], 1),
    ("bad YAML under --strict", &["--policy", "syntax.yaml", "--strict"], 1),
    ("a missed expectation", &["--policy", "good.yaml", "--explain", "shell", "--expect", "allow"], 1),
    ("a flag that is none", &["--policy", "good.yaml", "--nonsense"], 2),
    ("an endpoint that is none", &["--policy", "good.yaml", "--explain", "shel"], 2),
    ("a file that is not there", &["--policy", "absent.yaml"], 3),
    ("a file that is not there, and an error", &["--policy", "absent.yaml", "--policy", "error.yaml"], 3),
];

#[test]
fn f5_each_kind_of_outcome_has_its_status_under_every_flag() {
    let files = [
        ("good.yaml", "endpoints: { shell: false }\n"),
        ("warning.yaml", "endpoints: { shell: {} }\n"),
        ("error.yaml", "endpoints: { shel: false }\n"),
        ("syntax.yaml", "endpoints: [\n"),
    ];
    let dir = folder(&files.map(|(name, text)| (name.to_owned(), text.to_owned())).into());
    for (what, args, wanted) in OUTCOMES {
        for format in ["human", "json", "jsonl", "sarif", "github", "junit"] {
            for no_colour in [false, true] {
                let call: Vec<&str> =
                    ["check-config", "--format", format].iter().chain(*args).copied().collect();
                let mut env = BTreeMap::new();
                if no_colour {
                    env.insert("NO_COLOR".to_owned(), "1".to_owned());
                }
                let ran = run(dir.path(), &call, &env, "");
                assert_eq!(ran.exit, *wanted, "{what} as {format}: {}{}", ran.stdout, ran.stderr);
            }
        }
    }
}
