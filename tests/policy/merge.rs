//! Layers and what they merge to. A case is a folder `merge/<slug>/` with `template.yaml`, `layers.toml` (what stands
//! beside the document, and what is asked), and two goldens: `resolved.json`, every finding and every key of the endpoints
//! shown, with what each value beat; and `explain.txt`, the answer to each question as a person reads it.

use crate::golden::Goldens;
use policy_lang::decide::{CommandQuery, Op, PathQuery, Query};
use policy_lang::diag::{Diagnostic, Levels};
use policy_lang::endpoint::{Catalogue, Group};
use policy_lang::explain::{self, Holds, Question, Said};
use policy_lang::layers::code::GroupSwitch;
use policy_lang::matchers::url::Target;
use policy_lang::parse::Format;
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::{FilePlace, ResolvedValue};
use policy_lang::scope::ScopeSet;
use policy_lang::{Document, Inputs, compile_document};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const FOLDER: &str = "tests/policy/merge";

/// What stands beside the document, and what is asked.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Case {
    preset: Option<String>,
    enabled_groups: Option<String>,
    base_dir: Option<String>,
    /// `enable_group:NAME`, `disable_group:NAME`
    code: Vec<String>,
    /// Endpoints whose keys `resolved.json` shows.
    show: Vec<String>,
    ask: Vec<Ask>,
}

/// One question.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Ask {
    endpoint: String,
    scopes: Option<Vec<String>>,
    identity: Option<String>,
    /// `op path`, in the parameter `path`
    path: Option<String>,
    source: Option<String>,
    destination: Option<String>,
    command: Option<String>,
    language: Option<String>,
    signal: Option<u8>,
    url: Option<String>,
    port: Option<u16>,
    bytes: Option<u64>,
    request_bytes: Option<u64>,
}

