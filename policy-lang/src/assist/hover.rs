//! What a word of a document means, and what holds because of it, in Markdown.

use crate::endpoint::{Catalogue, GROUPS, KEYS, Key, SCOPES};
use crate::explain::{self, Holds, show_value};
use crate::layer::{LayerKind, Selector};
use crate::lower::{presets, selector, words};
use crate::parse::{Entry, Node, NodeKind};
use crate::policy::CompiledPolicy;
use crate::resolved::{EndpointIx, FilePlace, List, ResolvedValue};
use crate::rules;
use crate::source::Span;
use std::fmt::Write;

/// The most endpoints of a wide selector that are told one by one.
const SHOWN: usize = 8;

/// A word, and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The word.
    pub span: Span,
    /// Markdown.
    pub text: String,
    /// Where the preset says the key, or else the rule that wins.
    pub rule: Option<FilePlace>,
    /// The preset that is named, when the word is its name.
    pub preset: Option<&'static str>,
}

/// What is said about the word at a byte. None where nothing is known of it.
#[must_use]
pub fn hover(
    root: &Node<'_>,
    byte: u32,
    policy: Option<&CompiledPolicy>,
    catalogue: &Catalogue,
) -> Option<Hover> {
    let mut path: Vec<&str> = Vec::new();
    let word = find(root, byte, &mut path)?;
    if path.first() == Some(&words::WRAPPER) {
        path.remove(0);
    }
    let told = Told { policy, catalogue };
    match (path.as_slice(), word) {
        (["preset"], Word::Value(node)) => told.preset(node),
        (["groups", name], Word::Key(span)) => told.selector(&format!("group:{name}"), span),
        (["endpoints", name], Word::Key(span)) => told.selector(name, span),
        (["defaults", key @ ..], Word::Key(span)) if !key.is_empty() => told.key("@defaults", key, span),
        (["groups", name, key @ ..], Word::Key(span)) => told.key(&format!("group:{name}"), key, span),
        (["endpoints", name, key @ ..], Word::Key(span)) => told.key(name, key, span),
        ([.., "scopes"], Word::Value(node)) => scope(node),
        _ => None,
    }
}

/// What stands at a byte.
enum Word<'n, 's> {
    Key(Span),
    Value(&'n Node<'s>),
}

/// The word at a byte and the keys that lead to it, its own included.
fn find<'n, 's>(node: &'n Node<'s>, byte: u32, path: &mut Vec<&'n str>) -> Option<Word<'n, 's>> {
    let covers = |span: Span| span.start <= byte && byte <= span.end;
    match &node.kind {
        NodeKind::Map(entries) => {
            let mut holds = entries.iter().filter(|entry: &&Entry<'_>| {
                covers(entry.key_span) || (entry.value.via.is_none() && covers(entry.value.span))
            });
            // Where two touch, the one whose key it is goes before.
            let entry = holds.clone().find(|entry| covers(entry.key_span)).or_else(|| holds.next())?;
            path.push(&entry.key);
            if covers(entry.key_span) {
                Some(Word::Key(entry.key_span))
            } else {
                find(&entry.value, byte, path)
            }
        }
        NodeKind::Seq(items) => find(items.iter().find(|item| covers(item.span))?, byte, path),
        _ => Some(Word::Value(node)),
    }
}

struct Told<'a> {
    policy: Option<&'a CompiledPolicy>,
    catalogue: &'a Catalogue,
}

