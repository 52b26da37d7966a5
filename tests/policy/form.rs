//! The compiled set on disk: the same bytes everywhere, and nothing but a whole and honest set is loaded.

use crate::fuzzed::stages::head;
use crate::golden::Goldens;
use crate::random::{Random, document};
use policy_lang::decide::{Decision, Op, PathQuery, Query, decide};
use policy_lang::diag::Levels;
use policy_lang::endpoint::{Catalogue, CustomRoute, Group, TABLE_FINGERPRINT};
use policy_lang::form::{self, FormError, SetText};
use policy_lang::layers::code::GroupSwitch;
use policy_lang::parse::Format;
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::Resolved;
use policy_lang::{Document, Inputs, Outcome, compile_document, load_compiled};
use proptest::prelude::*;

pub(crate) const SOURCE: &str = "\
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

pub(crate) fn resolved(text: &str) -> Resolved {
    let outcome = outcome("template.yaml", text);
    outcome.policy.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics)).resolved().clone()
}

/// The same without the preset, which has a page of its own and may change.
fn without_preset() -> String {
    SOURCE.replace("  preset: hardened\n", "")
}

pub(crate) fn read(text: &str) -> Result<Resolved, FormError> {
    form::read(text.to_owned().into(), &Catalogue::builtin())
}

/// The set with a part of its body replaced, with counts and a checksum that fit, as someone who knows the format would
/// make it.
pub(crate) fn edited(set: &str, from: &str, to: &str) -> String {
    assert!(set.contains(from), "{from} is not in\n{set}");
    checked(&counted(&set.replacen(from, to, 1)))
}

/// The set with counts that are those of its lists of paths, as far as it has any.
fn counted(set: &str) -> String {
    const PATHS: &str = "\n\"paths\":[";
    let Some((head, paths)) = set.split_once(PATHS) else { return set.to_owned() };
    let mut parts = head.split("{\"entries\":");
    let mut counted = parts.next().unwrap().to_owned();
    let mut lists = paths.lines().skip(1).map(|line| line.trim_matches(['"', ',', ']', '}']));
    for part in parts {
        let (was, rest) = part.split_once('}').unwrap();
        let now = lists.next().map(|list| format!("{},\"bytes\":{}", list.split(':').count(), list.len()));
        counted.push_str(&format!("{{\"entries\":{}}}{rest}", now.as_deref().unwrap_or(was)));
    }
    format!("{counted}{PATHS}{paths}")
}

/// The set with a checksum that fits.
pub(crate) fn checked(set: &str) -> String {
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
    let newer = read(&set.replacen("\"format_version\":3", "\"format_version\":4", 1)).unwrap_err();
    assert_eq!(newer, FormError::Version { found: "4".to_owned(), supported: 3 });
    assert_eq!(newer.to_string(), "the compiled policy has format version 4, this server reads version 3");
    assert!(newer.help().starts_with("compile the policy again"));
    let zero = read(&set.replacen("\"format_version\":3", "\"format_version\":2", 1)).unwrap_err();
    assert!(matches!(zero, FormError::Version { found, .. } if found == "2"));
    let table = "0".repeat(64);
    let other = read(&edited(&set, TABLE_FINGERPRINT, &table)).unwrap_err();
    assert_eq!(other, FormError::Table { found: table, expected: TABLE_FINGERPRINT.to_owned() });
    assert_eq!(read("{}"), Err(FormError::NotCompiled));
    assert!(form::is_compiled(&set) && !form::is_compiled(SOURCE));
}

