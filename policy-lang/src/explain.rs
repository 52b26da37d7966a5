//! A decision and its history: the verdict, every gate, every key with what it beat, and the smallest changes of the
//! document that would turn the verdict.

pub mod edits;
pub mod human;
pub mod keys;
mod show;

pub use edits::{EditReport, Question, edits};
pub use keys::{Beaten, Holds, KeyReport, Reason, Said, SaidElement, keys};
pub use show::{absolute, value as show_value};

use crate::decide::gates::{GateOutcome, GateReport};
use crate::decide::{Decision, Denial, Gate, Query, decide, gates};
use crate::endpoint::{Catalogue, KEYS, Key, MergeLaw};
use crate::layer::{LayerKind, Selector};
use crate::policy::{CompiledPolicy, ElementRef};
use crate::resolved::{EndpointIx, FilePlace, ResolvedValue, RuleIx};

/// Everything there is to say about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation<'a> {
    /// The endpoint.
    pub endpoint: EndpointIx,
    /// Its id.
    pub name: String,
    /// Whether the call may happen, as far as it was asked.
    pub allowed: bool,
    /// HTTP status: that of the refusal, or 200.
    pub status: u16,
    /// The code of the refusal.
    pub code: Option<&'static str>,
    /// The rule that decides: that of the refusal, or the one that opens the endpoint.
    pub rule: &'a str,
    /// Where that rule says it.
    pub at: Option<FilePlace>,
    /// Every gate in pipeline order, also those after the first that refuses.
    pub gates: Vec<GateLine<'a>>,
    /// Every key that has a value.
    pub keys: Vec<KeyReport<'a>>,
    /// What a reader should know beside it, a sentence each.
    pub notes: Vec<String>,
}

/// How a gate answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Lets the call through.
    Pass,
    /// Refuses it.
    Fail,
    /// Was given nothing to judge.
    NotAsked,
    /// Only a running server can tell.
    AtCallTime,
}

impl Outcome {
    /// As reports print it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotAsked => "not_asked",
            Self::AtCallTime => "at_call_time",
        }
    }
}

/// One gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateLine<'a> {
    /// Which.
    pub gate: Gate,
    /// How it answered.
    pub outcome: Outcome,
    /// HTTP status of a refusal.
    pub status: Option<u16>,
    /// Code of a refusal.
    pub code: Option<&'static str>,
    /// The rule that it went by.
    pub rule: Option<&'a str>,
    /// Where that rule says it.
    pub at: Option<FilePlace>,
    /// A few words on what it saw.
    pub detail: Option<String>,
}

/// Explains what the policy says of a call.
#[must_use]
pub fn explain<'a>(policy: &'a CompiledPolicy, catalogue: &Catalogue, query: &Query<'a>) -> Explanation<'a> {
    let gates: Vec<GateLine<'a>> =
        gates(policy, query).into_iter().map(|report| line(policy, query, report)).collect();
    let opened = policy.resolved().candidates(query.endpoint, Key::Enabled).first().copied();
    let opened = policy.endpoint(query.endpoint).map_or(ElementRef::BASE, |endpoint| ElementRef {
        rule: endpoint.enabled.rule,
        statement: opened,
        element: ElementRef::WHOLE,
    });
    let (allowed, status, code, element) = match decide(policy, query) {
        Decision::Allow => (true, 200, None, opened),
        Decision::Deny(denial) if denial.gate == Gate::Enabled => {
            (false, denial.status, Some(denial.code), opened)
        }
        Decision::Deny(denial) => (false, denial.status, Some(denial.code), denial.element),
    };
    Explanation {
        endpoint: query.endpoint,
        name: catalogue.name(query.endpoint).to_owned(),
        allowed,
        status,
        code,
        rule: policy.rule_name(element.rule),
        at: policy.place(element),
        gates,
        keys: keys(policy, catalogue, query.endpoint),
        notes: notes(policy, catalogue, query),
    }
}

fn line<'a>(policy: &'a CompiledPolicy, query: &Query<'a>, report: GateReport<'a>) -> GateLine<'a> {
    let GateReport { gate, outcome } = report;
    let mut line = GateLine {
        gate,
        outcome: Outcome::NotAsked,
        status: None,
        code: None,
        rule: None,
        at: None,
        detail: None,
    };
    match outcome {
        GateOutcome::NotAsked => {}
        GateOutcome::Pass(rule) => {
            line.outcome = Outcome::Pass;
            line.rule = rule.map(|rule| policy.rule_name(rule));
            line.at = rule.and_then(|rule| said_at(policy, query.endpoint, gate, rule));
        }
        GateOutcome::AtCallTime(rule, limit) => {
            line.outcome = Outcome::AtCallTime;
            line.rule = Some(policy.rule_name(rule));
            line.at = said_at(policy, query.endpoint, gate, rule);
            line.detail = Some(match gate {
                Gate::Rate => format!("{limit} calls a minute"),
                _ => format!("{limit} calls at a time"),
            });
        }
        GateOutcome::Fail(denial) => {
            line.outcome = Outcome::Fail;
            line.status = Some(denial.status);
            line.code = Some(denial.code);
            line.rule = Some(policy.rule_name(denial.rule()));
            line.at = match denial.element.statement {
                Some(_) => policy.place(denial.element),
                None => said_at(policy, query.endpoint, gate, denial.rule()),
            };
            line.detail = detail(policy, query, &denial);
        }
    }
    line
}

