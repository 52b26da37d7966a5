//! Decisions: every row of `decide/*.yaml` asks one question of the policy above it and says the whole answer.
//!
//! An answer is `allow`, or `STATUS CODE by RULE` with what the refusal names: `of PARAMETER`, `lacking SCOPE`, `over LIMIT`.

use policy_lang::decide::{
    CommandQuery, Decision, Denial, Gate, GateOutcome, Op, PathQuery, Query, VariableQuery, VariableUse,
    decide, gates,
};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::matchers::url::Target;
use policy_lang::parse::Format;
use policy_lang::paths;
use policy_lang::policy::CompiledPolicy;
use policy_lang::scope::ScopeSet;
use policy_lang::{Document, Inputs, compile_document};
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    policy: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    note: String,
    endpoint: String,
    #[serde(default)]
    ask: Ask,
    want: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Ask {
    scopes: Option<Vec<String>>,
    name: Option<String>,
    request_bytes: Option<u64>,
    bytes: Option<u64>,
    /// `OP ROLE PATH`
    paths: Vec<String>,
    command: Option<String>,
    found: Option<String>,
    target: Option<String>,
    shell: Option<String>,
    language: Option<String>,
    signal: Option<u8>,
    url: Option<String>,
    addresses: Vec<std::net::IpAddr>,
    port: Option<u16>,
    set: Vec<String>,
    show: Vec<String>,
    carry: Vec<String>,
}

#[test]
fn every_row_is_decided_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/policy/decide");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut faults = String::new();
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy();
        let cases: Vec<Case> = serde_yaml::from_str(&std::fs::read_to_string(file).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for case in cases {
            let policy = compiled(&case.policy, &name);
            for row in case.rows {
                let found = answer(&policy, &row);
                if found != row.want {
                    let _ = writeln!(faults, "{name}: {}\n  want {}\n  got  {found}", row.note, row.want);
                }
            }
        }
    }
    assert!(files.len() >= 8, "the folder of rows has {} files", files.len());
    assert!(faults.is_empty(), "\n{faults}");
}

fn compiled(text: &str, name: &str) -> CompiledPolicy {
    let (catalogue, levels) = (Catalogue::default(), Levels::default());
    let document = Document { name: "policy.yaml", bytes: text.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    outcome.policy.unwrap_or_else(|| panic!("{name}: {:#?}", outcome.diagnostics))
}

fn answer(policy: &CompiledPolicy, row: &Row) -> String {
    let ask = &row.ask;
    let catalogue = Catalogue::default();
    let endpoint =
        catalogue.resolve(&row.endpoint).unwrap_or_else(|| panic!("no endpoint `{}`", row.endpoint));
    let scopes = ask.scopes.as_ref().map(|names| ScopeSet::parse(names.iter().map(String::as_str)).unwrap());
    let mut normal = Vec::new();
    for asked in &ask.paths {
        let mut words = asked.splitn(3, ' ');
        let (op, role) = (Op::from_name(words.next().unwrap()).unwrap(), words.next().unwrap());
        match paths::absolute(policy.base_dir().as_bytes(), words.next().unwrap().as_bytes()) {
            Ok(path) => normal.push((op, role, path)),
            Err(error) => return error.to_string(),
        }
    }
    let paths: Vec<_> = normal.iter().map(|(op, role, path)| PathQuery { role, path, op: *op }).collect();
    let command = ask.command.as_ref().map(|argv0| CommandQuery {
        argv0,
        found: ask.found.as_deref(),
        target: ask.target.as_deref().or(ask.found.as_deref()),
    });
    let target = match &ask.url {
        None => None,
        Some(url) => match Target::parse(url) {
            None => return "no absolute URL".to_owned(),
            target => target,
        },
    };
    let uses =
        [(&ask.set, VariableUse::Set), (&ask.show, VariableUse::Show), (&ask.carry, VariableUse::Carry)];
    let variables: Vec<_> = uses
        .into_iter()
        .flat_map(|(names, usage)| names.iter().map(move |name| VariableQuery { name, usage }))
        .collect();
    let query = Query {
        scopes: scopes.as_ref(),
        scope_param: ask.name.as_deref(),
        request_bytes: ask.request_bytes,
        paths: &paths,
        command,
        shell: ask.shell.as_deref(),
        language: ask.language.as_deref(),
        signal: ask.signal,
        url: target.as_ref(),
        addresses: &ask.addresses,
        port: ask.port,
        variables: &variables,
        bytes: ask.bytes,
        ..Query::of(endpoint)
    };
    let decision = decide(policy, &query);
    first_refusal_is_the_decision(policy, &query, &decision);
    match decision {
        Decision::Allow => "allow".to_owned(),
        Decision::Deny(denial) => refusal(policy, &denial),
    }
}

/// What explain sees gate by gate and what the pipeline decides are the same thing.
fn first_refusal_is_the_decision(policy: &CompiledPolicy, query: &Query<'_>, decision: &Decision<'_>) {
    let reports = gates(policy, query);
    assert!(reports.iter().map(|report| report.gate).eq(Gate::ALL));
    let first = reports.into_iter().find_map(|report| match report.outcome {
        GateOutcome::Fail(denial) => Some(denial),
        _ => None,
    });
    assert_eq!(*decision, first.map_or(Decision::Allow, Decision::Deny));
}

fn refusal(policy: &CompiledPolicy, denial: &Denial<'_>) -> String {
    let mut text = format!("{} {}", denial.status, denial.code);
    if let Some(parameter) = denial.parameter {
        let _ = write!(text, " of {parameter}");
    }
    if let Some(scope) = &denial.scope {
        let _ = write!(text, " lacking {scope}");
    }
    if let Some(limit) = denial.limit {
        let _ = write!(text, " over {limit}");
    }
    let _ = write!(text, " by {}", policy.rule_name(denial.rule()));
    if let Some(place) = policy.place(denial.element) {
        let _ = write!(text, " at {}", policy.print_place(place));
    }
    text
}
