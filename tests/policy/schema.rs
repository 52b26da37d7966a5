//! The schema of a document: as it stands in `schemas/`, and of one mind with the compiler about structure.

use crate::golden::Goldens;
use policy_lang::diag::{Code, Severity};
use policy_lang::endpoint::{Catalogue, CustomRoute, ENDPOINTS, GROUPS, Group, KEYS, KeyKind};
use policy_lang::layer::LayerKind;
use policy_lang::parse::{self, Format};
use policy_lang::source::SourceMap;
use policy_lang::{lower, schema};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

#[test]
fn the_schema_in_git_is_the_generated_one() {
    let mut goldens = Goldens::new("cargo test -p policy-lang --test policy schema", &[]);
    goldens.compare("schemas/policy.schema.json", &schema::text());
    goldens.finish();
}

static SCHEMA: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&schema::policy()).expect("the schema is valid"));

/// Codes whose cause takes more than the shape of a document to see.
const BEYOND_SHAPE: [Code; 3] = [Code::InvalidGlob, Code::SelectorMatchesNothing, Code::DuplicateTokenId];

/// The declared endpoints and one custom route: the schema takes any, since it cannot know them.
fn catalogue() -> Catalogue {
    let route = CustomRoute { id: "custom:x".to_owned(), group: Group::Commands, scopes: Vec::new() };
    Catalogue::with_custom(vec![route]).expect("the id is well formed")
}

/// The codes of the compiler's errors.
fn errors(document: &Value) -> Vec<Code> {
    let mut map = SourceMap::default();
    let source = map.add("policy.json", document.to_string());
    let (root, mut found) = parse::parse(&map, source, Format::Json);
    if let Some(root) = root {
        found.extend(lower::document(&map, source, root, &catalogue(), LayerKind::Policy).1);
    }
    let errors = found.into_iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.code).collect()
}

/// Both verdicts on a document, or why they differ.
fn agree(document: &Value) -> Result<(), TestCaseError> {
    let errors = errors(document);
    let shape = errors.iter().any(|code| !BEYOND_SHAPE.contains(code));
    let valid = SCHEMA.is_valid(document);
    prop_assert!(valid || !errors.is_empty(), "the schema alone refuses {document:#}\n{}", why(document));
    prop_assert!(!valid || !shape, "the compiler alone refuses {document:#}: {errors:?}");
    Ok(())
}

fn why(document: &Value) -> String {
    SCHEMA.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// A value that each kind takes.
fn good(kind: KeyKind) -> Vec<Value> {
    match kind {
        KeyKind::Bool => vec![json!(true), json!(false)],
        KeyKind::Scopes => vec![json!(["files:read"]), json!(["*", "commands:run:x"])],
        KeyKind::Audit => vec![json!("off"), json!("deny"), json!("all")],
        KeyKind::Paths => vec![
            json!([]),
            json!(["/a", "/a"]),
            json!(["$RECYCLE.BIN", "/?/**", "/**/??"]),
            json!(["/home/user/in", "**/.git/**", "out/*.txt", "./**"]),
        ],
        KeyKind::PathsOrTrue => vec![json!(true), json!(["docs"]), json!([])],
        KeyKind::Symlinks => vec![json!("within"), json!("deny")],
        KeyKind::Size => vec![json!(1), json!("5MB"), json!("1.5 gib"), json!("0.5KiB")],
        KeyKind::Count => vec![json!(1), json!(600)],
        KeyKind::Duration => vec![json!(30), json!("30s"), json!("1.5m"), json!("1 h")],
        KeyKind::Extensions => vec![json!([]), json!([".sh", ".tar.gz"])],
        KeyKind::Commands | KeyKind::Shells => vec![json!([]), json!(["git", "/usr/bin/env", "["])],
        KeyKind::Languages => vec![json!(["python", "bash"])],
        KeyKind::Signals => vec![json!([15, "SIGINT", "HUP"])],
        KeyKind::Urls => vec![json!(["example.com", "https://*.example.com:8443/docs", "[::1]:80"])],
        KeyKind::Variables => vec![json!(["PATH", "AWS_*"])],
        KeyKind::Ports => vec![json!([8080, "8000-8999"])],
    }
}

/// A value that some or all kinds refuse.
fn bad() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(70000),
        json!("true"),
        json!("no"),
        json!(""),
        json!("5M"),
        json!("05MB"),
        json!("-5MB"),
        json!("0MB"),
        json!("5 M B"),
        json!("nonsense"),
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!({ "nonsense": 1 }),
        json!([null]),
        json!([1]),
        json!([[]]),
        json!([""]),
        json!(["a b"]),
        json!(["/"]),
        json!(["/**"]),
        json!(["a/../b"]),
        json!(["~/x"]),
        json!(["$HOME/.ssh"]),
        json!(["${HOME}"]),
        json!(["/?**"]),
        json!(["**/?*"]),
        json!(["/**?"]),
        json!(["/./?*//**/"]),
        json!(["no such thing"]),
        json!(["SIGWHAT"]),
        json!(["ftp://x"]),
        json!("/proc/1"),
        json!("relative"),
        json!("//"),
    ])
}

fn rule() -> impl Strategy<Value = Value> {
    let keys: Vec<_> = KEYS.iter().map(|decl| (decl.name, good(decl.kind))).collect();
    let one = select(keys).prop_flat_map(|(name, values)| (Just(name), select(values)));
    prop::collection::vec(one, 1..6).prop_map(|keys| {
        let mut rule = Map::new();
        for (name, value) in keys {
            match name.split_once('.') {
                None => drop(rule.insert(name.to_owned(), value)),
                Some((section, key)) => {
                    let section = rule.entry(section).or_insert_with(|| json!({}));
                    section[key] = value;
                }
            }
        }
        Value::Object(rule)
    })
}

