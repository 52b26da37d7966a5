//! Asks a policy the calls of a suite and compares the answers.

use super::ask::{Ask, Caller};
use super::read::{Suite, Test};
use crate::decide::{CommandQuery, Decision, GateReport, Op, PathQuery, Query, VariableQuery, decide, gates};
use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::endpoint::Key;
use crate::explain::show_value;
use crate::lower::alternatives;
use crate::paths;
use crate::policy::{CompiledPolicy, ElementRef, RuleIx};
use crate::resolved::{FilePlace, ResolvedValue};
use crate::scope::ScopeSet;
use crate::source::Span;

/// What came of a test that could be asked.
#[derive(Debug)]
pub struct Asked<'t> {
    /// The test.
    pub test: &'t Test,
    /// What differs from what was expected; none where it passed.
    pub fault: Option<Diagnostic>,
}

/// Where a place of the policy stands in the texts that findings are drawn from.
pub type Locate<'a> = &'a dyn Fn(FilePlace) -> Option<Span>;

/// Asks every test of a suite.
#[must_use]
pub fn run<'t>(suite: &'t Suite, policy: &CompiledPolicy, locate: Locate<'_>) -> Vec<Asked<'t>> {
    suite.tests.iter().map(|test| Asked { test, fault: judge(test, policy, locate) }).collect()
}

/// Whether a policy answers every test of a suite as expected.
#[must_use]
pub fn holds(suite: &Suite, policy: &CompiledPolicy) -> bool {
    suite.tests.iter().all(|test| judge(test, policy, &|_| None).is_none())
}

/// The answer of a policy, as far as a test can speak of it.
struct Answer<'p> {
    allow: bool,
    status: u16,
    code: Option<&'static str>,
    rule: RuleIx,
    name: &'p str,
    at: Option<FilePlace>,
}

fn judge(test: &Test, policy: &CompiledPolicy, locate: Locate<'_>) -> Option<Diagnostic> {
    let answer = match asked(&test.ask, policy, |query| answer(policy, query)) {
        Ok(answer) => answer,
        Err(finding) => return Some(*finding),
    };
    let mut faults: Vec<(Span, String, String)> = Vec::new();
    let is = if answer.allow { "allowed" } else { "denied" };
    if let Some(wanted) = test.expect.allow.as_ref().filter(|wanted| wanted.value != answer.allow) {
        let message = format!(
            "{} is {is}, not {}",
            name(test, policy),
            if wanted.value { "allowed" } else { "denied" }
        );
        let label = match answer.code {
            Some(code) => format!("{} `{code}`", answer.status),
            None => "nothing refuses it".to_owned(),
        };
        faults.push((wanted.span, message, label));
    } else {
        other_faults(test, policy, &answer, &mut faults);
    }
    let (span, message, label) = faults.first()?.clone();
    let at = answer.at.map_or_else(String::new, |at| format!(" ({})", policy.print_place(at)));
    let finding = Diagnostic::new(Code::TestFailed, message).at_saying(span, label);
    let verb = if answer.allow { "opens" } else { "refuses" };
    let mut finding = finding.help(format!("`{}`{at} {verb} it", answer.name));
    for (span, message, _) in faults.iter().skip(1) {
        finding = finding.related(*span, message.clone());
    }
    if let Some(span) = answer.at.and_then(locate) {
        finding = finding.related(span, format!("`{}` {verb} it", answer.name));
    }
    Some(finding)
}

/// What differs beside the verdict.
fn other_faults(
    test: &Test,
    policy: &CompiledPolicy,
    answer: &Answer<'_>,
    faults: &mut Vec<(Span, String, String)>,
) {
    let expect = &test.expect;
    let subject = name(test, policy);
    if let Some(code) = expect.code.as_ref().filter(|code| Some(&*code.value) != answer.code) {
        let (message, label) = match answer.code {
            Some(found) => (
                format!("{subject} is refused with `{found}`, not `{}`", code.value),
                format!("it is `{found}`"),
            ),
            None => (
                format!("{subject} is allowed, so it is not refused with `{}`", code.value),
                "allowed".to_owned(),
            ),
        };
        faults.push((code.span, message, label));
    }
    if let Some(status) = expect.status.as_ref().filter(|status| status.value != u64::from(answer.status)) {
        let message = format!("{subject} is answered with {}, not {}", answer.status, status.value);
        faults.push((status.span, message, format!("it is {}", answer.status)));
    }
    if let Some(rule) = expect.rule.as_ref().filter(|rule| rule.value != answer.name) {
        let message = format!("`{}` decides {subject}, not {}", answer.name, quoted(&rule.value));
        faults.push((rule.span, message, format!("it is `{}`", answer.name)));
    }
    for (key, wanted) in &expect.limits {
        let found = limit(policy, test, *key);
        if found == Some(wanted.value) {
            continue;
        }
        let show = |value: u64| show_value(*key, &ResolvedValue::Number(value));
        let found = found.map_or_else(|| "not limited".to_owned(), show);
        let message = format!("`{}` of {subject} is {found}, not {}", key.as_str(), show(wanted.value));
        faults.push((wanted.span, message, format!("it is {found}")));
    }
}

