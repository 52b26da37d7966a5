//! What the command line prints about itself and its interfaces stands in git: help texts, OpenAPI, report schema.

use crate::golden::Goldens;
use crate::run::run;
use std::collections::BTreeMap;
use std::path::Path;

const COMMANDS: &[&str] = &[
    "check-config",
    "test",
    "fmt",
    "learn",
    "lsp",
    "compile",
    "diff",
    "inspect",
    "endpoints",
    "schema",
    "openapi",
    "rule",
    "completions",
    "serve",
    "healthcheck",
    "version",
];

fn printed(args: &[&str]) -> String {
    let ran = run(Path::new("."), args, &BTreeMap::new(), "");
    assert_eq!(ran.exit, 0, "{args:?}: {}", ran.stderr);
    ran.stdout
}

#[test]
fn help_is_what_stands_in_git() {
    let mut goldens = Goldens::new("cargo test -p runtime --test cli", &[("tests/cli/help", "txt")]);
    let whole = printed(&["--help"]);
    goldens.compare("tests/cli/help/agent-sandbox-server.txt", &whole);
    for command in COMMANDS {
        goldens.compare(format!("tests/cli/help/{command}.txt"), &printed(&[command, "--help"]));
    }
    let listed = whole
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   ") && !line.contains("--"));
    let listed: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    for command in listed.into_iter().filter(|command| !command.starts_with('-') && *command != "help") {
        assert!(COMMANDS.contains(&command), "`{command}` has no help text in git: add it to COMMANDS");
    }
    goldens.finish();
}

#[test]
fn interfaces_are_what_stands_in_git() {
    let mut goldens = Goldens::new("cargo test -p runtime --test cli", &[]);
    goldens.compare("schemas/openapi.json", &printed(&["openapi"]));
    for which in ["policy", "compiled", "check-report", "diff-report"] {
        goldens.compare(format!("schemas/{which}.schema.json"), &printed(&["schema", which]));
    }
    goldens.finish();
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for command in COMMANDS {
            assert!(script.contains(command), "the {shell} script does not know `{command}`");
        }
    }
}
