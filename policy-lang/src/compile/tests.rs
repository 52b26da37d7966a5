//! What a hand-edited policy can hold, and what comes of it.

use super::*;
use crate::resolved::{List, ResolvedKey, ResolvedStatement, ResolvedValue, StatementIx};
use proptest::prelude::*;

const SHELL: EndpointId = EndpointId::Shell;

fn options() -> Options<'static> {
    Options { base_dir: "/home/user", ..Options::default() }
}

fn list(entries: &[&str]) -> ResolvedValue {
    ResolvedValue::List(List::of(entries))
}

/// One statement of `default:on` about one endpoint.
fn said(id: EndpointId, key: Key, value: ResolvedValue) -> Resolved {
    let mut resolved = Resolved::default();
    resolved.statements.push(ResolvedStatement { key, value, rule: RuleIx::ON, at: None });
    resolved.endpoints = vec![Vec::new(); ENDPOINTS.len()];
    resolved.endpoints[id.index()].push(ResolvedKey { key, statements: vec![StatementIx(0)] });
    resolved
}

fn refusal(resolved: Resolved) -> String {
    compile(resolved, &options()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn nothing_said_is_the_catalogue() {
    let policy = compile(Resolved::default(), &options()).unwrap();
    assert_eq!(policy.endpoints().len(), ENDPOINTS.len());
    for (ix, endpoint) in policy.endpoints() {
        let decl = policy.decl(ix).unwrap();
        let group = &GROUPS[decl.group.index()];
        let rule = match (decl.group, group.default) {
            (Group::Core, _) => RuleIx::CORE,
            (_, DefaultState::On) => RuleIx::ON,
            (_, DefaultState::OptIn) => RuleIx::BASE,
        };
        assert_eq!(
            endpoint.enabled,
            Ruled { value: group.default == DefaultState::On, rule },
            "{}",
            decl.name
        );
        assert_eq!(endpoint.paths.is_some(), decl.accepts.contains(Key::PathsAllow), "{}", decl.name);
        // Names come in the order of the scope table.
        let (mut asked, mut declared) = (endpoint.scopes.value.names(), decl.scopes.to_vec());
        asked.sort_unstable();
        declared.sort_unstable();
        assert_eq!(asked, declared, "{}", decl.name);
    }
    assert_eq!(policy.principals(), None);
}

#[test]
fn endpoints_that_say_the_same_share_their_path_rules() {
    let policy = compile(said(SHELL, Key::PathsDeny, list(&["**/.git/**"])), &options()).unwrap();
    let paths = |id: EndpointId| policy.endpoints[id.index()].paths.as_ref().unwrap();
    assert!(std::sync::Arc::ptr_eq(paths(EndpointId::Upload), paths(EndpointId::FilesMove)));
    assert!(!std::sync::Arc::ptr_eq(paths(EndpointId::Upload), paths(SHELL)));
}

#[test]
fn the_process_replaces_base_values_and_rules_beat_both() {
    let replaced = [(EndpointId::Upload, Key::LimitsMaxBytes, 7)];
    let with = |resolved| {
        let policy = compile(resolved, &Options { base_values: &replaced, ..options() }).unwrap();
        policy.endpoints[EndpointId::Upload.index()].limits.max_bytes.unwrap()
    };
    assert_eq!(with(Resolved::default()), Ruled { value: 7, rule: RuleIx::BASE });
    let resolved = said(EndpointId::Upload, Key::LimitsMaxBytes, ResolvedValue::Number(9));
    assert_eq!(with(resolved), Ruled { value: 9, rule: RuleIx::ON });
}

#[test]
fn indexes_that_lead_nowhere_are_refused() {
    let mut resolved = said(SHELL, Key::Enabled, ResolvedValue::Bool(true));
    resolved.statements.clear();
    assert_eq!(refusal(resolved), "the resolved policy refers to a statement that it does not hold");
    let mut resolved = said(SHELL, Key::Enabled, ResolvedValue::Bool(true));
    resolved.statements[0].rule = RuleIx(99);
    assert_eq!(refusal(resolved), "the resolved policy refers to a rule that it does not hold");
    let mut resolved = said(SHELL, Key::Enabled, ResolvedValue::Bool(true));
    resolved.endpoints[SHELL.index()][0].key = Key::Audit;
    assert_eq!(refusal(resolved), "a statement about `enabled` stands under `audit`");
    let mut resolved = said(SHELL, Key::Enabled, ResolvedValue::Bool(true));
    let twice = resolved.endpoints[SHELL.index()][0].clone();
    resolved.endpoints[SHELL.index()].push(twice);
    assert!(refusal(resolved).contains("keys in an order"));
    let resolved = Resolved { endpoints: vec![Vec::new(); ENDPOINTS.len() + 1], ..Resolved::default() };
    assert!(refusal(resolved).contains("an endpoint"));
}

#[test]
fn values_that_no_document_could_say_are_refused() {
    for (key, value, shown) in [
        (Key::Enabled, ResolvedValue::Number(1), "1"),
        (Key::Scopes, list(&[]), "[]"),
        (Key::Scopes, list(&["filez:read"]), "filez:read"),
        (Key::Audit, ResolvedValue::Word("some".to_owned()), "some"),
        (Key::LimitsTimeoutSeconds, ResolvedValue::Number(0), "0"),
        (Key::PathsAllow, ResolvedValue::Bool(true), "true"),
        (Key::PathsReadOnly, ResolvedValue::Word("x".to_owned()), "x"),
        (Key::PathsSymlinks, ResolvedValue::Word("follow".to_owned()), "follow"),
        (Key::ParamsDenyCommands, list(&["./rm"]), "./rm"),
        (Key::ParamsShells, ResolvedValue::Bool(true), "true"),
        (Key::ParamsEnvDeny, list(&["A=B"]), "A=B"),
    ] {
        assert_eq!(refusal(said(SHELL, key, value)), format!("`{shown}` is no value of `{}`", key.as_str()));
    }
    let wrong = said(SHELL, Key::PathsDeny, list(&["{a,b"]));
    assert_eq!(
        refusal(wrong),
        "the path rules of `shell` cannot be compiled: the entry `{a,b` opens a `{` that nothing closes"
    );
    assert_eq!(
        refusal(said(EndpointId::Health, Key::Enabled, ResolvedValue::Bool(false))),
        "`health` belongs to the core group and cannot be closed"
    );
}

#[test]
fn the_base_directory_must_be_one() {
    for base_dir in ["", "/", "home", "/a/../b", "/a/", "/proc", "/proc/1", "/dev/shm", "/sys"] {
        let options = Options { base_dir, ..Options::default() };
        let error = compile(Resolved::default(), &options).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), format!("`{base_dir}` cannot be the base directory"));
    }
}

