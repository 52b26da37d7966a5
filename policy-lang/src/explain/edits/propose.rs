//! Which changes are worth trying, by the gate that refuses. They are tried out elsewhere: a proposal may be wrong.

use super::patch::{Editor, Item, TextEdit, Written};
use crate::decide::{Decision, Denial, Gate, Query, decide};
use crate::endpoint::{Catalogue, KEYS, Key, KeyKind, MergeLaw};
use crate::explain::keys::{Holds, keys};
use crate::layer::{Layer, LayerKind, Specificity};
use crate::matchers::url::Host;
use crate::policy::CompiledPolicy;
use crate::resolved::{EndpointIx, ResolvedValue};
use std::net::IpAddr;

/// A change and what it does.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub message: String,
    action: Action,
}

#[derive(Debug, Clone)]
enum Action {
    Set(Vec<String>, Written),
    Append(Vec<String>, Item),
    /// The list element that begins at that byte of the document.
    Remove(usize),
}

impl Change {
    pub(super) fn edit(&self, editor: &Editor<'_>) -> Option<TextEdit> {
        match &self.action {
            Action::Set(path, value) => {
                editor.set(&path.iter().map(String::as_str).collect::<Vec<_>>(), value)
            }
            Action::Append(path, item) => {
                editor.append(&path.iter().map(String::as_str).collect::<Vec<_>>(), item)
            }
            Action::Remove(byte) => editor.remove(*byte),
        }
    }
}

/// Changes that may turn the verdict, smallest first.
pub(super) fn proposals(
    policy: &CompiledPolicy,
    catalogue: &Catalogue,
    query: &Query<'_>,
    identity: Option<&str>,
    layer: &Layer,
) -> Vec<Change> {
    let ask = Ask { policy, catalogue, query, identity, layer };
    match decide(policy, query) {
        Decision::Allow => ask.closing(),
        Decision::Deny(denial) => ask.opening(&denial),
    }
}

struct Ask<'a> {
    policy: &'a CompiledPolicy,
    catalogue: &'a Catalogue,
    query: &'a Query<'a>,
    identity: Option<&'a str>,
    layer: &'a Layer,
}

