//! Applies what may be applied, step by step, each on a copy that is compiled and judged before it is kept.
//!
//! Two kinds of step. Where the document is refused, a mistake with one way out is mended if the policy that comes out is
//! no wider than the one in which the mistaken entries are left out: what an author misspelt, or wrote so that it cannot be
//! read, was not in force, so a restriction may come back and an opening may not. Restrictions come first: whatever else is
//! mended is compared with them in force. Where the document is accepted, every safe suggestion is made if the policy is no
//! wider than before.

use super::offer::{Offer, apart, only, safe};
use super::{apply, delete};
use crate::diag::{Code, Diagnostic, Edit, Severity};
use crate::parse::{self, Format};
use crate::policy::CompiledPolicy;
use crate::source::{SourceMap, Span};
use crate::stages::{Document, Inputs, Outcome, compile_document};
use crate::variant::Effect;

/// Says what the second policy allows that the first refuses, or none.
pub type Judge<'a> = &'a dyn Fn(&CompiledPolicy, &CompiledPolicy) -> Option<String>;

/// The most rounds: a fix may lay bare the next, and a bound is cheaper than a proof.
const ROUNDS: usize = 256;

/// The most offers of one round that are compiled and judged.
const TRIED: usize = 64;

/// Codes whose fixes change no value, or they are not made.
const IDLE: &[Code] = &[
    Code::DeadRule,
    Code::RuleNeverWins,
    Code::RuleHasNoEffect,
    Code::KeyHasNoEffect,
    Code::UnusedLintLevel,
];

/// A document after its fixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// What was done, in order: the code of the finding and the sentence of the suggestion.
    pub applied: Vec<(Code, String)>,
    /// What was left alone because it would widen access.
    pub kept: Vec<Kept>,
}

/// A fix that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The code of its finding.
    pub code: Code,
    /// What it would have done.
    pub message: String,
    /// What it would open.
    pub widens: String,
}

/// Fixes a document. The text comes back unchanged where nothing may be done.
#[must_use]
pub fn mend(document: Document<'_>, inputs: &Inputs<'_>, judge: Judge<'_>) -> Fixed {
    let text = String::from_utf8_lossy(document.bytes).into_owned();
    let fixed = Fixed { text, applied: Vec::new(), kept: Vec::new() };
    let mut run = Run { document, inputs, judge, fixed, refused: Vec::new() };
    if std::str::from_utf8(document.bytes).is_err() {
        return run.fixed;
    }
    for _ in 0..ROUNDS {
        let outcome = run.compile(&run.fixed.text);
        let progress = match &outcome.policy {
            Some(before) => run.tidy(&outcome, before),
            None => run.repair(&outcome),
        };
        if !progress {
            break;
        }
    }
    run.fixed
}

struct Run<'a> {
    document: Document<'a>,
    inputs: &'a Inputs<'a>,
    judge: Judge<'a>,
    fixed: Fixed,
    /// Where fixes that would widen access begin; they are not tried again.
    refused: Vec<(Code, u32)>,
}