/// What is changed in an honest set, and what the refusal says.
const EDITS: &[(&str, &str, &str)] = &[
    ("\"preset\":\"hardened\"", "\"preset\":\"hardned\"", "not that of a rule with this selector"),
    ("\"preset\":\"hardened\"", "\"preset\":\"locked\"", "not that of a rule with this selector"),
    ("\"preset\":\"hardened\"", "\"preset\":null", "not that of a rule with this selector"),
    ("{\"name\":\"hardened.yaml\"", "{\"name\":\"locked.yaml\"", "does not hold the preset `hardened`"),
    ("\"preset\":\"hardened\"", "\"colour\":1,\"preset\":\"hardened\"", "unknown field `colour`"),
    ("\"specificity\":\"exact\"", "\"specificity\":\"exact\",\"extra\":0", "unknown field `extra`"),
    ("\"path\":\"/home/user\"", "\"path\":\"/proc/self\"", "base_dir"),
    ("\"path\":\"/home/user\"", "\"path\":\"/home/../etc\"", "base_dir"),
    ("\"/home/user/out\"", "\"/\"", "paths.allow"),
    ("\"/home/user/out\"", "\"/home/{a\"", "paths.allow"),
    ("\"/home/user/out\"", "\"/home/user/out:/\"", "paths.allow"),
    ("\"/home/user/out\"", "\"/home/user/out:/home/user/in\"", "places that cannot be read"),
    (":**/.git/**:", ":../x:", "paths.deny"),
    (":**/.git/**:", "::", "paths.deny"),
    (":**/.git/**:", ":", "more places than values"),
    ("max_entries\":500", "max_entries\":0", "limits.max_entries"),
    ("max_entries\":500", "max_entries\":-1", "invalid type"),
    ("max_entries\":500", "max_entries\":\"500\"", "limits.max_entries"),
    ("max_entries\":500", "max_entries\":18446744073709551615", "limits.max_entries"),
    ("[\"15\",\"9\"]", "[\"15\",\"99\"]", "params.allowed_signals"),
    ("[\"15\",\"9\"]", "[\"SIGTERM\",\"9\"]", "params.allowed_signals"),
    ("[\"15\",\"9\"]", "[\"15\"]", "more places than values"),
    ("[\"15\",\"9\"]", "[\"15\",\"9\",\"10\"]", "places that cannot be read"),
    ("\"limits.max_entries\"", "\"limits.max_entires\"", "no key `limits.max_entires`"),
    ("\"limits.max_entries\"", "\"paths.allow\"", "`paths.allow` is said twice"),
    ("\"selector\":\"files_list\"", "\"selector\":\"files_lost\"", "no exact selector `files_lost`"),
    ("\"selector\":\"code_run\"", "\"selector\":\"health\"", "core endpoints cannot be closed"),
    ("\"layer\":\"policy\",\"selector\"", "\"layer\":\"default\",\"selector\"", "no layer `default`"),
    ("\"layer\":\"policy\",\"selector\"", "\"layer\":\"code\",\"selector\"", "layers stand in their order"),
    ("\"name\":\"policy:endpoints.files_list\"", "\"name\":\"preset:read-only\"", "begins with its layer"),
    (
        "\"name\":\"policy:endpoints.files_list\"",
        "\"name\":\"policy:endpoints.download\"",
        "with this selector",
    ),
    ("\"name\":\"policy:endpoints.files_list\"", "\"name\":\"policy:groups.file_ops\"", "with this selector"),
    ("\"name\":\"policy:defaults\"", "\"name\":\"policy:default\"", "with this selector"),
    (
        "\"selector\":\"files_list\",\"specificity\":\"exact\"",
        "\"selector\":\"files_list\",\"specificity\":\"glob\"",
        "with this selector",
    ),
    ("\"name\":\"template.yaml\"", "\"name\":\"/etc/template.yaml\"", "without directories"),
    ("\"name\":\"template.yaml\"", "\"name\":\"a\\nbase_dir: evil.yaml\"", "without control characters"),
    ("\"name\":\"template.yaml\"", "\"name\":\"\\u001b[31m.yaml\"", "without control characters"),
    ("\"file\":1,\"places\"", "\"file\":-1,\"places\"", "expected the number of one of `files`"),
    ("\"custom\":[", "\"custom\":[\"x\"", "expected a custom route"),
    ("\"file\":1,\"places\"", "\"file\":7,\"places\"", "a file that the set does not name"),
    (
        "\"scopes\":[\"files:read\"]",
        "\"scopes\":[\"files:raed\"]",
        "`auth.tokens[0]`: unknown scope `files:raed`",
    ),
    ("\"scopes\":[\"files:read\"]", "\"scopes\":[]", "lists no scope"),
    ("\"token_env\":\"CI_TOKEN\"", "\"token_env\":null", "this token has no secret"),
    ("\"token_env\":\"CI_TOKEN\"", "\"token_env\":\"CI=TOKEN\"", "not the name of a variable"),
    ("\"token_env\":\"CI_TOKEN\"", "\"token_env\":\"ABX_SERVER_TOKEN\"", "holds the server's own token"),
    ("\"token_sha256\":null", "\"token_sha256\":\"00\"", "`token_sha256` has 2 digits, not 64"),
    ("\"id\":\"ci\"", "\"id\":\"legacy\"", "the token id `legacy` is reserved"),
    ("\"id\":\"ci\"", "\"id\":\"anonymous\"", "the token id `anonymous` is reserved"),
    ("\"id\":\"ci\"", "\"id\":\"\"", "`` is no token id"),
    ("\"id\":\"ci\"", "\"id\":\"a,b\"", "`a,b` is no token id"),
    ("\"id\":\"ci\"", "\"id\":\"a\\nb\"", "`a\\nb` is no token id"),
    ("\"id\":\"ci\"", "\"id\":\"\\u001b[31m\"", "`\\u{1b}[31m` is no token id"),
    ("\"revision\":\"", "\"revision\":\"0", "revision"),
];