fn selectors() -> impl Strategy<Value = String> {
    let ids = ENDPOINTS.iter().map(|decl| decl.name.to_owned());
    let groups = GROUPS.iter().map(|decl| format!("group:{}", decl.name));
    let others = ["*", "files_*", "{upload,download}", "@defaults"].map(str::to_owned);
    select(ids.chain(groups).chain(others).collect::<Vec<_>>())
}

fn rules(names: impl Strategy<Value = String>) -> impl Strategy<Value = Value> {
    let entry = (names, prop_oneof![rule(), Just(json!(true)), Just(json!(false))]);
    prop::collection::vec(entry, 0..4).prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

fn tokens() -> impl Strategy<Value = Value> {
    let token = (select(vec![json!(["*"]), json!(["files:read", "sandboxes:exec"])]), any::<bool>());
    prop::collection::vec(token, 0..3).prop_map(|tokens| {
        let tokens = tokens.into_iter().enumerate().map(|(at, (scopes, by_name))| {
            let (key, secret) = match by_name {
                true => ("token_env", format!("TOKEN_{at}")),
                false => ("token_sha256", format!("{at:064x}")),
            };
            json!({ "id": format!("t{at}"), "scopes": scopes, key: secret })
        });
        json!({ "tokens": tokens.collect::<Vec<_>>() })
    })
}

/// A document that is right but for core endpoints it may close.
fn document() -> impl Strategy<Value = Value> {
    let groups = select(GROUPS.iter().map(|decl| decl.name.to_owned()).collect::<Vec<_>>());
    let parts = (
        prop::option::of(select(vec![json!("locked"), json!("read-only")])),
        prop::option::of(select(vec![json!("/home/user"), json!("/srv/./work/")])),
        prop::option::of(rules(groups)),
        prop::option::of(rule()),
        prop::option::of(rules(selectors())),
        prop::option::of(tokens()),
        any::<bool>(),
    );
    parts.prop_map(|(preset, base_dir, groups, defaults, endpoints, auth, wrapped)| {
        let keys = ["preset", "base_dir", "groups", "defaults", "endpoints", "auth"];
        let values = [preset, base_dir, groups, defaults, endpoints, auth];
        let document: Map<String, Value> =
            keys.into_iter().zip(values).filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        match wrapped {
            true => json!({ "name": "template", "server": document }),
            false => Value::Object(document),
        }
    })
}

/// Every place of a document, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                places(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// The document with one place replaced, or one key added where the place is a mapping.
fn mutate(mut document: Value, place: Index, bad: Value, key: Option<&str>) -> Value {
    let mut all = Vec::new();
    places(&document, "", &mut all);
    let at = place.get(&all);
    if let Some(target) = document.pointer_mut(at) {
        match (key, target) {
            (Some(key), Value::Object(map)) => drop(map.insert(key.to_owned(), bad)),
            (_, target) => *target = bad,
        }
    }
    document
}

fn keys() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(select(vec![
        "nonsense",
        "path",
        "max_bytes",
        "limits",
        "enabled",
        "shell",
        "process",
        "server",
        "Servers",
        "tokens",
        "id",
        "health",
        "group:core",
        "*",
        "@default",
        "custom:x",
        "scopes",
        "token_env",
    ]))
}

/// `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(1_024), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_right_document_is_right_to_both(document in document()) {
        let errors = errors(&document);
        prop_assert!(errors.iter().all(|code| *code == Code::CoreDisabled), "{document:#}: {errors:?}");
        agree(&document)?;
    }

    #[test]
    fn a_changed_document_is_right_or_wrong_to_both(
        document in document(), place: Index, bad in bad(), key in keys(),
    ) {
        agree(&mutate(document, place, bad, key))?;
    }
}

/// The published schema refuses no key that the compiler takes, in any rule.
#[test]
fn i1_every_key_of_the_compiler_is_a_key_of_the_schema() {
    for decl in KEYS.iter() {
        for value in good(decl.kind) {
            let rule = match decl.name.split_once('.') {
                None => json!({ decl.name: value }),
                Some((section, key)) => json!({ section: { key: value } }),
            };
            for selector in ["upload", "files_*", "group:process", "@defaults"] {
                let document = json!({ "endpoints": { selector: rule } });
                assert_eq!(errors(&document), [], "{document}");
                assert!(SCHEMA.is_valid(&document), "{document}: {}", why(&document));
            }
        }
    }
}

/// The regular expressions of a schema.
fn patterns(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(keys) => {
            if let Some(Value::String(pattern)) = keys.get("pattern") {
                found.push(pattern.clone());
            }
            if let Some(Value::Object(named)) = keys.get("patternProperties") {
                found.extend(named.keys().cloned());
            }
            keys.values().for_each(|value| patterns(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| patterns(value, found)),
        _ => {}
    }
}

#[test]
fn every_validator_reads_the_patterns() {
    let mut found = Vec::new();
    patterns(&schema::policy(), &mut found);
    assert!(found.len() > 20, "{}", found.len());
    for pattern in found {
        // Classes of Unicode and groups with options are not in ECMA 262 without its `u` flag, nor in every other language.
        assert!(!pattern.contains(r"\p") && !pattern.contains("(?"), "{pattern}");
    }
}