impl Run<'_> {
    fn compile(&self, text: &str) -> Outcome {
        compile_document(Some(Document { bytes: text.as_bytes(), ..self.document }), self.inputs)
    }

    /// Makes the safe suggestions of an accepted document: those that change no value together, the others one by one.
    fn tidy(&mut self, outcome: &Outcome, before: &CompiledPolicy) -> bool {
        let offers: Vec<Offer> =
            self.offers(outcome, |finding| safe(finding).or_else(|| self.idle(outcome, finding)));
        let quiet: Vec<Offer> = offers.iter().filter(|offer| IDLE.contains(&offer.code)).cloned().collect();
        let together = apart(&quiet);
        if together.len() > 1 && self.try_all(&together, before) {
            return true;
        }
        offers.iter().any(|offer| self.try_all(std::slice::from_ref(offer), before))
    }

    /// Takes out what says nothing or is taken by nobody.
    fn idle(&self, outcome: &Outcome, finding: &Diagnostic) -> Option<Offer> {
        if !matches!(finding.code, Code::RuleHasNoEffect | Code::KeyHasNoEffect)
            || !finding.suggestions.is_empty()
        {
            return None;
        }
        let span = finding.primary.as_ref().map(|label| label.span)?;
        let (root, _) = parse::policy(&outcome.sources, outcome.document?, self.document.format);
        let start = delete::innermost(root.as_ref()?, span.start)?;
        let deletion = delete::at(outcome.sources.text(span.source), root.as_ref()?, start)?;
        let edits = vec![Edit { span: deletion.span, replacement: deletion.replacement }];
        let message = "remove it".to_owned();
        (!deletion.commented).then_some(Offer { code: finding.code, message, edits })
    }

    fn try_all(&mut self, offers: &[Offer], before: &CompiledPolicy) -> bool {
        let edits: Vec<Edit> = offers.iter().flat_map(|offer| offer.edits.clone()).collect();
        let Some(text) = apply(&self.fixed.text, &edits).filter(|text| *text != self.fixed.text) else {
            return false;
        };
        let Some(after) = self.compile(&text).policy else { return false };
        if let Some(widens) = (self.judge)(before, &after) {
            if let [offer] = offers {
                self.keep(offer, widens);
            }
            return false;
        }
        // Of two rules that say the same either may go, and not both.
        let idle = offers.iter().all(|offer| IDLE.contains(&offer.code));
        let effect = |policy: &CompiledPolicy| Effect::of(policy, self.inputs.catalogue);
        if idle && effect(before) != effect(&after) {
            return false;
        }
        self.take(offers, text);
        true
    }

    /// Mends a mistake with one way out that opens nothing, one that gives back a restriction before any other.
    fn repair(&mut self, outcome: &Outcome) -> bool {
        let Some(before) = self.bare(&self.fixed.text, outcome) else { return self.unreadable(outcome) };
        let mut harmless = None;
        for offer in self.offers(outcome, only).into_iter().take(TRIED) {
            let Some(text) = apply(&self.fixed.text, &offer.edits) else { continue };
            let next = self.compile(&text);
            // One mistake less, and no new one.
            if errors(&next).len() >= errors(outcome).len() {
                continue;
            }
            let Some(after) = self.bare(&text, &next) else { continue };
            if let Some(widens) = (self.judge)(&before, &after) {
                self.keep(&offer, widens);
            } else if (self.judge)(&after, &before).is_some() {
                self.take(&[offer], text);
                return true;
            } else if harmless.is_none() {
                harmless = Some((offer, text));
            }
        }
        let Some((offer, text)) = harmless else { return false };
        self.take(&[offer], text);
        true
    }

    /// Mends a text of which nothing can be read. There is no policy to compare with then but its bare preset.
    fn unreadable(&mut self, outcome: &Outcome) -> bool {
        let Some(source) = outcome.document else { return false };
        if parse::policy(&outcome.sources, source, self.document.format).0.is_some() {
            return false;
        }
        let mut text = self.fixed.text.clone();
        let mut taken: Vec<Offer> = Vec::new();
        for _ in 0..ROUNDS {
            let next = self.compile(&text);
            if let Some(after) = &next.policy {
                let Some(before) = self.preset_of(&next) else { return false };
                match ((self.judge)(&before, after), taken.first()) {
                    (Some(widens), Some(first)) => self.keep(first, widens),
                    (None, Some(_)) => {
                        self.take(&taken, text);
                        return true;
                    }
                    _ => {}
                }
                return false;
            }
            let syntax = |finding: &Diagnostic| only(finding).filter(|offer| offer.code == Code::Syntax);
            let offers = apart(&self.offers(&next, syntax));
            let edits: Vec<Edit> = offers.iter().flat_map(|offer| offer.edits.clone()).collect();
            let Some(mended) = apply(&text, &edits).filter(|mended| *mended != text) else { return false };
            text = mended;
            taken.extend(offers);
        }
        false
    }

    /// What holds with the preset of a document and nothing else of it.
    fn preset_of(&self, outcome: &Outcome) -> Option<CompiledPolicy> {
        let bytes = match &outcome.layer.preset {
            Some(preset) => serde_json::json!({ "preset": preset.value }).to_string(),
            None => "{}".to_owned(),
        };
        let document = Document { bytes: bytes.as_bytes(), format: Format::Json, ..self.document };
        compile_document(Some(document), self.inputs).policy
    }

    /// The policy of a text without the entries in which its mistakes stand; none where they cannot be taken out.
    fn bare(&self, text: &str, outcome: &Outcome) -> Option<CompiledPolicy> {
        let bare = self.without(text, &errors(outcome), outcome)?;
        self.compile(&bare).policy
    }

    /// A text without the entries in which its mistakes stand; none where one of them cannot be taken out.
    fn without(&self, text: &str, errors: &[&Diagnostic], outcome: &Outcome) -> Option<String> {
        let mut text = text.to_owned();
        let mut places: Vec<u32> = errors
            .iter()
            .map(|finding| {
                let span = finding.primary.as_ref()?.span;
                (Some(span.source) == outcome.document).then_some(span.start)
            })
            .collect::<Option<_>>()?;
        places.sort_unstable();
        places.dedup();
        // From the end, so that the places before stay good.
        for place in places.into_iter().rev() {
            let mut sources = SourceMap::new();
            let source = sources.add(self.document.name, text.as_str());
            let (root, _) = parse::policy(&sources, source, self.document.format);
            // What was taken out with a later mistake is gone already.
            let Some(start) = delete::innermost(root.as_ref()?, place) else { continue };
            let deletion = delete::at(&text, root.as_ref()?, start)?;
            text.replace_range(deletion.span.range(), &deletion.replacement);
        }
        Some(text)
    }

    fn offers(&self, outcome: &Outcome, pick: impl Fn(&Diagnostic) -> Option<Offer>) -> Vec<Offer> {
        let known = |offer: &Offer| self.refused.contains(&(offer.code, offer.start()));
        let ours = |span: Span| Some(span.source) == outcome.document;
        let offers = outcome.diagnostics.iter().filter_map(pick);
        offers.filter(|offer| !known(offer) && offer.edits.iter().all(|edit| ours(edit.span))).collect()
    }

    fn keep(&mut self, offer: &Offer, widens: String) {
        self.refused.push((offer.code, offer.start()));
        let kept = Kept { code: offer.code, message: offer.message.clone(), widens };
        if !self.fixed.kept.contains(&kept) {
            self.fixed.kept.push(kept);
        }
    }

    fn take(&mut self, offers: &[Offer], text: String) {
        self.fixed.text = text;
        for (_, at) in &mut self.refused {
            *at = offers.iter().fold(*at, |moved, offer| offer.moves(*at, moved));
        }
        self.fixed.applied.extend(offers.iter().map(|offer| (offer.code, offer.message.clone())));
    }
}

fn errors(outcome: &Outcome) -> Vec<&Diagnostic> {
    outcome.diagnostics.iter().filter(|finding| finding.severity == Severity::Error).collect()
}
