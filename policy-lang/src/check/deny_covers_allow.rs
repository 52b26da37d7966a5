//! `deny-covers-allow`: an allowed path that a deny takes away again as a whole.
//!
//! Judged on text, near linear in the number of patterns: the fixed beginning of each allowed entry is looked up, part
//! by part, in sets made of the denies. A glob that covers another in a way that this does not see is not reported.

use super::Context;
use super::context::beside;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::resolved::{EndpointIx, StatementIx};
use crate::source::Spanned;
use std::collections::{BTreeMap, HashMap};

/// An allow-list and every deny-list that meets it.
type Meeting = (StatementIx, Vec<StatementIx>);

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut meetings: BTreeMap<Meeting, Vec<EndpointIx>> = BTreeMap::new();
    for authored in context.authored_key(Key::PathsAllow) {
        for endpoint in context.takers(&authored.block.selector, Key::PathsAllow) {
            let denies = context.candidates(endpoint, Key::PathsDeny);
            if context.wins(authored.at, endpoint, Key::PathsAllow) && !denies.is_empty() {
                meetings.entry((authored.at, denies.to_vec())).or_default().push(endpoint);
            }
        }
    }
    let mut found: BTreeMap<(u32, u32), Diagnostic> = BTreeMap::new();
    for ((allow, denies), endpoints) in &meetings {
        let covers = Denies::of(context, denies);
        for (entry, deny) in
            elements(context, *allow).iter().filter_map(|entry| Some((entry, covers.covering(&entry.value)?)))
        {
            let finding = found
                .entry((entry.span.source.0, entry.span.start))
                .or_insert_with(|| finding(context, entry, deny));
            finding.affects.extend(context.ids(endpoints));
        }
    }
    found
        .into_values()
        .map(|mut finding| {
            finding.affects.sort_unstable();
            finding.affects.dedup();
            finding
        })
        .collect()
}

fn elements<'a>(context: &Context<'a>, at: StatementIx) -> &'a [Spanned<String>] {
    match context.merged.written(at).map(|written| &written.value) {
        Some(Value::List(elements)) => elements,
        _ => &[],
    }
}

/// A deny element and the statement that holds it.
type Deny<'a> = (&'a Spanned<String>, StatementIx);

fn finding(context: &Context<'_>, entry: &Spanned<String>, (deny, at): Deny<'_>) -> Diagnostic {
    let rule = context.rule_name(at);
    let message = format!(
        "`{}` is allowed in vain: the deny `{}` covers it, and deny beats allow",
        entry.value, deny.value
    );
    let finding = Diagnostic::new(Code::DenyCoversAllow, message)
        .help("remove the entry, or narrow the deny; no rule can take a deny back")
        .at_saying(entry.span, "never matches");
    beside(finding, Some(deny.span), format!("denied here by `{rule}`"))
}

/// Deny-lists, by the ways in which an entry covers whole trees.
#[derive(Default)]
struct Denies<'a> {
    /// `/x` and `/x/**`: that path and all below it.
    trees: HashMap<String, Deny<'a>>,
    /// `.git`, `**/.git`, `**/.git/**`: that component anywhere.
    names: HashMap<&'a str, Deny<'a>>,
    /// As written.
    texts: HashMap<String, Deny<'a>>,
    base_dir: &'a str,
}

impl<'a> Denies<'a> {
    fn of(context: &Context<'a>, statements: &[StatementIx]) -> Self {
        let mut denies = Self { base_dir: context.base_dir, ..Self::default() };
        for at in statements {
            for element in elements(context, *at) {
                denies.add(&element.value, (element, *at));
            }
        }
        denies
    }

    fn add(&mut self, text: &'a str, deny: Deny<'a>) {
        let whole = text.strip_suffix("/**").unwrap_or(text);
        let name = whole.strip_prefix("**/").unwrap_or(whole);
        if is_glob(name) {
            self.texts.entry(absolute(self.base_dir, text)).or_insert(deny);
        } else if !name.contains('/') && (name.len() < whole.len() || !text.contains('/')) {
            self.names.entry(name).or_insert(deny);
        } else {
            self.trees.entry(absolute(self.base_dir, whole)).or_insert(deny);
        }
    }

    /// The deny that covers everything an allowed entry matches.
    fn covering(&self, entry: &str) -> Option<Deny<'a>> {
        let entry = absolute(self.base_dir, entry);
        if let Some(deny) = self.texts.get(&entry) {
            return Some(*deny);
        }
        let mut path = String::new();
        // The fixed beginning: every part before the first with a glob character.
        for part in entry.split('/').skip(1).take_while(|part| !is_glob(part)) {
            path.push('/');
            path.push_str(part);
            let deny = self.trees.get(&path).or_else(|| self.names.get(part));
            if deny.is_some() {
                return deny.copied();
            }
        }
        None
    }
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

fn absolute(base_dir: &str, entry: &str) -> String {
    let entry = entry.trim_end_matches('/');
    if entry.starts_with('/') || entry.starts_with("**/") {
        entry.to_owned()
    } else {
        format!("{}/{entry}", base_dir.trim_end_matches('/'))
    }
}
