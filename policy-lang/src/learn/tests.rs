//! Learning over small policies: what is written, what is listed, and that it is proved.

use super::*;

fn today(text: &str) -> CompiledPolicy {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "template.yaml", bytes: text.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    outcome.policy.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics))
}

fn call(id: &str, identity: Option<&str>, path: Option<&str>, program: Option<&str>) -> Observed {
    Observed {
        endpoint: Catalogue::builtin().resolve(id).unwrap(),
        identity: identity.map(str::to_owned),
        path: path.map(str::to_owned),
        program: program.map(str::to_owned),
        command: None,
    }
}

#[test]
fn what_was_called_stays_and_nothing_else() {
    let policy = today(concat!(
        "base_dir: /home/user\ndefaults: {paths: {deny: [\"**/.git/**\"]}}\nendpoints:\n",
        "  download: {paths: {allow: [/home/user/out, /srv/data]}, limits: {max_bytes: 5MB}}\n",
        "  shell: {params: {allow_commands: [make, ls]}}\n",
        "auth:\n  tokens:\n    - {id: ci, token_env: CI, scopes: [\"*\"]}\n",
        "    - {id: idle, token_env: IDLE, scopes: [\"files:read\"]}\n",
    ));
    let observed = [
        call("download", Some("ci"), Some("/home/user/out/a.txt"), None),
        call("download", Some("ci"), Some("/home/user/out/b/c.txt"), None),
        call("shell", Some("ci"), None, Some("make")),
        call("upload", Some("idle"), Some("/etc/passwd"), None),
    ];
    let learned = learn(&observed, &policy, &Catalogue::builtin()).unwrap();
    assert_eq!(
        learned.document,
        concat!(
            "server:\n  preset: locked\n  base_dir: /home/user\n  endpoints:\n    download:\n      enabled: true\n",
            "      paths: { allow: [/home/user/out/a.txt, /home/user/out/b/c.txt], deny: [\"**/.git/**\"] }\n",
            "      limits: { max_bytes: 5000000 }\n    shell:\n      enabled: true\n",
            "      paths: { deny: [\"**/.git/**\"] }\n      params: { allow_commands: [make] }\n",
            "  auth:\n    tokens:\n      - id: ci\n        token_env: CI\n        scopes: [files:read, process:run]\n",
        )
    );
    assert_eq!(learned.unused_tokens, ["idle"]);
    assert_eq!(
        learned.unused_entries,
        [
            ("download".to_owned(), Key::PathsAllow, vec!["/srv/data".to_owned()]),
            ("shell".to_owned(), Key::ParamsAllowCommands, vec!["ls".to_owned()])
        ]
    );
    assert_eq!(learned.unused_scopes, [("ci".to_owned(), vec!["*".to_owned()])]);
    assert_eq!(learned.refused, [observed[3].clone()]);
    assert!(learned.unused_endpoints.contains(&"upload".to_owned()));
}

#[test]
fn nothing_observed_is_nothing_learnt() {
    assert_eq!(learn(&[], &today("{}"), &Catalogue::builtin()), Err(LearnError::Nothing));
}
