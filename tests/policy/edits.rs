//! Changes that explain offers, over every style a document may have: each turns the verdict and leaves the rest alone.

use policy_lang::decide::{CommandQuery, Decision, Op, PathQuery, Query, decide};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::explain::edits::apply;
use policy_lang::explain::{EditReport, Question, edits};
use policy_lang::parse::Format;
use policy_lang::scope::ScopeSet;
use policy_lang::{Document, Inputs, compile_document};

/// The texts that the offered changes make, after it is checked that each turns the verdict.
fn offers(text: Option<&str>, query: Query<'_>) -> Vec<(String, String)> {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let inputs = Inputs::new(&catalogue, &levels);
    let allows = |text: &str| {
        let document = Document { name: "template.yaml", bytes: text.as_bytes(), format: Format::Auto };
        let outcome = compile_document((!text.is_empty()).then_some(document), &inputs);
        let policy = outcome.policy.unwrap_or_else(|| panic!("{text}\n{:?}", outcome.diagnostics));
        matches!(decide(&policy, &query), Decision::Allow)
    };
    let document =
        text.map(|text| Document { name: "template.yaml", bytes: text.as_bytes(), format: Format::Auto });
    let before = text.unwrap_or_default();
    let offered = edits(document, &inputs, &Question { query, identity: None });
    offered
        .into_iter()
        .map(|EditReport { message, edits, .. }| {
            let after = apply(before, &edits).unwrap();
            assert_ne!(allows(before), allows(&after), "{message}\n{after}");
            (message, after)
        })
        .collect()
}

fn first(text: Option<&str>, query: Query<'_>) -> String {
    offers(text, query).into_iter().next().map_or_else(String::new, |(_, after)| after)
}

fn of(name: &str) -> Query<'static> {
    Query::of(Catalogue::builtin().resolve(name).unwrap())
}

