//! What must hold of merging whatever is merged: the compiled policy against a slow second evaluator, and the laws.
//!
//! `POLICY_PAIRS=10000000 cargo test --release -p policy-lang --test policy laws` runs the comparison at full length.

use crate::fuzzed::stages::head;
use crate::random::{Call, GROUPS, PRESETS, Random, call, document};
use crate::reference;
use policy_lang::decide::{Decision, Op, PathQuery, Query, decide};
use policy_lang::diag::{Levels, Severity};
use policy_lang::endpoint::{Catalogue, Group, Key};
use policy_lang::layers::code::GroupSwitch;
use policy_lang::lower::presets;
use policy_lang::parse::Format;
use policy_lang::policy::CompiledPolicy;
use policy_lang::scope::ScopeSet;
use policy_lang::{Document, Inputs, compile_document, form, load_compiled};
use serde_json::{Value, json};

/// Calls that each policy is asked.
const CALLS: usize = 100;

/// What stands beside a document.
#[derive(Debug, Default, Clone)]
struct Beside {
    code: Vec<(&'static str, bool)>,
    environment: Vec<&'static str>,
}

impl Beside {
    fn random(random: &mut Random) -> Self {
        let code = if random.one_in(3) { random.some(&GROUPS) } else { Vec::new() };
        let code = code.into_iter().map(|group| (*group, random.one_in(2))).collect();
        let environment = if random.one_in(3) { random.some(&GROUPS) } else { Vec::new() };
        Self { code, environment: environment.into_iter().copied().collect() }
    }
}

fn with_inputs<T>(beside: &Beside, run: impl FnOnce(&Inputs<'_>) -> T) -> T {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let switches: Vec<_> = beside
        .code
        .iter()
        .map(|(group, enabled)| GroupSwitch { group: Group::from_name(group).unwrap(), enabled: *enabled })
        .collect();
    let groups = beside.environment.join(",");
    run(&Inputs {
        switches: &switches,
        enabled_groups: (!groups.is_empty()).then_some(&groups),
        ..Inputs::new(&catalogue, &levels)
    })
}

/// The policy, or none where globs of the document conflict.
fn compile(text: &str, beside: &Beside) -> Option<CompiledPolicy> {
    let document = Document { name: "policy.json", bytes: text.as_bytes(), format: Format::Json };
    let outcome = with_inputs(beside, |inputs| compile_document(Some(document), inputs));
    for found in outcome.diagnostics.iter().filter(|found| found.severity == Severity::Error) {
        assert_eq!(found.code.as_str(), "conflicting-globs", "{}\n{text}", found.message);
    }
    outcome.policy
}

/// The code of the refusal, or none.
fn ask(policy: &CompiledPolicy, call: &Call) -> Option<String> {
    let scopes = call.scopes.as_ref().map(|names| ScopeSet::parse(names.iter().copied()).unwrap());
    let paths: Vec<_> = call
        .path
        .iter()
        .map(|(op, path)| PathQuery { role: "path", path: path.as_bytes(), op: Op::from_name(op).unwrap() })
        .collect();
    let query = Query {
        scopes: scopes.as_ref(),
        paths: &paths,
        language: call.language,
        signal: call.signal,
        port: call.port,
        bytes: call.bytes,
        ..Query::of(Catalogue::builtin().resolve(call.endpoint).unwrap())
    };
    match decide(policy, &query) {
        Decision::Allow => None,
        Decision::Deny(denial) => Some(denial.code.to_owned()),
    }
}

/// As many random policies as the pairs need, each with what stands beside it.
fn policies(pairs: usize, mut run: impl FnMut(&mut Random, &Value, &Beside, &CompiledPolicy)) {
    let (mut seed, mut left) = (0, pairs / CALLS);
    while left > 0 {
        seed += 1;
        let random = &mut Random::new(seed);
        let (document, beside) = (document(random), Beside::random(random));
        if let Some(policy) = compile(&document.to_string(), &beside) {
            run(random, &document, &beside, &policy);
            left -= 1;
        }
    }
    assert!(seed < pairs as u64, "most random policies conflict: the comparison says little");
}

#[test]
fn the_reference_evaluator_agrees() {
    let pairs = std::env::var("POLICY_PAIRS").ok().map_or(100_000, |pairs| pairs.parse().unwrap());
    let presets: Vec<(&str, Value)> = PRESETS
        .iter()
        .map(|name| (*name, serde_yaml::from_str(presets::get(name).unwrap().text).unwrap()))
        .collect();
    let (mut allowed, mut asked) = (0, 0);
    policies(pairs, |random, document, beside, policy| {
        let preset =
            presets.iter().find(|(name, _)| document["preset"] == *name).map(|(_, document)| document);
        let reference = reference::Policy::new(document, preset, &beside.code, &beside.environment);
        for _ in 0..CALLS {
            let call = call(random);
            let (ours, theirs) = (ask(policy, &call), reference.decide(&call));
            assert_eq!(ours.as_deref(), theirs, "{call:?}\n{beside:?}\n{document:#}");
            allowed += usize::from(ours.is_none());
            asked += 1;
        }
    });
    assert!(allowed > asked / 20, "only {allowed} of {asked} calls were allowed: the comparison says little");
}

/// Pairs for the laws, each of which compiles twice.
const PAIRS: usize = 15_000;

#[test]
fn a_deny_never_opens() {
    policies(PAIRS, |random, document, beside, policy| {
        let mut stricter = document.clone();
        let selector =
            random.pick(&["@defaults", "files_*", "upload", "group:file_ops", "download"]).to_owned();
        let (endpoints, extra) = (&mut stricter["endpoints"], ["**/b", "/home/user/out", "X.TXT", "*.so"]);
        let rule = &mut endpoints[selector];
        if rule.is_boolean() {
            *rule = json!({ "enabled": rule });
        }
        let mut denies = rule["paths"]["deny"].as_array().cloned().unwrap_or_default();
        denies.push(json!(random.pick(&extra)));
        rule["paths"]["deny"] = json!(denies);
        let Some(after) = compile(&stricter.to_string(), beside) else { return };
        for _ in 0..CALLS {
            let call = call(random);
            if ask(policy, &call).is_some() {
                assert!(ask(&after, &call).is_some(), "a deny opened {call:?}\n{document:#}\n{stricter:#}");
            }
        }
    });
}

/// Every mapping of the document in another order.
fn shuffled(value: &Value, random: &mut Random) -> String {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            for at in (1..entries.len()).rev() {
                entries.swap(at, random.below(at + 1));
            }
            let entries: Vec<_> = entries
                .into_iter()
                .map(|(key, value)| format!("{}: {}", json!(key), shuffled(value, random)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        value => value.to_string(),
    }
}

#[test]
fn the_order_of_keys_never_matters() {
    policies(PAIRS, |random, document, beside, policy| {
        let other = shuffled(document, random);
        let after = compile(&other, beside)
            .unwrap_or_else(|| panic!("another order conflicts\n{document:#}\n{other}"));
        assert_eq!(policy.revision(), after.revision(), "{document:#}\n{other}");
        for _ in 0..CALLS {
            let call = call(random);
            assert_eq!(ask(policy, &call), ask(&after, &call), "{call:?}\n{other}");
        }
    });
}

#[test]
fn compiling_again_changes_nothing() {
    policies(PAIRS, |_, document, beside, policy| {
        let again = compile(&document.to_string(), beside).unwrap();
        assert_eq!(again.resolved(), policy.resolved());
        assert_eq!(form::write(again.resolved()), form::write(policy.resolved()));
    });
}

#[test]
fn what_is_silent_about_enabled_never_reopens() {
    policies(PAIRS, |random, document, beside, policy| {
        let mut other = document.clone();
        let id = random.pick(&crate::random::IDS).to_string();
        if other["endpoints"].get(&id).is_some() {
            return;
        }
        other["endpoints"][id] = json!({ "limits": { "rate_per_minute": 7 } });
        let after = compile(&other.to_string(), beside).unwrap();
        for (ix, endpoint) in policy.endpoints() {
            let now = after.endpoint(ix).unwrap();
            assert_eq!(endpoint.enabled.value, now.enabled.value, "{}\n{other:#}", policy.name(ix).unwrap());
        }
    });
}

#[test]
fn a_compiled_set_under_the_environment_is_what_compiling_with_it_gives() {
    policies(PAIRS, |random, document, beside, policy| {
        let without = Beside { environment: Vec::new(), ..beside.clone() };
        let bare = compile(&document.to_string(), &without).unwrap();
        let written = form::write(bare.resolved());
        let base_dir = random.one_in(2).then_some("/srv/data");
        let loaded = with_inputs(beside, |inputs| {
            load_compiled(written.clone().into(), &Inputs { base_dir, ..*inputs }).unwrap()
        });
        let loaded = loaded.policy.unwrap();
        let unread = with_inputs(beside, |inputs| {
            load_compiled(head(&written, 4096), &Inputs { base_dir, leave_paths: true, ..*inputs }).unwrap()
        });
        let unread = unread.policy.unwrap();
        assert_eq!(loaded.resolved(), policy.resolved(), "{document:#}\n{written}");
        assert_eq!(loaded.revision(), policy.revision());
        let text = document.to_string();
        let file = Document { name: "policy.json", bytes: text.as_bytes(), format: Format::Json };
        let fresh =
            with_inputs(beside, |inputs| compile_document(Some(file), &Inputs { base_dir, ..*inputs }));
        let fresh = fresh.policy.unwrap();
        for _ in 0..CALLS {
            let call = call(random);
            assert_eq!(ask(&loaded, &call), ask(&fresh, &call), "{call:?}\n{document:#}");
            assert_eq!(ask(&unread, &call), ask(&fresh, &call), "{call:?}\n{document:#}");
        }
        assert_eq!(unread.prepare(), Ok(()), "{document:#}");
    });
}

#[test]
fn keys_are_resolved_one_by_one() {
    let document = json!({
        "defaults": { "limits": { "max_bytes": 10, "rate_per_minute": 5 } },
        "endpoints": { "upload": { "limits": { "max_bytes": 20 } } },
    });
    let policy = compile(&document.to_string(), &Beside::default()).unwrap();
    let upload = Catalogue::builtin().resolve("upload").unwrap();
    let said = |key| policy.resolved().winner(upload, key).map(|said| policy.rule_name(said.rule));
    assert_eq!(said(Key::LimitsMaxBytes), Some("policy:endpoints.upload"));
    assert_eq!(said(Key::LimitsRatePerMinute), Some("policy:defaults"));
    assert_eq!(said(Key::Enabled), None);
}
