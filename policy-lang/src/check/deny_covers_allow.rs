//! `deny-covers-allow`: an allowed path that a deny takes away again as a whole.
//!
//! Judged on text, near linear in the number of patterns: the fixed beginning of each allowed entry is looked up, part
//! by part, in sets made of the denies. A glob that covers another in a way that this does not see is not reported.

use super::Context;
use super::context::beside;
use crate::diag::{Code, Diagnostic, Label};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::paths::keys::{Keys, NONE, Reach};
use crate::paths::pattern::{is_glob, is_glob_character};
use crate::resolved::{EndpointIx, StatementIx};
use crate::source::Spanned;
use std::borrow::Cow;
use std::collections::BTreeMap;

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
        let via = context.merged.written(*allow).and_then(|written| written.via);
        for (entry, deny) in
            elements(context, *allow).iter().filter_map(|entry| Some((entry, covers.covering(&entry.value)?)))
        {
            let finding = found
                .entry((entry.span.source.0, entry.span.start))
                .or_insert_with(|| finding(context, entry, deny));
            finding.affects.extend(context.ids(endpoints));
            if let Some(via) = via {
                let used = Label { span: via, message: "used here".to_owned() };
                if !finding.related.contains(&used) {
                    finding.related.push(used);
                }
            }
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
    /// Every entry; the sets below hold positions in it.
    all: Vec<Deny<'a>>,
    /// `/x` and `/x/**`: that path and all below it.
    trees: Keys<false>,
    /// `.git`, `**/.git`, `**/.git/**`: that component anywhere.
    names: Keys<false>,
    /// As written.
    texts: Keys<false>,
    base_dir: &'a str,
}

impl<'a> Denies<'a> {
    fn of(context: &Context<'a>, statements: &[StatementIx]) -> Self {
        let mut denies = Self { base_dir: context.base_dir, ..Self::default() };
        for at in statements {
            for element in elements(context, *at) {
                denies.add(&element.value);
                denies.all.push((element, *at));
            }
        }
        [&mut denies.trees, &mut denies.names, &mut denies.texts].into_iter().for_each(Keys::finish);
        denies
    }

    fn add(&mut self, text: &str) {
        let position = u32::try_from(self.all.len()).unwrap_or(NONE);
        let whole = text.strip_suffix("/**").unwrap_or(text);
        let name = whole.strip_prefix("**/").unwrap_or(whole);
        let (set, key) = if is_glob(name) {
            (&mut self.texts, absolute(self.base_dir, text))
        } else if !name.contains('/') && (name.len() < whole.len() || !text.contains('/')) {
            (&mut self.names, name.into())
        } else {
            (&mut self.trees, absolute(self.base_dir, whole))
        };
        set.add(key.as_bytes(), Reach::Both, position);
    }

    /// The deny that covers everything an allowed entry matches.
    fn covering(&self, entry: &str) -> Option<Deny<'a>> {
        let entry = absolute(self.base_dir, entry);
        let fixed = fixed(&entry).as_bytes();
        let start = memchr::memchr(b'/', fixed).map_or(fixed.len(), |slash| slash + 1);
        let parts = fixed.get(start..).unwrap_or_default().split(|byte| *byte == b'/');
        let sets = [self.texts.find(entry.as_bytes()), self.trees.find_path(fixed)].into_iter();
        let position = sets.chain(parts.map(|part| self.names.find(part))).find(|found| *found != NONE)?;
        self.all.get(position as usize).copied()
    }
}

/// The components before the first with a glob character; `**/` at the start counts as none.
fn fixed(entry: &str) -> &str {
    let start = if entry.starts_with("**/") { 3 } else { 0 };
    match entry.bytes().skip(start).position(is_glob_character) {
        None => entry,
        Some(glob) => {
            entry.get(..start + glob).and_then(|head| head.rsplit_once('/')).map_or("", |(dir, _)| dir)
        }
    }
}

fn absolute<'a>(base_dir: &str, entry: &'a str) -> Cow<'a, str> {
    let entry = entry.trim_end_matches('/');
    if entry.starts_with('/') || entry.starts_with("**/") {
        entry.into()
    } else {
        format!("{}/{entry}", base_dir.trim_end_matches('/')).into()
    }
}