/// Where a rule says the key that a gate goes by; where the rule stands, if it says no such key.
fn said_at(policy: &CompiledPolicy, endpoint: EndpointIx, gate: Gate, rule: RuleIx) -> Option<FilePlace> {
    let resolved = policy.resolved();
    let key = match gate {
        Gate::Enabled => Key::Enabled,
        Gate::Scopes => Key::Scopes,
        Gate::Rate => Key::LimitsRatePerMinute,
        Gate::Concurrency => Key::LimitsMaxConcurrency,
        Gate::RequestBytes => Key::LimitsMaxRequestBytes,
        Gate::Bytes => Key::LimitsMaxBytes,
        _ => Key::PathsAllow,
    };
    let statements = resolved.candidates(endpoint, key).iter().filter_map(|at| resolved.statement(*at));
    let said =
        statements.into_iter().find(|statement| statement.rule == rule).and_then(|statement| statement.at);
    said.or_else(|| resolved.rule(rule)?.at)
}

/// What a refusing gate saw: the element that refuses, the scope that lacks, the limit.
fn detail(policy: &CompiledPolicy, query: &Query<'_>, denial: &Denial<'_>) -> Option<String> {
    if let Some(scope) = &denial.scope {
        return Some(format!("the caller lacks `{scope}`"));
    }
    if let Some(limit) = denial.limit {
        return Some(format!("more than {}", show::bytes(limit)));
    }
    let of = subject(query, denial);
    let statement = denial.element.statement.and_then(|at| policy.resolved().statement(at));
    let Some(statement) = statement else {
        let why = unsaid(policy, query, denial)?;
        return Some(format!("{of}{why}"));
    };
    let key = statement.key.as_str();
    let accumulates = KEYS.get(statement.key.index()).is_some_and(|decl| decl.law == MergeLaw::Accumulate);
    Some(match &statement.value {
        ResolvedValue::List(list) if accumulates || statement.key == Key::PathsReadOnly => {
            let element = list.get(denial.element.element as usize).map_or("", |element| element.value);
            format!("{of}matches `{element}` of `{key}`")
        }
        ResolvedValue::List(_) => format!("{of}is not in `{key}`"),
        value => format!("{of}`{key}` is {}", show::value(statement.key, value)),
    })
}

/// What a gate judged, as the start of a sentence.
fn subject(query: &Query<'_>, denial: &Denial<'_>) -> String {
    if let Some(parameter) = denial.parameter {
        let path = query.paths.iter().find(|path| path.role == parameter);
        return path.map_or_else(
            || format!("`{parameter}` "),
            |path| format!("{parameter}: `{}` ", String::from_utf8_lossy(path.path)),
        );
    }
    let judged = match denial.gate {
        Gate::Command => query.command.map(|command| command.argv0.to_owned()),
        Gate::Shell => query.shell.map(str::to_owned),
        Gate::Language => query.language.map(str::to_owned),
        Gate::Signal => query.signal.map(|signal| signal.to_string()),
        Gate::Url => query.url.map(ToString::to_string),
        Gate::Port => query.port.map(|port| port.to_string()),
        _ => None,
    };
    judged.map_or_else(String::new, |judged| format!("`{judged}` "))
}

/// Why a refusal stands that no rule of a document says.
fn unsaid(policy: &CompiledPolicy, query: &Query<'_>, denial: &Denial<'_>) -> Option<String> {
    let why = match (denial.gate, denial.code) {
        (Gate::Path, "path_not_allowed") => {
            return Some(format!("is outside the base directory, `{}`", policy.base_dir()));
        }
        (Gate::Path | Gate::Variable, _) => "is refused whatever the rules say",
        (Gate::Url, _) if query.url.is_some_and(|url| !url.is_web()) => "is no web address",
        (Gate::Url, _) => "is a link-local or metadata address, and `params.url_allow` does not name it",
        (Gate::Port, _) => "is below 1024, and `params.allow_ports` does not name it",
        (Gate::Shell | Gate::Language | Gate::Signal, _) => "is not in the list that holds without a rule",
        _ => return None,
    };
    Some(why.to_owned())
}

fn notes(policy: &CompiledPolicy, catalogue: &Catalogue, query: &Query<'_>) -> Vec<String> {
    if !catalogue.is_core(query.endpoint) {
        return Vec::new();
    }
    let authored = policy
        .resolved()
        .rules
        .iter()
        .filter(|rule| matches!(rule.layer, LayerKind::Policy | LayerKind::Preset));
    authored
        .filter(|rule| {
            let selector = Selector::read(rule.specificity, &rule.selector, catalogue);
            selector.is_some_and(|selector| {
                selector.passes_core_over() && catalogue.matching(&selector).contains(&query.endpoint)
            })
        })
        .map(|rule| {
            format!("`{}` of `{}` covers this endpoint and passes it over: core is governed only by rules that name it", rule.selector, rule.name)
        })
        .collect()
}
