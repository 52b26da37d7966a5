//! Documents that are wrong, and what is said about them.
//!
//! A case is `diagnose/<code>/<slug>.yaml` (or `.input`, a JSON document) and what a person reads in `<slug>.stderr` and
//! a machine in `<slug>.json`. What stands beside the document (the environment, the code) is in `<slug>.toml`. Every case must yield its folder's code, and every code has a folder.

use crate::golden::Goldens;
use policy_lang::check::Facts;
use policy_lang::diag::{CODES, Diagnostic, Edit, Label, Levels, Severity};
use policy_lang::endpoint::{Catalogue, Group};
use policy_lang::layers::code::GroupSwitch;
use policy_lang::parse::Format;
use policy_lang::render::{RenderOptions, human};
use policy_lang::source::{SourceMap, Span};
use policy_lang::testing;
use policy_lang::{Document, Inputs, compile_document};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "tests/policy/diagnose";

#[test]
fn every_case_is_diagnosed_as_written_down() {
    let mut goldens =
        Goldens::new("cargo test -p policy-lang --test policy", &[(FOLDER, "json"), (FOLDER, "stderr")]);
    for case in cases() {
        let code = case.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap().to_owned();
        let (map, found) = run(&case);
        assert!(
            found.iter().any(|finding| finding.code.as_str() == code),
            "{case:?} yields no {code}: {found:#?}"
        );
        let slug = Path::new(FOLDER).join(&code).join(case.file_stem().unwrap());
        let findings: Vec<_> = found.iter().map(|finding| as_json(&map, finding)).collect();
        let text = serde_json::to_string_pretty(&findings).unwrap();
        goldens.compare(slug.with_extension("json"), &format!("{text}\n"));
        goldens.compare(slug.with_extension("stderr"), &human(&map, &found, RenderOptions::default()));
    }
    goldens.finish();
}

#[test]
fn f14_every_code_has_a_case() {
    let folder = |case: &PathBuf| case.parent()?.file_name()?.to_str().map(str::to_owned);
    let folders: BTreeSet<String> = cases().iter().filter_map(folder).collect();
    assert_eq!(folders, CODES.iter().map(|code| code.as_str().to_owned()).collect());
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(FOLDER);
    let mut cases = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        for case in fs::read_dir(folder.unwrap().path()).unwrap() {
            let case = case.unwrap().path();
            if case.extension().is_some_and(|its| its == "yaml" || its == "input") {
                cases.push(case);
            }
        }
    }
    cases.sort();
    cases
}

/// What stands beside the document of a case, in `<slug>.toml`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Beside {
    /// The value of `ABX_SERVER_ENABLED_GROUPS`.
    enabled_groups: Option<String>,
    /// `enable_group:NAME`, `disable_group:NAME`
    code: Vec<String>,
    /// Variables that are set; absent where nobody asks.
    environment: Option<Vec<String>>,
}

fn run(case: &Path) -> (SourceMap, Vec<Diagnostic>) {
    let beside: Beside = fs::read_to_string(case.with_extension("toml"))
        .map_or_else(|_| Beside::default(), |text| toml::from_str(&text).unwrap());
    let json = case.extension().is_some_and(|its| its == "input");
    let name = case.with_extension(if json { "json" } else { "yaml" });
    let name = name.file_name().unwrap().to_str().unwrap();
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let switches: Vec<GroupSwitch> = beside
        .code
        .iter()
        .map(|call| {
            let (verb, group) = call.split_once(':').unwrap();
            GroupSwitch { group: Group::from_name(group).unwrap(), enabled: verb == "enable_group" }
        })
        .collect();
    let is_set = |name: &str| beside.environment.iter().flatten().any(|set| set == name);
    let inputs = Inputs {
        enabled_groups: beside.enabled_groups.as_deref(),
        switches: &switches,
        facts: Facts {
            variable_is_set: beside.environment.is_some().then_some(&is_set),
            server_token: false,
        },
        ..Inputs::new(&catalogue, &levels)
    };
    let bytes = fs::read(case).unwrap();
    let outcome = compile_document(Some(Document { name, bytes: &bytes, format: Format::Auto }), &inputs);
    let tests = testing::findings(&outcome, Format::Auto, &catalogue);
    (outcome.sources, outcome.diagnostics.into_iter().chain(tests).collect())
}

fn as_json(map: &SourceMap, finding: &Diagnostic) -> Value {
    let place = |span: Span| {
        let place = map.place(span);
        let text = map.text(span.source).get(span.start as usize..span.end as usize);
        json!({ "line": place.line, "column": place.column, "end_line": place.end_line,
                "end_column": place.end_column, "byte_start": span.start, "byte_end": span.end, "text": text })
    };
    let label = |label: &Label| {
        let mut value = place(label.span);
        value["message"] = label.message.clone().into();
        value
    };
    let edit = |edit: &Edit| json!({ "at": place(edit.span), "replacement": edit.replacement });
    json!({
        "code": finding.code.as_str(),
        "level": match finding.severity { Severity::Error => "error", Severity::Warning => "warning", Severity::Info => "info" },
        "message": finding.message,
        "help": finding.help,
        "primary": finding.primary.as_ref().map(label),
        "related": finding.related.iter().map(label).collect::<Vec<_>>(),
        "affects": finding.affects.iter().map(|id| id.as_str()).collect::<Vec<_>>(),
        "suggestions": finding.suggestions.iter().map(|suggestion| json!({
            "message": suggestion.message,
            "applicability": format!("{:?}", suggestion.applicability).to_lowercase(),
            "edits": suggestion.edits.iter().map(edit).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}
