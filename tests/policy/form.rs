//! The compiled set on disk: the same bytes everywhere, and nothing but a whole and honest set is loaded.

use crate::golden::Goldens;
use crate::random::{Random, document};
use policy_lang::diag::Levels;
use policy_lang::endpoint::{Catalogue, TABLE_FINGERPRINT};
use policy_lang::form::{self, FormError};
use policy_lang::parse::Format;
use policy_lang::resolved::Resolved;
use policy_lang::{Document, Inputs, Outcome, compile_document};
use proptest::prelude::*;
use std::sync::Arc;

const SOURCE: &str = "\
server:
  preset: hardened
  base_dir: /home/user
  defaults:
    paths: {deny: [.env, \"**/.git/**\", 端点]}
  endpoints:
    files_list: {paths: {allow: [/home/user/out]}, limits: {max_entries: 500}}
    process_signal: {params: {allowed_signals: [SIGTERM, 9]}}
    code_run: true
  auth:
    tokens: [{id: ci, token_env: CI_TOKEN, scopes: [\"files:read\"]}]
";

fn outcome(name: &str, text: &str) -> Outcome {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name, bytes: text.as_bytes(), format: Format::Auto };
    compile_document(Some(document), &Inputs::new(&catalogue, &levels))
}

fn resolved(text: &str) -> Resolved {
    let outcome = outcome("template.yaml", text);
    outcome.policy.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics)).resolved().clone()
}

/// The same without the preset, which has a page of its own and may change.
fn without_preset() -> String {
    SOURCE.replace("  preset: hardened\n", "")
}

fn read(text: &str) -> Result<Resolved, FormError> {
    form::read(&Arc::new(text.to_owned()), &Catalogue::builtin())
}

/// The set with a part of its body replaced and a checksum that fits, as someone who knows the format would make it.
fn edited(set: &str, from: &str, to: &str) -> String {
    assert!(set.contains(from), "{from} is not in\n{set}");
    let set = set.replacen(from, to, 1);
    let (first, body) = set.split_once('\n').unwrap();
    let (head, _) = first.split_once("\"crc32\"").unwrap();
    format!("{head}\"crc32\":\"{}\",\n{body}", form::checksum(body))
}

#[test]
fn what_is_written_is_read_back() {
    let wanted = resolved(SOURCE);
    assert_eq!(read(&form::write(&wanted)).unwrap(), wanted);
    for seed in 1..200 {
        let text = document(&mut Random::new(seed)).to_string();
        let Some(policy) = outcome("policy.json", &text).policy else { continue };
        assert_eq!(read(&form::write(policy.resolved())).unwrap(), *policy.resolved(), "{text}");
    }
}

#[test]
fn the_bytes_are_the_same_from_every_directory() {
    let sets: Vec<String> = ["template.yaml", "/srv/a/template.yaml", "../x/template.yaml"]
        .iter()
        .map(|name| form::write(outcome(name, SOURCE).policy.unwrap().resolved()))
        .collect();
    assert!(sets.windows(2).all(|pair| pair[0] == pair[1]));
    assert!((0..20).all(|_| form::write(&resolved(SOURCE)) == sets[0]));
}

#[test]
fn the_revision_is_of_the_content() {
    let revision = |text: &str| resolved(text).revision;
    let moved = format!("# moved down\n\n{SOURCE}");
    let reordered = SOURCE.replace(".env, \"**/.git/**\"", "\"**/.git/**\", .env");
    let spelt = SOURCE.replace("SIGTERM, 9", "15, SIGKILL");
    assert_eq!(revision(SOURCE), revision(&moved));
    assert_eq!(revision(SOURCE), revision(&reordered));
    assert_eq!(revision(SOURCE), revision(&spelt));
    for (from, to) in [
        ("500", "501"),
        (".env", ".envrc"),
        ("hardened", "default"),
        ("CI_TOKEN", "CD_TOKEN"),
        ("files:read", "files:write"),
    ] {
        assert_ne!(revision(SOURCE), revision(&SOURCE.replacen(from, to, 1)), "{from} → {to}");
    }
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    let set = form::write(&resolved(&without_preset()));
    for at in 0..set.len() {
        let mut bytes = set.clone().into_bytes();
        bytes[at] ^= 1;
        if let Ok(text) = String::from_utf8(bytes) {
            assert!(read(&text).is_err(), "byte {at} may be flipped");
        }
    }
    for cut in 0..set.len() {
        if let Some(text) = set.get(..cut) {
            assert!(read(text).is_err(), "a set cut at {cut} is loaded");
        }
    }
}

#[test]
fn other_versions_and_tables_are_named() {
    let set = form::write(&resolved(SOURCE));
    let newer = read(&set.replacen("\"format_version\":2", "\"format_version\":3", 1)).unwrap_err();
    assert_eq!(newer, FormError::Version { found: "3".to_owned(), supported: 2 });
    assert_eq!(newer.to_string(), "the compiled policy has format version 3, this server reads version 2");
    assert!(newer.help().starts_with("compile the policy again"));
    let zero = read(&set.replacen("\"format_version\":2", "\"format_version\":1", 1)).unwrap_err();
    assert!(matches!(zero, FormError::Version { found, .. } if found == "1"));
    let table = "0".repeat(64);
    let other = read(&edited(&set, TABLE_FINGERPRINT, &table)).unwrap_err();
    assert_eq!(other, FormError::Table { found: table, expected: TABLE_FINGERPRINT.to_owned() });
    assert_eq!(read("{}"), Err(FormError::NotCompiled));
    assert!(form::is_compiled(&set) && !form::is_compiled(SOURCE));
}

/// What is changed in an honest set, and what the refusal says.
const EDITS: &[(&str, &str, &str)] = &[
    ("\"preset\":\"hardened\"", "\"preset\":\"hardned\"", "no preset `hardned`"),
    ("\"preset\":\"hardened\"", "\"colour\":1,\"preset\":\"hardened\"", "unknown field `colour`"),
    ("\"specificity\":\"exact\"", "\"specificity\":\"exact\",\"extra\":0", "unknown field `extra`"),
    ("\"path\":\"/home/user\"", "\"path\":\"/proc/self\"", "base_dir"),
    ("\"path\":\"/home/user\"", "\"path\":\"/home/../etc\"", "base_dir"),
    ("\"/home/user/out\"", "\"/\"", "paths.allow"),
    ("\"/home/user/out\"", "\"/home/{a\"", "paths.allow"),
    ("\"/home/user/out\"", "\"/home/user/out:/\"", "paths.allow"),
    ("\"/home/user/out\"", "\"/home/user/out:/home/user/in\"", "places that cannot be read"),
    ("\"/home/user/out\"", "[\"/home/user/out\",\"/\"]", "paths.allow"),
    (":**/.git/**:", ":../x:", "paths.deny"),
    (":**/.git/**:", "::", "paths.deny"),
    (":**/.git/**:", ":", "more places than values"),
    ("\"value\":500", "\"value\":0", "limits.max_entries"),
    ("\"value\":500", "\"value\":-1", "invalid type"),
    ("\"value\":500", "\"value\":\"500\"", "limits.max_entries"),
    ("\"value\":500", "\"value\":18446744073709551615", "limits.max_entries"),
    ("[\"15\",\"9\"]", "[\"15\",\"99\"]", "params.allowed_signals"),
    ("[\"15\",\"9\"]", "[\"SIGTERM\",\"9\"]", "params.allowed_signals"),
    ("[\"15\",\"9\"]", "[\"15\"]", "more places than values"),
    ("[\"15\",\"9\"]", "[\"15\",\"9\",\"10\"]", "places that cannot be read"),
    ("\"key\":\"limits.max_entries\"", "\"key\":\"limits.max_entires\"", "no key `limits.max_entires`"),
    ("\"key\":\"limits.max_entries\"", "\"key\":\"paths.allow\"", "`paths.allow` is said twice"),
    ("\"selector\":\"files_list\"", "\"selector\":\"files_lost\"", "no exact selector `files_lost`"),
    ("\"selector\":\"code_run\"", "\"selector\":\"health\"", "core endpoints cannot be closed"),
    ("\"layer\":\"policy\",\"selector\"", "\"layer\":\"default\",\"selector\"", "no layer `default`"),
    ("\"layer\":\"policy\",\"selector\"", "\"layer\":\"code\",\"selector\"", "layers stand in their order"),
    ("\"name\":\"policy:endpoints.files_list\"", "\"name\":\"preset:read-only\"", "begins with its layer"),
    ("\"name\":\"template.yaml\"", "\"name\":\"/etc/template.yaml\"", "without directories"),
    ("\"file\":1,\"places\"", "\"file\":7,\"places\"", "a file that the set does not name"),
    ("\"scopes\":[\"files:read\"]", "\"scopes\":[\"files:raed\"]", "no scope `files:raed`"),
    ("\"token_env\":\"CI_TOKEN\"", "\"token_env\":null", "either `token_env` or `token_sha256`"),
    ("\"token_sha256\":null", "\"token_sha256\":\"00\"", "either `token_env` or `token_sha256`"),
    ("\"revision\":\"", "\"revision\":\"0", "revision"),
];

#[test]
fn a_set_that_was_edited_with_care_is_refused_all_the_same() {
    let set = form::write(&resolved(SOURCE));
    assert!(read(&edited(&set, "\"rules\":[", "\"rules\":[ ")).is_ok(), "the checksum of the test is wrong");
    for (from, to, wanted) in EDITS {
        let error = read(&edited(&set, from, to)).expect_err(to);
        assert!(error.to_string().contains(wanted), "{to}: {error}");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn a_set_reads_well() {
    let mut goldens =
        Goldens::new("cargo test -p policy-lang --test policy", &[("tests/policy/form", "yaml")]);
    let resolved = resolved(&without_preset());
    let page = form::inspect::inspect(&resolved);
    serde_yaml::from_str::<serde_yaml::Value>(&page).expect("the page is YAML");
    // The fingerprint moves with the endpoint table, which is no business of this test.
    goldens.compare("tests/policy/form/inspect.yaml", &page.replace(TABLE_FINGERPRINT, "FINGERPRINT"));
    goldens.finish();
}

proptest! {
    #[test]
    fn changed_bytes_never_load_and_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        honest in any::<bool>(),
    ) {
        let set = form::write(&resolved(&without_preset()));
        let mut bytes = set.clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        prop_assume!(text != set);
        prop_assert!(read(&text).is_err());
        // With a checksum that fits it may only load as a set that says the same.
        if honest && let Some((first, body)) = text.split_once('\n')
            && let Some((head, _)) = first.split_once("\"crc32\"")
        {
            let _ = read(&format!("{head}\"crc32\":\"{}\",\n{body}", form::checksum(body)));
        }
    }
}