impl Told<'_> {
    fn preset(&self, node: &Node<'_>) -> Option<Hover> {
        let NodeKind::Text { text, .. } = &node.kind else { return None };
        let preset = presets::get(text)?;
        let open = self.policy.map_or_else(String::new, |policy| {
            let open = policy.endpoints().filter(|(_, endpoint)| endpoint.enabled.value).count();
            format!("\n\nWith this document {open} of {} endpoints answer.", policy.endpoints().len())
        });
        let text = format!("**preset `{}`**: {}{open}", preset.name, preset.summary);
        Some(Hover { span: node.span, text, rule: None, preset: Some(preset.name) })
    }

    fn selector(&self, written: &str, span: Span) -> Option<Hover> {
        let selector = selector::of(written, self.catalogue)?;
        let endpoints = selector.governs(self.catalogue);
        let mut text = String::new();
        match (&selector, endpoints.as_slice()) {
            (Selector::Exact(_) | Selector::Custom(_), [only]) => self.endpoint(*only, &mut text),
            (Selector::Group(group), _) => {
                let summary = GROUPS.get(group.index()).map_or("", |group| group.summary);
                let _ = write!(text, "**group `{}`**: {summary}", group.as_str());
                self.states(&endpoints, &mut text);
            }
            _ => {
                let _ = write!(text, "`{written}` speaks of {} endpoints", endpoints.len());
                self.states(&endpoints, &mut text);
            }
        }
        let rule = match endpoints.as_slice() {
            [only] => self.place(*only, Key::Enabled),
            _ => None,
        };
        Some(Hover { span, text, rule, preset: None })
    }

    /// One endpoint: its doors and everything that holds for it.
    fn endpoint(&self, endpoint: EndpointIx, text: &mut String) {
        let _ = write!(text, "**`{}`**", self.catalogue.name(endpoint));
        if let Some(decl) = self.catalogue.decl(endpoint) {
            let _ = write!(text, ": {}", decl.summary);
            if let Some(door) = decl.doors.first() {
                let _ = write!(text, "\n\n`{} {}`", door.method.as_str(), door.path);
            }
        }
        let Some(policy) = self.policy else { return };
        text.push_str("\n\n| key | value | rule |\n| --- | --- | --- |\n");
        for report in explain::keys(policy, self.catalogue, endpoint) {
            let (value, rule) = match &report.holds {
                Holds::One { winner, .. } => (show_value(report.key, &winner.value), winner.rule.to_owned()),
                Holds::Union(elements) => {
                    let list = List::of(elements.iter().map(|one| one.value));
                    let mut rules: Vec<&str> = elements.iter().map(|one| one.rule).collect();
                    rules.dedup();
                    (show_value(report.key, &ResolvedValue::List(list)), rules.join(", "))
                }
            };
            let value = value.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {value} | `{rule}` |", report.key.as_str());
        }
    }

    /// Which of several endpoints are open, and by which rule.
    fn states(&self, endpoints: &[EndpointIx], text: &mut String) {
        text.push('\n');
        for endpoint in endpoints.iter().take(SHOWN) {
            let name = self.catalogue.name(*endpoint);
            let state = self.policy.and_then(|policy| policy.endpoint(*endpoint));
            let _ = match (state, self.policy) {
                (Some(state), Some(policy)) => {
                    let word = if state.enabled.value { "open" } else { "closed" };
                    write!(text, "\n- `{name}` {word} by `{}`", policy.rule_name(state.enabled.rule))
                }
                _ => write!(text, "\n- `{name}`"),
            };
        }
        if endpoints.len() > SHOWN {
            let _ = write!(text, "\n- … {} more", endpoints.len() - SHOWN);
        }
    }

    /// A key of a rule: what it means, and what holds for the endpoints of the rule.
    fn key(&self, written: &str, key: &[&str], span: Span) -> Option<Hover> {
        let key = match key {
            [name] => KEYS.iter().find(|decl| decl.name == *name)?.key,
            [section, name] => words::section_key(section, name)?,
            _ => return None,
        };
        let decl = KEYS.get(key.index())?;
        let kind = rules::kind(decl.kind);
        let mut text = format!("**`{}`**: {}\n\nTakes {}. {}", decl.name, decl.summary, kind.takes, kind.doc);
        let endpoints = selector::of(written, self.catalogue)?.governs(self.catalogue);
        let takers: Vec<EndpointIx> = endpoints
            .into_iter()
            .filter(|endpoint| self.catalogue.accepts(*endpoint).contains(key))
            .collect();
        self.holds(key, &takers, &mut text);
        let rule = takers.first().and_then(|endpoint| self.place(*endpoint, key));
        Some(Hover { span, text, rule, preset: None })
    }

    fn holds(&self, key: Key, takers: &[EndpointIx], text: &mut String) {
        let Some(policy) = self.policy else { return };
        for endpoint in takers.iter().take(SHOWN) {
            let reports = explain::keys(policy, self.catalogue, *endpoint);
            let Some(report) = reports.iter().find(|report| report.key == key) else { continue };
            let name = self.catalogue.name(*endpoint);
            match &report.holds {
                Holds::One { winner, beaten } => {
                    let at =
                        winner.at.map_or_else(String::new, |at| format!(" ({})", policy.print_place(at)));
                    let value = show_value(key, &winner.value);
                    let _ = write!(text, "\n\n`{name}`: **{value}** by `{}`{at}", winner.rule);
                    for lost in beaten {
                        let value = show_value(key, &lost.said.value);
                        let _ = write!(
                            text,
                            "\n- beats {value} of `{}`: {}",
                            lost.said.rule,
                            lost.reason.as_str()
                        );
                    }
                }
                Holds::Union(elements) => {
                    let _ = write!(text, "\n\n`{name}`:");
                    for one in elements.iter().take(SHOWN) {
                        let _ = write!(text, "\n- `{}` by `{}`", one.value, one.rule);
                    }
                }
            }
        }
        if takers.len() > SHOWN {
            let _ = write!(text, "\n\n… and {} more endpoints", takers.len() - SHOWN);
        }
    }

    /// Where a key is said elsewhere: by the preset, which no editor has open, or else by the rule that wins.
    fn place(&self, endpoint: EndpointIx, key: Key) -> Option<FilePlace> {
        let resolved = self.policy?.resolved();
        let said = || resolved.candidates(endpoint, key).iter().filter_map(|at| resolved.statement(*at));
        let of_preset = |rule| resolved.rule(rule).is_some_and(|rule| rule.layer == LayerKind::Preset);
        let preset = said().filter(|said| of_preset(said.rule)).find_map(|said| said.at);
        preset.or_else(|| said().find_map(|said| said.at))
    }
}

fn scope(node: &Node<'_>) -> Option<Hover> {
    let NodeKind::Text { text, .. } = &node.kind else { return None };
    let bundle = crate::endpoint::BUNDLES.iter().find(|bundle| bundle.name == *text);
    let text = match (SCOPES.iter().find(|scope| scope.name == *text), bundle) {
        (Some(scope), _) => format!("**scope `{}`**: {}", scope.name, scope.summary),
        (None, Some(bundle)) => {
            let names: Vec<&str> = bundle.scopes.iter().map(|scope| scope.as_str()).collect();
            format!("**bundle `{}`**: {}\n\nStands for {}", bundle.name, bundle.summary, names.join(", "))
        }
        (None, None) => return None,
    };
    Some(Hover { span: node.span, text, rule: None, preset: None })
}
