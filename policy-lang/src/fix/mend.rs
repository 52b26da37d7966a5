//! Applies what may be applied, step by step, each on a copy that is compiled and judged before it is kept.
//!
//! Two kinds of step. Where the document is refused, a mistake with one way out is mended if the policy that comes out is
//! no wider than the one in which the mistaken entries are left out: what an author misspelt was not in force, so a
//! restriction may come back and an opening may not. Where the document is accepted, every safe suggestion is made if the
//! policy is no wider than before. A mistake of the syntax has no policy to compare with; what its safe suggestions write
//! is what the reader has already read.

use super::{apply, delete};
use crate::diag::{Applicability, Code, Diagnostic, Edit, Severity};
use crate::parse;
use crate::policy::CompiledPolicy;
use crate::source::{SourceMap, Span};
use crate::stages::{Document, Inputs, Outcome, compile_document};
use crate::variant::Effect;

/// Says what the second policy allows that the first refuses, or none.
pub type Judge<'a> = &'a dyn Fn(&CompiledPolicy, &CompiledPolicy) -> Option<String>;

/// The most rounds: a fix may lay bare the next, and a bound is cheaper than a proof.
const ROUNDS: usize = 64;

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
    let mut run =
        Run { document, inputs, judge, fixed: Fixed { text, applied: Vec::new(), kept: Vec::new() } };
    if std::str::from_utf8(document.bytes).is_err() {
        return run.fixed;
    }
    for _ in 0..ROUNDS {
        let outcome = run.compile(&run.fixed.text);
        let progress = match &outcome.policy {
            Some(before) => run.tidy(&outcome, before),
            None => run.syntax(&outcome) || run.repair(&outcome),
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
}

/// A fix with the finding that offers it.
#[derive(Debug, Clone)]
struct Offer {
    code: Code,
    message: String,
    edits: Vec<Edit>,
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
        let (root, _) = parse::parse(&outcome.sources, outcome.document?, self.document.format);
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

    /// Mends mistakes of the syntax whose meaning is plain.
    fn syntax(&mut self, outcome: &Outcome) -> bool {
        let offers =
            self.offers(outcome, |finding| if finding.code == Code::Syntax { safe(finding) } else { None });
        let offers = apart(&offers);
        let edits: Vec<Edit> = offers.iter().flat_map(|offer| offer.edits.clone()).collect();
        match apply(&self.fixed.text, &edits).filter(|text| *text != self.fixed.text) {
            Some(text) => {
                self.take(&offers, text);
                true
            }
            None => false,
        }
    }

    /// Mends the first mistake with one way out that gives back a restriction and opens nothing.
    fn repair(&mut self, outcome: &Outcome) -> bool {
        let errors: Vec<&Diagnostic> =
            outcome.diagnostics.iter().filter(|finding| finding.severity == Severity::Error).collect();
        let Some(bare) = self.without(&self.fixed.text, &errors, outcome) else { return false };
        let Some(before) = self.compile(&bare).policy else { return false };
        let offers = self.offers(outcome, only);
        for offer in offers {
            let Some(text) = apply(&self.fixed.text, &offer.edits) else { continue };
            let next = self.compile(&text);
            // One mistake less, and no new one.
            let count = |outcome: &Outcome| {
                outcome.diagnostics.iter().filter(|finding| finding.severity == Severity::Error).count()
            };
            if count(&next) >= errors.len() {
                continue;
            }
            let left: Vec<&Diagnostic> =
                next.diagnostics.iter().filter(|finding| finding.severity == Severity::Error).collect();
            let Some(rest) = self.without(&text, &left, &next) else { continue };
            let Some(after) = self.compile(&rest).policy else { continue };
            match (self.judge)(&before, &after) {
                Some(widens) => self.keep(&offer, widens),
                None => {
                    self.take(&[offer], text);
                    return true;
                }
            }
        }
        false
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
            let (root, _) = parse::parse(&sources, source, self.document.format);
            // What was taken out with a later mistake is gone already.
            let Some(start) = delete::innermost(root.as_ref()?, place) else { continue };
            let deletion = delete::at(&text, root.as_ref()?, start)?;
            text.replace_range(deletion.span.range(), &deletion.replacement);
        }
        Some(text)
    }

    fn offers(&self, outcome: &Outcome, pick: impl Fn(&Diagnostic) -> Option<Offer>) -> Vec<Offer> {
        let known = |offer: &Offer| {
            self.fixed.kept.iter().any(|kept| kept.code == offer.code && kept.message == offer.message)
        };
        let ours = |span: Span| Some(span.source) == outcome.document;
        let offers = outcome.diagnostics.iter().filter_map(pick);
        offers.filter(|offer| !known(offer) && offer.edits.iter().all(|edit| ours(edit.span))).collect()
    }

    fn keep(&mut self, offer: &Offer, widens: String) {
        let kept = Kept { code: offer.code, message: offer.message.clone(), widens };
        if !self.fixed.kept.contains(&kept) {
            self.fixed.kept.push(kept);
        }
    }

    fn take(&mut self, offers: &[Offer], text: String) {
        self.fixed.text = text;
        self.fixed.applied.extend(offers.iter().map(|offer| (offer.code, offer.message.clone())));
    }
}

/// The first suggestion of a finding, if it is safe.
fn safe(finding: &Diagnostic) -> Option<Offer> {
    let first = finding.suggestions.first().filter(|first| first.applicability == Applicability::Safe)?;
    Some(Offer { code: finding.code, message: first.message.clone(), edits: first.edits.clone() })
}

/// The suggestion of an error that has only one.
fn only(finding: &Diagnostic) -> Option<Offer> {
    let [only] = finding.suggestions.as_slice() else { return None };
    let error = finding.severity == Severity::Error;
    error.then(|| Offer { code: finding.code, message: only.message.clone(), edits: only.edits.clone() })
}

/// The offers that touch none of those before them.
fn apart(offers: &[Offer]) -> Vec<Offer> {
    let mut taken: Vec<Span> = Vec::new();
    let mut apart = Vec::new();
    for offer in offers {
        let touches =
            |edit: &Edit| taken.iter().any(|span| edit.span.start <= span.end && span.start <= edit.span.end);
        if !offer.edits.iter().any(touches) {
            taken.extend(offer.edits.iter().map(|edit| edit.span));
            apart.push(offer.clone());
        }
    }
    apart
}