#[test]
fn a_set_that_was_edited_with_care_is_refused_all_the_same() {
    let set = form::write(&resolved(SOURCE));
    assert!(read(&edited(&set, "\"rules\":[", "\"rules\":[ ")).is_ok(), "the checksum of the test is wrong");
    for (from, to, wanted) in EDITS {
        let set = edited(&set, from, to);
        let error = read(&set).expect_err(to);
        assert!(error.to_string().contains(wanted), "{to}: {error}");
        assert!(!error.help().is_empty());
        for text in [set.clone().into(), head(&set, 100)] {
            let late = unread(text).and_then(|policy| policy.prepare());
            // Of two faults it may say the other.
            let late = late.expect_err(to);
            assert!(
                late == error || late.to_string().ends_with("places that cannot be read"),
                "{to}: {late}"
            );
        }
    }
}

/// The policy of a set as a server loads it.
pub(crate) fn unread(set: SetText) -> Result<CompiledPolicy, FormError> {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let inputs = Inputs { leave_paths: true, ..Inputs::new(&catalogue, &levels) };
    Ok(load_compiled(set, &inputs)?.policy.unwrap())
}

/// What a policy says of reading a path by `files_list`.
pub(crate) fn files_list(policy: &CompiledPolicy, path: &str) -> &'static str {
    let path = [PathQuery { role: "path", path: path.as_bytes(), op: Op::Read }];
    let files_list = Catalogue::builtin().resolve("files_list").unwrap();
    match decide(policy, &Query { paths: &path, ..Query::of(files_list) }) {
        Decision::Allow => "allowed",
        Decision::Deny(denial) => denial.code,
    }
}

#[test]
fn a_side_of_path_rules_with_an_entry_that_is_refused_later_is_closed_until_then() {
    let set = form::write(&resolved(SOURCE));
    let code = |set: &str, path: &str| {
        let codes =
            [set.to_owned().into(), head(set, 64)].map(|text| files_list(&unread(text).unwrap(), path));
        assert_eq!(codes[0], codes[1], "{set}");
        codes[0]
    };
    assert_eq!(code(&set, "/home/user/out/a"), "allowed");
    for allow in ["/", "/home/{a", "~", "$HOME", "a/../.."] {
        let forged = edited(&set, "\"/home/user/out\"", &format!("\"{allow}\""));
        assert_eq!(code(&forged, "/home/user/out/a"), "path_not_allowed", "{allow}");
    }
    for deny in ["../x", "", "{a"] {
        let forged = edited(&set, ":**/.git/**:", &format!(":{deny}:"));
        assert_eq!(code(&forged, "/home/user/out/a"), "path_denied", "{deny}");
    }
}

#[test]
fn a_list_that_no_endpoint_comes_to_see_is_held_to_the_same() {
    let text = "server:\n  defaults: {paths: {allow: [/home/user/a]}}\n  endpoints: {\"*\": {paths: {allow: [/home/user/b]}}}\n";
    let forged = edited(&form::write(&resolved(text)), "\"/home/user/a\"", "\"/home/{a\"");
    let error = read(&forged).unwrap_err();
    for text in [forged.clone().into(), head(&forged, 64)] {
        assert_eq!(unread(text).unwrap().prepare(), Err(error.clone()));
    }
}

#[test]
fn a_preset_that_the_set_does_not_hold_is_not_named() {
    let set = form::write(&resolved(&without_preset()));
    for (preset, wanted) in
        [("locked", "does not hold the preset `locked`"), ("lokced", "no preset `lokced`")]
    {
        let error = read(&edited(&set, "\"preset\":null", &format!("\"preset\":\"{preset}\""))).unwrap_err();
        assert!(error.to_string().ends_with(wanted), "{error}");
    }
    for preset in ["default", "locked"] {
        let set = form::write(&resolved(&SOURCE.replace("hardened", preset)));
        assert_eq!(read(&set).unwrap().preset.as_deref(), Some(preset));
    }
}