fn name(test: &Test, policy: &CompiledPolicy) -> String {
    format!("`{}`", policy.name(test.ask.endpoint).unwrap_or_default())
}

/// The limit that holds for the endpoint of a test.
fn limit(policy: &CompiledPolicy, test: &Test, key: Key) -> Option<u64> {
    let ruled = policy.endpoint(test.ask.endpoint)?.limits.of(key);
    ruled.map(|ruled| ruled.value)
}

fn answer<'p>(policy: &'p CompiledPolicy, query: &Query<'_>) -> Answer<'p> {
    match decide(policy, query) {
        Decision::Deny(denial) => Answer {
            allow: false,
            status: denial.status,
            code: Some(denial.code),
            rule: denial.rule(),
            name: policy.rule_name(denial.rule()),
            at: policy.place(denial.element),
        },
        Decision::Allow => {
            let rule = policy.endpoint(query.endpoint).map_or(RuleIx::BASE, |endpoint| endpoint.enabled.rule);
            let at = policy.place(ElementRef { rule, ..ElementRef::BASE });
            Answer { allow: true, status: 200, code: None, rule, name: policy.rule_name(rule), at }
        }
    }
}

/// What every gate says of a test's call, for coverage; none where it cannot be asked.
pub(super) fn reports<T>(
    ask: &Ask,
    policy: &CompiledPolicy,
    then: impl FnOnce(&Query<'_>, &[GateReport<'_>], Option<RuleIx>) -> T,
) -> Option<T> {
    asked(ask, policy, |query| {
        let refused = answer(policy, query);
        then(query, &gates(policy, query), (!refused.allow).then_some(refused.rule))
    })
    .ok()
}

/// Makes the query of a call and hands it on.
///
/// # Errors
/// Where the policy knows no such token, or a path cannot be judged.
fn asked<T>(
    ask: &Ask,
    policy: &CompiledPolicy,
    then: impl FnOnce(&Query<'_>) -> T,
) -> Result<T, Box<Diagnostic>> {
    let held;
    let scopes: Option<&ScopeSet> = match &ask.caller {
        Caller::Anybody => None,
        Caller::With(scopes) => Some(scopes),
        Caller::Token(id) => {
            let principals = policy.principals().unwrap_or_default();
            let found = principals.iter().find(|principal| *principal.id == *id.value);
            held = &found.ok_or_else(|| Box::new(unknown_token(policy, &id.value, id.span)))?.scopes;
            Some(held)
        }
    };
    let mut normal = Vec::with_capacity(ask.paths.len());
    for (role, path) in &ask.paths {
        let path = paths::absolute(policy.base_dir().as_bytes(), path.as_bytes()).map_err(|error| {
            Box::new(Diagnostic::new(
                Code::InvalidPath,
                format!("the path {} cannot be judged: {error}", quoted(path)),
            ))
        })?;
        normal.push((role.as_str(), path));
    }
    let decl = policy.decl(ask.endpoint);
    let queries: Vec<PathQuery<'_>> = normal
        .iter()
        .map(|(role, path)| PathQuery { role, path, op: ask.op.unwrap_or_else(|| Op::usual(decl, role)) })
        .collect();
    let variables: Vec<VariableQuery<'_>> =
        ask.variables.iter().map(|(name, usage)| VariableQuery { name, usage: *usage }).collect();
    let program = |argv0| CommandQuery { argv0, found: None, target: None };
    Ok(then(&Query {
        scopes,
        scope_param: ask.name.as_deref(),
        request_bytes: ask.request_bytes,
        paths: &queries,
        command: ask.command.as_deref().map(program),
        shell: ask.shell.as_deref(),
        language: ask.language.as_deref(),
        signal: ask.signal,
        url: ask.url.as_ref(),
        addresses: &ask.addresses,
        port: ask.port,
        variables: &variables,
        bytes: ask.bytes,
        ..Query::of(ask.endpoint)
    }))
}

fn unknown_token(policy: &CompiledPolicy, id: &str, span: Span) -> Diagnostic {
    let finding = Diagnostic::new(Code::UnknownValue, format!("no token has the id {}", quoted(id))).at(span);
    let ids = || policy.principals().unwrap_or_default().iter().map(|principal| &*principal.id);
    let near = suggest::closest(id, ids());
    match near.first() {
        Some(best) => finding.help(format!("did you mean `{best}`?")).suggest(Suggestion::review(
            format!("write `{best}`"),
            span,
            (*best).to_owned(),
        )),
        None if ids().next().is_none() => finding.help("the policy declares no tokens"),
        None => finding.help(format!("the policy declares {}", alternatives(ids()))),
    }
}
