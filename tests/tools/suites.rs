//! Policy tests at work: what mutants survive, and that a test which asserts the verdict notices a flipped rule.

use policy_lang::diag::{Code, Levels};
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::source::SourceMap;
use policy_lang::testing::coverage::coverage;
use policy_lang::testing::mutate::mutate;
use policy_lang::testing::{read, run};
use policy_lang::variant::Stack;
use policy_lang::{Document, Inputs, compile_document};
use std::fmt::Write;

const POLICY: &str = "\
server:
  preset: locked
  endpoints:
    download:
      enabled: true
      paths: { allow: [/home/user/out], deny: [\"*.pem\", \"*.key\"] }
      limits: { max_bytes: 1MB, rate_per_minute: 60 }
    shell: { enabled: true, params: { allow_commands: [ls] } }
";

/// What the tests decide, and the mutants that they do not notice.
fn measured(tests: &str) -> (String, Vec<String>) {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let inputs = Inputs::new(&catalogue, &levels);
    let text = format!("{POLICY}server_tests:\n{tests}");
    let document = Document { name: "template.yaml", bytes: text.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &inputs);
    let (suite, found) = read(&outcome.sources, outcome.document.unwrap(), Format::Yaml, &catalogue);
    assert_eq!(found, []);
    let policy = outcome.policy.as_ref().unwrap();
    for asked in run(&suite, policy, &|_| None) {
        assert_eq!(asked.fault, None);
    }
    let counted = coverage(&[&suite], policy);
    let mut covered = format!("{} of {}", counted.decided, counted.total);
    for missing in counted.missing {
        let keys: Vec<_> = missing.keys.iter().map(|key| key.as_str()).collect();
        let _ = write!(covered, "; {}: {}", missing.rule, keys.join(" "));
    }
    let stack = Stack::new(Some(document), &outcome, &inputs).unwrap();
    let mutation = mutate(&[&suite], &stack, &catalogue).unwrap();
    assert_eq!(mutation.total, mutation.noticed + mutation.survivors.len());
    let survivors = mutation.survivors.iter();
    (covered, survivors.map(|one| format!("{} {}: {}", one.rule, one.key.as_str(), one.change)).collect())
}

#[test]
fn a_lazy_suite_lets_mutants_live() {
    let (covered, survivors) = measured("  - { request: download, expect: allow }\n");
    assert_eq!(
        covered,
        "1 of 7; policy:endpoints.download: paths.allow paths.deny limits.max_bytes limits.rate_per_minute; \
         policy:endpoints.shell: enabled params.allow_commands"
    );
    assert_eq!(
        survivors,
        [
            "endpoints.download paths.allow: the list becomes empty",
            "endpoints.download paths.allow: [/home/user/out] is taken out",
            "endpoints.download paths.deny: `*.pem` is taken out",
            "endpoints.download paths.deny: `*.key` is taken out",
            "endpoints.download limits.max_bytes: 1000000 bytes (1 MB) becomes 2000000 bytes (2 MB)",
            "endpoints.download limits.rate_per_minute: 60 becomes 120",
            "endpoints.shell enabled: true becomes false",
            "endpoints.shell params.allow_commands: the list becomes empty",
            "endpoints.shell params.allow_commands: [ls] is taken out",
        ]
    );
}

#[test]
fn a_thorough_suite_lets_none_live() {
    let (covered, survivors) = measured(
        "  - { request: { endpoint: download, path: /home/user/out/a, bytes: 1MB }, expect: allow }
  - { request: { endpoint: download, path: /home/user/in/a }, expect: deny }
  - { request: { endpoint: download, path: /home/user/out/a.pem }, expect: { code: path_denied } }
  - { request: { endpoint: download, path: /home/user/out/a.key }, expect: { code: path_denied } }
  - { request: { endpoint: download, bytes: 1500KB }, expect: { limits: { rate_per_minute: 60 }, code: file_too_large } }
  - { request: { endpoint: shell, command: ls }, expect: allow }
  - { request: { endpoint: shell, command: rm }, expect: { verdict: deny, rule: policy:endpoints.shell } }\n",
    );
    assert_eq!(covered, "7 of 7");
    assert_eq!(survivors, [""; 0]);
}

#[test]
fn a_template_without_tests_is_told_that_alone() {
    let text = format!("name: transfer\nimage: debian:12\n{POLICY}");
    let mut sources = SourceMap::default();
    let source = sources.add("template.yaml", &text);
    let (suite, found) = read(&sources, source, Format::Yaml, &Catalogue::builtin());
    assert!(suite.own_policy && suite.tests.is_empty());
    let told: Vec<_> =
        found.iter().map(|found| (found.code, &*found.message, found.help.as_deref())).collect();
    let help = "write them as a list under `server_tests`, beside `server`";
    assert_eq!(told, [(Code::NoTests, "this template holds no tests", Some(help))]);
}
