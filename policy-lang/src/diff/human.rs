//! A comparison for people: each change with its lines on both sides and the call that shows it, then one sentence.

use super::change::{Aspect, Cause, Diff, Evidence, Said, Subject, Verdict};
use super::group::{Group, groups};
use crate::diag::{Label, Severity};
use crate::layer::LayerKind;
use crate::policy::CompiledPolicy;
use crate::render::{Remark, RenderOptions, remark};
use crate::resolved::FileInfo;
use crate::source::{SourceId, SourceMap, Span};

/// Endpoints that are named; more are counted.
const NAMED: usize = 6;

/// One side as it is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// How its document is called.
    pub name: &'a str,
    /// The policy.
    pub policy: &'a CompiledPolicy,
    /// The texts that it was made from, as far as they are at hand.
    pub sources: &'a SourceMap,
}

/// Draws the changes, a blank line between them, those that were let through last. `view` says how much a change weighs,
/// and who let it through.
#[must_use]
pub fn human(
    diff: &Diff,
    sides: [Shown<'_>; 2],
    options: RenderOptions,
    view: &dyn Fn(&super::Change) -> (Severity, Option<String>),
) -> String {
    let mut texts = SourceMap::new();
    let known = sides.map(|side| side.add(&mut texts));
    let [old_files, new_files] = &known;
    let mut page = String::new();
    let (let_through, others): (Vec<_>, Vec<_>) =
        diff.changes.iter().partition(|change| view(change).1.is_some());
    for group in groups(others).into_iter().chain(groups(let_through)) {
        let (severity, accepted) = view(group.change);
        let change = group.change;
        let mut notes = Vec::new();
        let mut label = |said: &Said, files: &[Option<SourceId>], policy: &CompiledPolicy, word: &str| {
            let rule = said.rule.as_deref().map_or(String::new(), |rule| format!(" by `{rule}`"));
            let Some(at) = said.at else {
                if !rule.is_empty() {
                    notes.push(format!("{word}{rule}"));
                }
                return None;
            };
            let Some(source) = files.get(at.file as usize).copied().flatten() else {
                notes.push(format!("{word}{rule} at {}", policy.print_place(at)));
                return None;
            };
            let span = Span { source, start: at.byte_start, end: at.byte_end };
            Some(Label { span, message: format!("{word}{rule}") })
        };
        let [old, new] = sides;
        let related = label(&change.old, old_files, old.policy, "before");
        let primary = label(&change.new, new_files, new.policy, "now");
        notes.extend(below(&group, sides));
        notes.extend(accepted);
        let drawn = Remark {
            severity,
            code: change.verdict.as_str(),
            message: &headline(&group),
            primary,
            related: related.into_iter().collect(),
            notes,
        };
        if !page.is_empty() {
            page.push('\n');
        }
        page.push_str(&remark(&texts, &drawn, options));
    }
    page
}

impl Shown<'_> {
    /// Takes the texts in, by number of the policy's files.
    fn add(&self, texts: &mut SourceMap) -> Vec<Option<SourceId>> {
        let own = |file: &FileInfo| {
            self.sources.ids().find(|id| FileInfo::digest(self.sources.text(*id)) == file.sha256)
        };
        let files = &self.policy.resolved().files;
        files
            .iter()
            .map(|file| {
                let text = self.sources.text(own(file)?).to_owned();
                let name = if file.layer == LayerKind::Policy { self.name } else { &file.name };
                Some(texts.add(name, text))
            })
            .collect()
    }
}