#[test]
fn a_call_of_the_code_says_what_its_name_says() {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let switches = [GroupSwitch { group: Group::Browser, enabled: true }];
    let inputs = Inputs { switches: &switches, ..Inputs::new(&catalogue, &levels) };
    let set = form::write(compile_document(None, &inputs).policy.unwrap().resolved());
    assert!(read(&set).is_ok());
    for (from, to) in [
        ("\"selector\":\"group:browser\"", "\"selector\":\"group:process\""),
        ("\"enabled\":true", "\"enabled\":false"),
        ("\"enabled\":true", "\"audit\":\"all\""),
        ("{\"enabled\":true}", "{}"),
        ("code:enable_group:browser", "code:open_group:browser"),
    ] {
        assert!(matches!(read(&edited(&set, from, to)), Err(FormError::Value { .. })), "{to}");
    }
}

#[test]
fn two_tokens_are_told_apart() {
    let tokens = "[{id: a, token_env: A, scopes: [\"files:read\"]}, {id: b, token_env: B, scopes: [\"*\"]}]";
    let set = form::write(&resolved(&format!("auth: {{tokens: {tokens}}}")));
    let both = format!("\"B\",\"token_sha256\":\"{}\"", "0".repeat(64));
    for (from, to, wanted) in [
        ("\"id\":\"b\"", "\"id\":\"a\"", "two tokens have the id `a`"),
        ("\"B\",\"token_sha256\":null", both.as_str(), "this token has both `token_env` and `token_sha256`"),
        ("\"token_env\":\"B\"", "\"token_env\":\"A\"", "two tokens have the same secret"),
        ("\"scopes\":[\"*\"]", "\"scopes\":[]", "`scopes` of a token lists no scope"),
    ] {
        let error = read(&edited(&set, from, to)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the compiled policy has a bad value at `auth.tokens[1]`: {wanted}")
        );
    }
}

#[test]
fn whoever_has_the_time_looks_at_the_revision() {
    let set = form::write(&resolved(SOURCE));
    assert_eq!(form::vouch(&read(&set).unwrap()), Ok(()));
    let revision = resolved(SOURCE).revision;
    let other = read(&edited(&set, &revision, &"0".repeat(64))).unwrap();
    assert_eq!(
        form::vouch(&other).unwrap_err().to_string(),
        "the compiled policy has a bad value at `revision`: it is not that of what the set holds"
    );
}

#[test]
fn a_damaged_set_is_no_document_full_of_unknown_keys() {
    let set = form::write(&resolved(SOURCE));
    let value: serde_json::Value = serde_json::from_str(&set).unwrap();
    for damaged in [
        format!("\u{feff}{set}"),
        format!(" {set}"),
        serde_json::to_string_pretty(&value).unwrap(),
        set.replacen("\"format\"", "\"formt\"", 1),
        set.replacen("agent-sandbox-policy", "agent-sandbox-policj", 1),
    ] {
        assert!(form::is_compiled(&damaged));
        assert_eq!(read(&damaged), Err(FormError::Header));
    }
    for document in ["{\"preset\": \"locked\"}", "# \"crc32\" \"format_version\"\npreset: locked\n", "{"] {
        assert!(!form::is_compiled(document), "{document}");
    }
}

#[test]
fn a_set_with_routes_of_its_own_is_shown() {
    let route = CustomRoute {
        id: "custom:score".to_owned(),
        group: Group::Commands,
        scopes: vec!["commands:run".to_owned()],
    };
    let (catalogue, levels) = (Catalogue::with_custom(vec![route]).unwrap(), Levels::default());
    let document =
        Document { name: "p.yaml", bytes: b"endpoints: {\"custom:score\": false}", format: Format::Auto };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    let set = form::write(outcome.policy.unwrap().resolved());
    assert_eq!(read(&set), Err(FormError::CustomRoutes));
    let page = form::inspect::inspect(&form::read_alone(set.clone()).unwrap());
    assert!(page.contains("- {id: custom:score, group: commands, scopes: [commands:run]}\n"), "{page}");
    for (from, to) in [("\"commands:run\"", "\"commands:walk\""), ("\"id\":\"custom:", "\"id\":\"")] {
        assert!(form::read_alone(edited(&set, from, to)).is_err(), "{to}");
    }
}

#[test]
fn names_of_files_forge_no_line() {
    let outcome = outcome("a\nbase_dir: evil\u{1b}[31m.yaml", SOURCE);
    let set = form::write(outcome.policy.unwrap().resolved());
    let resolved = read(&set).unwrap();
    assert_eq!(resolved.files[1].name, "a\\nbase_dir: evil\\u{1b}[31m.yaml");
    let page = form::inspect::inspect(&resolved);
    let forged = page.lines().filter(|line| line.trim_start().starts_with("base_dir: evil"));
    assert_eq!(forged.count(), 0, "{page}");
    assert!(!page.contains('\u{1b}'), "{page}");
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
