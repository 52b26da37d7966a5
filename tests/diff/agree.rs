//! The comparison against the decision: what it calls the same never turns, and every call that it shows does.
//!
//! `FULL_COUNTS=1` asks twenty times as much.

use crate::random::{Call, Random, call, pair};
use policy_lang::decide::{
    CommandQuery, Gate, GateOutcome, PathQuery, Query, VariableQuery, VariableUse, gates,
};
use policy_lang::diag::{Levels, Severity};
use policy_lang::diff::{self, Diff, Evidence, Verdict};
use policy_lang::endpoint::{Catalogue, Key};
use policy_lang::matchers::url::Target;
use policy_lang::parse::Format;
use policy_lang::policy::CompiledPolicy;
use policy_lang::scope::ScopeSet;
use policy_lang::{Document, Inputs, compile_document};
use serde_json::Value;

/// Pairs of policies, and the calls that each pair is asked.
const PAIRS: usize = 100;
const CALLS: usize = 10_000;

fn compile(document: &Value) -> CompiledPolicy {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let text = document.to_string();
    let document = Document { name: "policy.json", bytes: text.as_bytes(), format: Format::Json };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    let errors: Vec<_> =
        outcome.diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    outcome.policy.unwrap()
}

/// The gates that refuse.
fn refusing(policy: &CompiledPolicy, call: &Call) -> Vec<Gate> {
    let scopes = call.scopes.as_ref().map(|names| ScopeSet::parse(names.iter().copied()).unwrap());
    let path =
        call.path.as_ref().map(|(path, op)| PathQuery { role: "path", path: path.as_bytes(), op: *op });
    let url = call.url.as_ref().map(|url| Target::parse(url).unwrap());
    let address = call.address.map(|address| address.parse().unwrap());
    let variable = call.variable.map(|(name, usage)| VariableQuery { name, usage });
    let query = Query {
        scopes: scopes.as_ref(),
        scope_param: call.command_name,
        request_bytes: call.request_bytes,
        paths: path.as_slice(),
        command: call.command.map(|argv0| CommandQuery { argv0, found: None, target: None }),
        shell: call.shell,
        language: call.language,
        signal: call.signal,
        url: url.as_ref(),
        addresses: address.as_slice(),
        port: call.port,
        variables: variable.as_slice(),
        bytes: call.bytes,
        ..Query::of(Catalogue::builtin().resolve(call.endpoint).unwrap())
    };
    let reports = gates(policy, &query).into_iter();
    reports
        .filter(|report| matches!(report.outcome, GateOutcome::Fail(_)))
        .map(|report| report.gate)
        .collect()
}

/// The keys that a gate judges by.
fn keys(gate: Gate, call: &Call) -> &'static [Key] {
    match gate {
        Gate::Enabled => &[Key::Enabled],
        Gate::Scopes => &[Key::Scopes],
        Gate::Rate | Gate::Concurrency => &[],
        Gate::RequestBytes => &[Key::LimitsMaxRequestBytes],
        Gate::Path => &[Key::PathsAllow, Key::PathsDeny, Key::PathsReadOnly],
        Gate::Extension => &[Key::ParamsAllowExtensions, Key::ParamsDenyExtensions],
        Gate::Command => &[Key::ParamsAllowCommands, Key::ParamsDenyCommands],
        Gate::Shell => &[Key::ParamsShells],
        Gate::Language => &[Key::ParamsLanguages],
        Gate::Signal => &[Key::ParamsAllowedSignals],
        Gate::Url => &[Key::ParamsUrlAllow, Key::ParamsUrlDeny, Key::ParamsBlockPrivateNetworks],
        Gate::Port => &[Key::ParamsAllowPorts, Key::ParamsDenyPorts],
        Gate::Variable if call.variable.is_some_and(|(_, usage)| usage == VariableUse::Carry) => {
            &[Key::ParamsEnvDeny]
        }
        Gate::Variable => &[Key::ParamsAllowVars, Key::ParamsDenyVars],
        Gate::Bytes => &[Key::LimitsMaxBytes],
    }
}

/// A call that one side refuses and the other permits: every gate that refused has a key that says so.
fn explained(diff: &Diff, call: &Call, refusing: &[Gate], verdicts: [Verdict; 2]) -> bool {
    // An endpoint that was closed refuses whatever its other gates say.
    let gates = if refusing.contains(&Gate::Enabled) { &[Gate::Enabled][..] } else { refusing };
    gates
        .iter()
        .all(|gate| keys(*gate, call).iter().any(|key| verdicts.contains(&diff.verdict(call.endpoint, *key))))
}

#[test]
fn what_is_called_the_same_never_turns_and_every_witness_does() {
    let full = std::env::var_os("FULL_COUNTS").is_some();
    let pairs = if full { PAIRS * 20 } else { PAIRS };
    let (mut asked, mut turned, mut shown, mut unproven) = (0_u64, 0_u64, 0_u64, 0_u64);
    for seed in 1..=pairs as u64 {
        let random = &mut Random::new(seed);
        let (old, new) = pair(random);
        let (before, after) = (compile(&old), compile(&new));
        let diff = diff::compare(&before, &after);
        for change in &diff.changes {
            assert_ne!(change.verdict, Verdict::Same);
            for (evidence, refuses, permits) in
                [(&change.opening, &before, &after), (&change.closing, &after, &before)]
            {
                match evidence {
                    Some(Evidence::Witness(witness)) => {
                        assert!(witness.ask(permits).allowed, "seed {seed}: {witness}\n{old:#}\n{new:#}");
                        assert!(!witness.ask(refuses).allowed, "seed {seed}: {witness}\n{old:#}\n{new:#}");
                        shown += 1;
                    }
                    Some(Evidence::Unproven(_)) => unproven += 1,
                    None => {}
                }
            }
        }
        for _ in 0..CALLS {
            let call = call(random);
            let (one, other) = (refusing(&before, &call), refusing(&after, &call));
            asked += 1;
            let fits = match (one.is_empty(), other.is_empty()) {
                (false, true) => explained(&diff, &call, &one, [Verdict::Widened, Verdict::Reshaped]),
                (true, false) => explained(&diff, &call, &other, [Verdict::Narrowed, Verdict::Reshaped]),
                _ => continue,
            };
            turned += 1;
            assert!(fits, "seed {seed}: {call:?} {one:?} {other:?}\n{:#?}\n{old:#}\n{new:#}", diff.changes);
        }
    }
    println!("{asked} calls, {turned} turned, {shown} witnesses, {unproven} unproven");
    assert!(
        turned > asked / 50 && shown > pairs as u64,
        "the comparison says little: {turned} of {asked} turned"
    );
    assert!(unproven < shown / 5, "{unproven} changes of {shown} are not proven");
}

#[test]
fn a_policy_is_the_same_as_itself() {
    for seed in 1..=200 {
        let (policy, _) = pair(&mut Random::new(seed));
        let policy = compile(&policy);
        let diff = diff::compare(&policy, &policy);
        assert!(diff.is_empty(), "{:#?}", diff.changes);
        assert_eq!(diff.latent, 0);
    }
}