#[test]
fn every_case_merges_and_explains_as_written_down() {
    let mut goldens =
        Goldens::new("cargo test -p policy-lang --test policy", &[(FOLDER, "json"), (FOLDER, "txt")]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(FOLDER);
    let mut cases: Vec<_> = fs::read_dir(root).unwrap().map(|case| case.unwrap().path()).collect();
    cases.sort();
    for folder in cases {
        let slug = Path::new(FOLDER).join(folder.file_name().unwrap());
        let case: Case = fs::read_to_string(folder.join("layers.toml")).map_or_else(
            |_| Case::default(),
            |text| toml::from_str(&text).unwrap_or_else(|error| panic!("{slug:?}: {error}")),
        );
        let text = fs::read_to_string(folder.join("template.yaml")).unwrap();
        let (resolved, explained) = run(&case, &text);
        goldens.compare(slug.join("resolved.json"), &resolved);
        if !case.ask.is_empty() {
            goldens.compare(slug.join("explain.txt"), &explained);
        }
    }
    goldens.finish();
}

fn run(case: &Case, text: &str) -> (String, String) {
    let catalogue = Catalogue::builtin();
    let levels = Levels::default();
    let switches: Vec<GroupSwitch> = case
        .code
        .iter()
        .map(|call| {
            let (verb, group) = call.split_once(':').unwrap();
            GroupSwitch { group: Group::from_name(group).unwrap(), enabled: verb == "enable_group" }
        })
        .collect();
    let inputs = Inputs {
        preset: case.preset.as_deref(),
        enabled_groups: case.enabled_groups.as_deref(),
        base_dir: case.base_dir.as_deref(),
        switches: &switches,
        ..Inputs::new(&catalogue, &levels)
    };
    let document = Document { name: "template.yaml", bytes: text.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &inputs);
    let findings: Vec<_> = outcome.diagnostics.iter().map(|found| finding(&outcome.sources, found)).collect();
    let mut report = json!({ "findings": findings });
    let mut explained = String::new();
    if let Some(policy) = &outcome.policy {
        for name in &case.show {
            let ix = catalogue.resolve(name).unwrap_or_else(|| panic!("no endpoint {name}"));
            let keys = explain::keys(policy, &catalogue, ix);
            let keys: serde_json::Map<_, _> =
                keys.iter().map(|key| (key.key.as_str().to_owned(), holds(policy, &key.holds))).collect();
            report["endpoints"][name] = Value::Object(keys);
        }
        for ask in &case.ask {
            explained.push_str(&answer(policy, &catalogue, &inputs, document, ask));
            explained.push_str("\n----\n\n");
        }
    }
    (format!("{}\n", serde_json::to_string_pretty(&report).unwrap()), explained)
}

fn answer(
    policy: &CompiledPolicy,
    catalogue: &Catalogue,
    inputs: &Inputs<'_>,
    document: Document<'_>,
    ask: &Ask,
) -> String {
    let endpoint = catalogue.resolve(&ask.endpoint).unwrap_or_else(|| panic!("no endpoint {}", ask.endpoint));
    let given = ask.scopes.as_ref().map(|names| ScopeSet::parse(names.iter().map(String::as_str)).unwrap());
    let held = ask.identity.as_ref().map(|id| {
        let principals = policy.principals().unwrap_or_default();
        principals.iter().find(|principal| *principal.id == **id).unwrap().scopes.clone()
    });
    let scopes = held.or(given);
    let asked: Vec<(&str, &str)> =
        [("path", &ask.path), ("source", &ask.source), ("destination", &ask.destination)]
            .into_iter()
            .filter_map(|(role, path)| Some((role, path.as_deref()?)))
            .collect();
    let paths: Vec<PathQuery<'_>> = asked
        .iter()
        .map(|(role, path)| {
            let (op, path) = path.split_once(' ').unwrap();
            PathQuery { role, path: path.as_bytes(), op: Op::from_name(op).unwrap() }
        })
        .collect();
    let url = ask.url.as_ref().map(|url| Target::parse(url).unwrap());
    let query = Query {
        scopes: scopes.as_ref(),
        paths: &paths,
        command: ask.command.as_ref().map(|argv0| CommandQuery { argv0, found: None, target: None }),
        language: ask.language.as_deref(),
        signal: ask.signal,
        url: url.as_ref(),
        port: ask.port,
        bytes: ask.bytes,
        request_bytes: ask.request_bytes,
        ..Query::of(endpoint)
    };
    let explanation = explain::explain(policy, catalogue, &query);
    let edits =
        explain::edits(Some(document), inputs, &Question { query, identity: ask.identity.as_deref() });
    explain::human::render(
        policy,
        &explanation,
        &query,
        Some(&edits),
        std::str::from_utf8(document.bytes).unwrap(),
    )
}

fn finding(sources: &policy_lang::source::SourceMap, found: &Diagnostic) -> Value {
    let at = found.primary.as_ref().map(|label| {
        let place = sources.place(label.span);
        format!(
            "{}:{}:{} `{}`",
            sources.name(label.span.source),
            place.line,
            place.column,
            sources.slice(label.span)
        )
    });
    let affects: Vec<_> = found.affects.iter().map(|id| id.as_str()).collect();
    json!({ "code": found.code.as_str(), "message": found.message, "at": at, "help": found.help, "affects": affects })
}

fn holds(policy: &CompiledPolicy, holds: &Holds<'_>) -> Value {
    let place = |at: Option<FilePlace>| at.map(|at| policy.print_place(at));
    let said =
        |said: &Said<'_>| json!({ "value": value(&said.value), "rule": said.rule, "at": place(said.at) });
    match holds {
        Holds::One { winner, beaten } => {
            let mut report = said(winner);
            if !beaten.is_empty() {
                report["beaten"] = beaten
                    .iter()
                    .map(|lost| {
                        let mut report = said(&lost.said);
                        report["reason"] = lost.reason.as_str().into();
                        report
                    })
                    .collect();
            }
            report
        }
        Holds::Union(elements) => json!({ "values": elements.iter().map(|element| {
            json!({ "value": element.value, "rule": element.rule, "at": place(element.at) })
        }).collect::<Vec<_>>() }),
    }
}

fn value(value: &ResolvedValue) -> Value {
    match value {
        ResolvedValue::Bool(value) => json!(value),
        ResolvedValue::Number(value) => json!(value),
        ResolvedValue::Word(word) => json!(word),
        ResolvedValue::List(list) => list.values().collect(),
    }
}