/// One line: `limits.max_bytes` of `upload`: 5 MB → 50 MB
#[must_use]
pub fn headline(group: &Group<'_>) -> String {
    let change = group.change;
    let what = match (&change.subject, &group.endpoints[..]) {
        (Subject::Identity(id), _) => match change.aspect {
            Aspect::Present => format!("the identity `{id}`"),
            aspect => format!("`{}` of the identity `{id}`", aspect.as_str()),
        },
        (Subject::Tokens, _) => "`auth.tokens`".to_owned(),
        (Subject::Table, _) => "the endpoint table".to_owned(),
        (Subject::Endpoint(id), [_] | []) => format!("`{}` of `{id}`", change.aspect.as_str()),
        (Subject::Endpoint(_), all) => format!("`{}` of {} endpoints", change.aspect.as_str(), all.len()),
    };
    let value = |said: &Said| said.value.clone().unwrap_or_else(|| "nothing".to_owned());
    let (old, new) = (value(&change.old), value(&change.new));
    if old == new { what } else { format!("{what}: {old} → {new}") }
}

/// What the call met on the side that does not let it be as the other does.
fn met(code: &str, when: &str) -> String {
    match code {
        "recorded" => format!("recorded {when}"),
        "not_inherited" => format!("not inherited {when}"),
        "truncated" => format!("cut off {when} with `truncated`"),
        code => format!("refused {when} with `{code}`"),
    }
}

/// The call, who changed it and whom it concerns.
fn below(group: &Group<'_>, [old, new]: [Shown<'_>; 2]) -> Vec<String> {
    let change = group.change;
    let mut notes = Vec::new();
    let mut evidence = |evidence: &Evidence, refusing: &CompiledPolicy, words: [&str; 2]| {
        notes.push(match evidence {
            Evidence::Witness(witness) => match witness.ask(refusing).code {
                Some(code) => format!("{}: {witness}\n{}", words[0], met(code, words[1])),
                None => format!("{}: {witness}\nno endpoint {}", words[0], words[1]),
            },
            Evidence::Unproven(why) => format!("not proven the same: {why}"),
        });
    };
    if let Some(opening) = &change.opening {
        evidence(opening, old.policy, ["permitted now", "before"]);
    }
    if let Some(closing) = change.closing.as_ref().filter(|closing| change.opening.as_ref() != Some(closing))
    {
        evidence(closing, new.policy, ["permitted before", "now"]);
    }
    notes.extend(by_nobody(&change.cause, &group.endpoints, change.verdict));
    if group.endpoints.len() > 1 {
        let named: Vec<&str> = group.endpoints.iter().take(NAMED).copied().collect();
        let more = group.endpoints.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("affects {} endpoints: {}{more}", group.endpoints.len(), named.join(", ")));
    }
    notes
}

/// What changed without an edit of the author.
fn by_nobody(cause: &Cause, endpoints: &[&str], verdict: Verdict) -> Option<String> {
    let count = endpoints.len().max(1);
    let plural = if count == 1 { "" } else { "s" };
    match cause {
        Cause::Author => None,
        Cause::Preset(name) => {
            Some(format!("no edit of the author: the preset `{name}` says something else"))
        }
        Cause::Table(rule) if verdict.opens() => {
            Some(format!("no edit of the author: `{rule}` now also captures {count} endpoint{plural}"))
        }
        Cause::Table(rule) => {
            Some(format!("no edit of the author: `{rule}` no longer captures {count} endpoint{plural}"))
        }
        Cause::Base => Some("no edit of the author: the catalogue itself says something else".to_owned()),
    }
}

/// `2 widened, 1 narrowed, 310 same`, and what has no effect.
#[must_use]
pub fn summary(diff: &Diff) -> String {
    let count = |verdict| diff.changes.iter().filter(|change| change.verdict == verdict).count();
    let changed = diff.changes.iter().filter(|change| matches!(change.subject, Subject::Endpoint(_))).count();
    let mut parts: Vec<String> = [Verdict::Widened, Verdict::Reshaped, Verdict::Narrowed]
        .into_iter()
        .map(|verdict| (count(verdict), verdict))
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("{count} {}", verdict.as_str()))
        .collect();
    parts.push(format!("{} same", diff.compared.saturating_sub(changed)));
    let mut text = parts.join(", ");
    if diff.latent > 0 {
        let verb = if diff.latent == 1 { "differs" } else { "differ" };
        text.push_str(&format!(" ({} of them {verb} behind closed endpoints)", diff.latent));
    }
    text
}
