//! What the commands are asked about: documents with edits, a suite, and the same rules and calls for Cedar.

use super::policies;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::Command;
use tempfile::TempDir;

/// Cases of the suite.
pub(super) const CASES: usize = 20_000;

const BASE: &str = "/home/user";

/// A folder with every file that a row names.
pub(super) struct Inputs {
    pub(super) dir: TempDir,
}

impl Inputs {
    pub(super) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        let yaml = |document: &Value| serde_yaml::to_string(document).unwrap();
        for (name, document) in [("lines", of_lines(1_000)), ("long", document(100_000))] {
            write(&format!("{name}.yaml"), &yaml(&document));
            write(&format!("{name}-one.yaml"), &yaml(&edited(&document, 1, without_last)));
            write(&format!("{name}-every.yaml"), &yaml(&edited(&document, usize::MAX, without_last)));
            write(&format!("{name}-covered.yaml"), &yaml(&edited(&document, usize::MAX, with_covered)));
        }
        write("editor.yaml", &yaml(&of_lines(10_000)));
        let document = of_lines(1_000);
        let (suite, tests) = suites(&document);
        write("suite.yaml", &suite);
        write("suite.json", &tests);
        let (schema, cedar) = cedar(&document);
        write("lines.cedarschema", &schema);
        write("lines.cedar", &cedar);
        let schema =
            Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server")).args(["schema", "policy"]).output();
        std::fs::write(dir.path().join("policy.schema.json"), schema.unwrap().stdout).unwrap();
        Self { dir }
    }
}

fn document(bytes: usize) -> Value {
    serde_json::from_str(&policies::json(bytes, BASE)).unwrap()
}

/// The smallest document of so many lines in YAML.
fn of_lines(count: usize) -> Value {
    let lines = |bytes: &usize| policies::yaml(*bytes, BASE).lines().count();
    let bytes = (count * 20..).step_by(500).find(|bytes| lines(bytes) >= count).unwrap();
    document(bytes)
}

/// The document with an edit of the denies of so many rules.
fn edited(document: &Value, rules: usize, edit: fn(&mut Vec<Value>)) -> Value {
    let mut document = document.clone();
    for rule in document["endpoints"].as_object_mut().unwrap().values_mut().take(rules) {
        edit(rule.pointer_mut("/paths/deny").unwrap().as_array_mut().unwrap());
    }
    document
}

fn without_last(deny: &mut Vec<Value>) {
    deny.pop();
}

/// One more, which a first one covers.
fn with_covered(deny: &mut Vec<Value>) {
    deny.push(format!("{}/deep", deny[0].as_str().unwrap()).into());
}

/// The rules of the document: the endpoint, what it allows, what it denies.
fn rules(document: &Value) -> impl Iterator<Item = (&String, Vec<&str>, Vec<&str>)> {
    document["endpoints"].as_object().unwrap().iter().map(|(id, rule)| {
        let words =
            |key: &str| rule["paths"][key].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        (id, words("allow").collect(), words("deny").collect())
    })
}

/// Calls of every rule in turn, half of them denied: as our suite, and as Cedar's.
fn suites(document: &Value) -> (String, String) {
    let mut calls = Vec::new();
    for (id, allow, deny) in rules(document) {
        for entry in allow {
            calls.push((id, format!("{}/report", entry.trim_end_matches("/**")), "allow"));
        }
        for entry in deny {
            let entry = entry.trim_start_matches("**/").replace("**", "x").replace('*', "x");
            calls.push((id, format!("{BASE}/{entry}"), "deny"));
        }
    }
    let mut suite = "policy: lines.yaml\ntests:\n".to_owned();
    let mut tests = Vec::new();
    for (at, (id, path, expect)) in calls.iter().cycle().take(CASES).enumerate() {
        let _ = write!(
            suite,
            "  - name: case {at}\n    request: {{ endpoint: {id}, path: {path} }}\n    expect: {expect}\n"
        );
        tests.push(json!({
            "name": format!("case {at}"),
            "request": {
                "principal": "Caller::\"ci\"",
                "action": format!("Action::\"{id}\""),
                "resource": "Server::\"box\"",
                "context": {"path": path},
            },
            "entities": [],
            "decision": expect,
            "reason": if *expect == "allow" { vec![id] } else { vec![] },
            "num_errors": 0,
        }));
    }
    (suite, serde_json::to_string(&tests).unwrap())
}

/// The same rules for Cedar: its schema and its policies, one an endpoint. Its `*` crosses slashes, as our `**` does.
fn cedar(document: &Value) -> (String, String) {
    let (mut schema, mut text) = ("entity Caller;\nentity Server;\n".to_owned(), String::new());
    for (id, allow, deny) in rules(document) {
        let _ = writeln!(
            schema,
            "action \"{id}\" appliesTo {{ principal: [Caller], resource: [Server], context: {{ path: String }} }};"
        );
        let like = |entries: &[&str]| {
            let each =
                entries.iter().map(|entry| format!("context.path like \"{}\"", entry.replace("**", "*")));
            each.collect::<Vec<_>>().join(" ||\n  ")
        };
        let _ = writeln!(
            text,
            "@id(\"{id}\")\npermit(principal, action == Action::\"{id}\", resource)\nwhen {{\n  {}\n}} unless {{\n  {}\n}};",
            like(&allow),
            like(&deny)
        );
    }
    (schema, text)
}