/// A document, and the same with `code_run` opened in the first way offered.
const OPENED: &[(&str, &str)] = &[
    // Block style: after the last entry, in the document's indentation, comments and blank lines left alone
    (
        "endpoints:\n    shell:\n        enabled: false   # why\n\ndefaults:\n    audit: all\n",
        "endpoints:\n    shell:\n        enabled: false   # why\n    code_run:\n        enabled: true\n\ndefaults:\n    audit: all\n",
    ),
    // No `endpoints:` yet
    ("preset: hardened\n", "preset: hardened\nendpoints:\n  code_run:\n    enabled: true\n"),
    (
        "server:\n  preset: hardened",
        "server:\n  preset: hardened\n  endpoints:\n    code_run:\n      enabled: true",
    ),
    // A template without a policy
    ("image: base\n", "image: base\nserver:\n  endpoints:\n    code_run:\n      enabled: true\n"),
    // Windows line ends
    (
        "server:\r\n  endpoints:\r\n    shell: false\r\n",
        "server:\r\n  endpoints:\r\n    shell: false\r\n    code_run:\r\n      enabled: true\r\n",
    ),
    // The short form, and a rule that closes
    ("endpoints: {code_run: false}\n", "endpoints: {code_run: true}\n"),
    ("endpoints:\n  code_run:\n    enabled: false\n", "endpoints:\n  code_run:\n    enabled: true\n"),
    (
        "endpoints:\n  code_run:\n    audit: all\n",
        "endpoints:\n  code_run:\n    audit: all\n    enabled: true\n",
    ),
    // Flow style, empty and not
    ("{}", r#"{"endpoints": {"code_run": {"enabled": true}}}"#),
    ("endpoints: {}\n", "endpoints: {code_run: {enabled: true}}\n"),
    ("endpoints: {shell: false}\n", "endpoints: {shell: false, code_run: {enabled: true}}\n"),
    // JSON, on one line and on several
    (r#"{"preset": "default"}"#, r#"{"preset": "default", "endpoints": {"code_run": {"enabled": true}}}"#),
    (
        "{\n  \"endpoints\": {\n    \"shell\": false\n  }\n}\n",
        "{\n  \"endpoints\": {\n    \"shell\": false,\n    \"code_run\": {\"enabled\": true}\n  }\n}\n",
    ),
    (
        r#"{"server": {"endpoints": {"code_run": {"audit": "all"}}}}"#,
        r#"{"server": {"endpoints": {"code_run": {"audit": "all", "enabled": true}}}}"#,
    ),
    // A list at the end, at the indentation of its key
    (
        "endpoints:\n  shell:\n    params:\n      allow_commands:\n      - git\n",
        "endpoints:\n  shell:\n    params:\n      allow_commands:\n      - git\n  code_run:\n    enabled: true\n",
    ),
    // Text beyond ASCII before it
    (
        "# 端点策略\nendpoints: {shell: false}\n",
        "# 端点策略\nendpoints: {shell: false, code_run: {enabled: true}}\n",
    ),
    // Anchors and aliases
    (
        "x-open: &open {audit: all}\nserver:\n  endpoints:\n    shell: *open\n",
        "x-open: &open {audit: all}\nserver:\n  endpoints:\n    shell: *open\n    code_run:\n      enabled: true\n",
    ),
];

#[test]
fn an_endpoint_is_opened_in_the_style_of_the_document() {
    for (before, wanted) in OPENED {
        assert_eq!(first(Some(before), of("code_run")), *wanted, "{before}");
    }
}

#[test]
fn without_a_document_one_is_written() {
    assert_eq!(first(None, of("code_run")), "endpoints:\n  code_run:\n    enabled: true\n");
}

#[test]
fn elements_go_and_come() {
    let path = |path, op| [PathQuery { role: "path", path, op }];
    let secret = path("/home/user/.env".as_bytes(), Op::Read);
    let denied = Query { paths: &secret, ..of("download") };
    for (before, wanted) in [
        ("defaults: {paths: {deny: [.env]}}\n", "defaults: {paths: {deny: []}}\n"),
        ("defaults: {paths: {deny: [a, .env]}}\n", "defaults: {paths: {deny: [a]}}\n"),
        ("defaults: {paths: {deny: [.env, a]}}\n", "defaults: {paths: {deny: [a]}}\n"),
        ("defaults:\n  paths:\n    deny:\n      - .env\n", "defaults:\n  paths:\n    deny: []\n"),
        (
            "defaults:\n  paths:\n    deny:\n      - a\n      - .env  # ours\n",
            "defaults:\n  paths:\n    deny:\n      - a\n",
        ),
        (
            r#"{"defaults": {"paths": {"deny": [".env", "b"]}}}"#,
            r#"{"defaults": {"paths": {"deny": ["b"]}}}"#,
        ),
    ] {
        assert_eq!(first(Some(before), denied), wanted, "{before}");
    }
    let outside = path(b"/srv/data/x", Op::Read);
    let outside = Query { paths: &outside, ..of("download") };
    for (before, wanted) in [
        ("{}", r#"{"endpoints": {"download": {"paths": {"allow": ["/home/user", "/srv/data/x"]}}}}"#),
        (
            "endpoints: {download: {paths: {allow: []}}}\n",
            "endpoints: {download: {paths: {allow: [/srv/data/x]}}}\n",
        ),
        (
            "endpoints:\n  download:\n    paths:\n      allow:\n        - /home/user # home\n",
            "endpoints:\n  download:\n    paths:\n      allow:\n        - /home/user # home\n        - /srv/data/x\n",
        ),
        (
            "endpoints:\n  \"{download,upload}\": {paths: {allow: [/opt]}}\n",
            "endpoints:\n  \"{download,upload}\": {paths: {allow: [/opt]}}\n  download:\n    paths:\n      allow: [/opt, /srv/data/x]\n",
        ),
    ] {
        assert_eq!(first(Some(before), outside), wanted, "{before}");
    }
}

#[test]
fn what_no_edit_can_turn_is_not_offered() {
    let never = [PathQuery { role: "path", path: b"/proc/self/mem", op: Op::Read }];
    assert!(offers(Some("{}"), Query { paths: &never, ..of("download") }).is_empty());
    assert!(offers(Some("{}"), of("health")).is_empty());
}

#[test]
fn who_shares_an_anchor_is_said() {
    let before = "endpoints:\n  files_stat: {paths: &here {allow: [/opt]}}\n  download: {paths: *here}\n  files_list: {paths: *here}\n";
    let path = [PathQuery { role: "path", path: b"/srv/x", op: Op::Read }];
    for endpoint in ["files_stat", "download"] {
        let (message, after) =
            offers(Some(before), Query { paths: &path, ..of(endpoint) }).into_iter().next().unwrap();
        assert_eq!(
            message,
            format!(
                "add `/srv/x` to `paths.allow` of `{endpoint}` (aliases bring it to 2 other places, which change too)"
            )
        );
        assert_eq!(after, before.replace("[/opt]", "[/opt, /srv/x]"));
    }
    let outside = "x: &here {allow: [/opt]}\nserver: {endpoints: {download: {paths: *here}}}\n";
    let (message, _) = offers(Some(outside), Query { paths: &path, ..of("download") }).swap_remove(0);
    assert_eq!(message, "add `/srv/x` to `paths.allow` of `download`");
}

#[test]
fn a_call_refused_twice_is_turned_by_one_offer() {
    let scopes = ScopeSet::parse(["files:read"]).unwrap();
    let command = CommandQuery { argv0: "cargo", found: None, target: None };
    let query = Query { scopes: Some(&scopes), command: Some(command), ..of("shell") };
    let before = "endpoints:\n  shell:\n    enabled: false\n    params: {allow_commands: [ls]}\n";
    let [(message, after)] = &*offers(Some(before), query) else { panic!("one offer is wanted") };
    assert_eq!(
        message,
        "set `enabled: true` for `shell`; let `files:read` be enough for `shell`; add `cargo` to `params.allow_commands` of `shell`"
    );
    assert_eq!(
        after,
        "endpoints:\n  shell:\n    enabled: true\n    params: {allow_commands: [ls, cargo]}\n    scopes: [files:read]\n"
    );
}

#[test]
fn an_allowed_call_can_be_closed() {
    let path = [PathQuery { role: "path", path: b"/home/user/notes", op: Op::Read }];
    let query = Query { paths: &path, ..of("download") };
    let messages: Vec<_> = offers(Some("{}"), query).into_iter().map(|(message, _)| message).collect();
    assert_eq!(
        messages,
        ["add `/home/user/notes` to `paths.deny` of `download`", "set `enabled: false` for `download`"]
    );
}