impl Ask<'_> {
    fn name(&self) -> &str {
        self.catalogue.name(self.query.endpoint)
    }

    fn accepts(&self, key: Key) -> bool {
        self.catalogue.accepts(self.query.endpoint).contains(key)
    }

    /// The keys that lead to a key of the endpoint's own rule.
    fn own(&self, key: Key) -> Vec<String> {
        ["endpoints", self.name()].into_iter().chain(key.as_str().split('.')).map(str::to_owned).collect()
    }

    fn set(&self, key: Key, value: &str) -> Change {
        Change {
            message: format!("set `{}: {value}` for `{}`", key.as_str(), self.name()),
            action: Action::Set(self.own(key), Written::Plain(value.to_owned())),
        }
    }

    fn closing(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let denies = [
            (
                Key::PathsDeny,
                self.query
                    .paths
                    .first()
                    .and_then(|path| std::str::from_utf8(path.path).ok())
                    .map(str::to_owned),
            ),
            (Key::ParamsDenyPorts, self.query.port.map(|port| port.to_string())),
            (Key::ParamsDenyVars, self.query.variables.first().map(|variable| variable.name.to_owned())),
            (Key::ParamsDenyCommands, self.query.command.map(|command| command.argv0.to_owned())),
        ];
        for (key, value) in denies {
            if let Some(value) = value.filter(|value| self.accepts(key) && is_literal(value)) {
                changes.push(self.add(key, &value));
            }
        }
        if !self.catalogue.is_core(self.query.endpoint) {
            changes.push(self.set(Key::Enabled, "false"));
        }
        changes
    }

    fn opening(&self, denial: &Denial<'_>) -> Vec<Change> {
        match denial.gate {
            Gate::Enabled => vec![self.set(Key::Enabled, "true")],
            Gate::Scopes => self.scopes(denial),
            Gate::RequestBytes => self
                .query
                .request_bytes
                .map(|size| self.set(Key::LimitsMaxRequestBytes, &size.to_string()))
                .into_iter()
                .collect(),
            Gate::Bytes => self
                .query
                .bytes
                .map(|size| self.set(Key::LimitsMaxBytes, &size.to_string()))
                .into_iter()
                .collect(),
            Gate::Rate | Gate::Concurrency => Vec::new(),
            gate => self.listed(gate, denial),
        }
    }

    /// A token that lacks a scope gets it, or the endpoint asks for what the caller has.
    fn scopes(&self, denial: &Denial<'_>) -> Vec<Change> {
        let mut changes = Vec::new();
        let tokens = self.layer.tokens.as_deref().unwrap_or_default();
        let token = tokens.iter().position(|token| Some(token.id.value.as_str()) == self.identity);
        if let (Some(at), Some(scope), Some(identity)) = (token, &denial.scope, self.identity) {
            let path = ["auth", "tokens", &at.to_string(), "scopes"].map(str::to_owned).to_vec();
            changes.push(Change {
                message: format!("give the token `{identity}` the scope `{scope}`"),
                action: Action::Append(path, Item::Text(scope.clone().into_owned())),
            });
        }
        if let Some(held) = self.query.scopes {
            // Everyone holds `core:read`, and an empty list says nothing.
            let mut names = held.names();
            if names.is_empty() {
                names.push("core:read".to_owned());
            }
            names.truncate(1);
            let shown = names.join(", ");
            changes.push(Change {
                message: format!("let `{shown}` be enough for `{}`", self.name()),
                action: Action::Set(
                    self.own(Key::Scopes),
                    Written::List(names.into_iter().map(Item::Text).collect()),
                ),
            });
        }
        changes
    }

    /// A gate that goes by lists: the element that refuses goes, or one that lets through comes.
    fn listed(&self, gate: Gate, denial: &Denial<'_>) -> Vec<Change> {
        let statement = denial.element.statement.and_then(|at| self.policy.resolved().statement(at));
        if let Some(statement) = statement {
            let accumulates =
                KEYS.get(statement.key.index()).is_some_and(|decl| decl.law == MergeLaw::Accumulate);
            let key = statement.key;
            if accumulates {
                return self.remove(denial, key).into_iter().collect();
            }
            match (key, &statement.value) {
                (Key::PathsReadOnly, ResolvedValue::List(_)) => {
                    let nothing = self.nothing_read_only();
                    return self.remove(denial, key).into_iter().chain([nothing]).collect();
                }
                (Key::PathsReadOnly, _) => return vec![self.nothing_read_only()],
                (Key::ParamsBlockPrivateNetworks, _) => return vec![self.set(key, "false")],
                _ => {}
            }
        }
        let asked = self.asked(gate, denial);
        asked
            .into_iter()
            .filter(|(key, value)| self.accepts(*key) && (*key == Key::ParamsUrlAllow || is_literal(value)))
            .map(|(key, value)| self.add(key, &value))
            .collect()
    }

    fn nothing_read_only(&self) -> Change {
        Change {
            message: format!("make nothing read-only for `{}`", self.name()),
            action: Action::Set(self.own(Key::PathsReadOnly), Written::List(Vec::new())),
        }
    }

    /// What an allow-list lacks.
    fn asked(&self, gate: Gate, denial: &Denial<'_>) -> Option<(Key, String)> {
        let query = self.query;
        Some(match gate {
            Gate::Path => {
                let path = query.paths.iter().find(|path| Some(path.role) == denial.parameter)?;
                (Key::PathsAllow, std::str::from_utf8(path.path).ok()?.to_owned())
            }
            Gate::Extension => {
                let written = query.paths.iter().find(|path| path.op.changes())?;
                let name = std::str::from_utf8(written.path).ok()?.rsplit('/').next()?;
                (Key::ParamsAllowExtensions, name.get(name.rfind('.')?..)?.to_ascii_lowercase())
            }
            Gate::Command => (Key::ParamsAllowCommands, query.command?.argv0.to_owned()),
            Gate::Shell => (Key::ParamsShells, query.shell?.to_owned()),
            Gate::Language => (Key::ParamsLanguages, query.language?.to_owned()),
            Gate::Signal => (Key::ParamsAllowedSignals, query.signal?.to_string()),
            Gate::Url => {
                let host = match query.url?.host()? {
                    Host::Name(name) => name.to_string(),
                    Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
                    Host::Address(address) => address.to_string(),
                };
                (Key::ParamsUrlAllow, host)
            }
            Gate::Port => (Key::ParamsAllowPorts, query.port?.to_string()),
            Gate::Variable => (Key::ParamsAllowVars, denial.parameter?.to_owned()),
            _ => return None,
        })
    }

    /// Takes the refusing element out of the document; none where another layer says it, whose denies nobody takes back.
    fn remove(&self, denial: &Denial<'_>, key: Key) -> Option<Change> {
        let resolved = self.policy.resolved();
        let rule = resolved.rule(denial.rule())?;
        let statement = resolved.statement(denial.element.statement?)?;
        let ResolvedValue::List(list) = &statement.value else { return None };
        let element = list.get(denial.element.element as usize)?;
        (rule.layer == LayerKind::Policy).then_some(())?;
        Some(Change {
            message: format!("remove `{}` from `{}` of `{}`", element.value, key.as_str(), rule.name),
            action: Action::Remove(element.at?.byte_start as usize),
        })
    }

    /// One element more in the endpoint's own list. Where the list that holds is another rule's, it is written out whole,
    /// since a list replaces and does not add.
    fn add(&self, key: Key, value: &str) -> Change {
        let item = |value: &str| match KEYS.get(key.index()).map(|decl| decl.kind) {
            Some(KeyKind::Ports | KeyKind::Signals) if value.parse::<u64>().is_ok() => {
                Item::Number(value.to_owned())
            }
            _ => Item::Text(value.to_owned()),
        };
        let message = format!("add `{value}` to `{}` of `{}`", key.as_str(), self.name());
        if self.says_itself(self.query.endpoint, key) {
            return Change { message, action: Action::Append(self.own(key), item(value)) };
        }
        let mut list: Vec<Item> = self.holding(key).iter().map(|value| item(value)).collect();
        list.push(item(value));
        Change { message, action: Action::Set(self.own(key), Written::List(list)) }
    }

    /// Whether the document says the key under the endpoint's exact id.
    fn says_itself(&self, endpoint: EndpointIx, key: Key) -> bool {
        let resolved = self.policy.resolved();
        resolved
            .candidates(endpoint, key)
            .iter()
            .filter_map(|at| resolved.rule(resolved.statement(*at)?.rule))
            .any(|rule| rule.layer == LayerKind::Policy && rule.specificity == Specificity::Exact)
    }

    /// The list that a replacing key holds now. What accumulates need not be said again.
    fn holding(&self, key: Key) -> Vec<String> {
        let keys = keys(self.policy, self.catalogue, self.query.endpoint);
        let holds = keys.into_iter().find(|report| report.key == key).map(|report| report.holds);
        match holds {
            Some(Holds::One { winner, .. }) => match winner.value.as_ref() {
                ResolvedValue::List(list) => list.values().map(str::to_owned).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

/// Whether a value means itself in a list of patterns.
fn is_literal(value: &str) -> bool {
    !value.is_empty()
        && !value.contains(['*', '?', '[', ']', '{', '}', '\\'])
        && !value.contains(char::is_control)
}