#[test]
fn tokens_need_one_secret_of_the_right_form() {
    let token = |token_env: Option<&str>, token_sha256: Option<&str>, scope: &str| ResolvedToken {
        id: "ci".to_owned(),
        scopes: vec![scope.to_owned()],
        token_env: token_env.map(str::to_owned),
        token_sha256: token_sha256.map(str::to_owned),
        at: None,
    };
    let with = |token| compile(Resolved { tokens: Some(vec![token]), ..Resolved::default() }, &options());
    let digest = "0f".repeat(32);
    let policy = with(token(None, Some(&digest), "files:read")).unwrap();
    assert_eq!(policy.principals().unwrap()[0].secret, SecretSource::Sha256([0x0f; 32]));
    assert!(with(token(Some("CI_TOKEN"), None, "*")).is_ok());
    for wrong in [
        token(None, None, "*"),
        token(Some("A"), Some(&digest), "*"),
        token(Some("A=B"), None, "*"),
        token(None, Some(&digest.to_uppercase()), "*"),
        token(None, digest.get(1..), "*"),
        token(None, Some(&format!("sha256:{digest}")), "*"),
        token(Some("A"), None, "files:*"),
    ] {
        assert_eq!(
            with(wrong).map(|_| ()).unwrap_err().to_string(),
            "the token `ci` has no usable secret or scope"
        );
    }
    let none = compile(Resolved { tokens: Some(vec![]), ..Resolved::default() }, &options()).unwrap();
    assert_eq!(none.principals(), Some(&[][..]));
}

fn value() -> impl Strategy<Value = ResolvedValue> {
    prop_oneof![
        any::<bool>().prop_map(ResolvedValue::Bool),
        (0u64..3).prop_map(ResolvedValue::Number),
        "[a-z]{0,4}|deny|all|off".prop_map(ResolvedValue::Word),
        prop::collection::vec(r"[a-z*/.\[{\\:]{0,6}|15|files:read|\.sh", 0..3)
            .prop_map(|entries| list(&entries.iter().map(String::as_str).collect::<Vec<_>>())),
    ]
}

proptest! {
    #[test]
    fn whatever_is_resolved_the_answer_is_a_policy_or_an_error(
        statements in prop::collection::vec((0..Key::COUNT, value(), 0u32..5), 0..6),
        keys in prop::collection::vec((0..130usize, 0..Key::COUNT, 0u32..7), 0..8),
    ) {
        let mut resolved = Resolved::default();
        for (key, value, rule) in statements {
            resolved.statements.push(ResolvedStatement { key: Key::ALL[key], value, rule: RuleIx(rule), at: None });
        }
        for (endpoint, key, statement) in keys {
            if resolved.endpoints.len() <= endpoint {
                resolved.endpoints.resize(endpoint + 1, Vec::new());
            }
            let key = ResolvedKey { key: Key::ALL[key], statements: vec![StatementIx(statement)] };
            resolved.endpoints[endpoint].push(key);
        }
        let _ = compile(resolved, &options());
    }
}
