//! The smallest changes of the document that would turn the verdict. Every one of them is made on a copy of the text,
//! compiled and decided again before it is offered; what does not turn the verdict is not shown.

mod patch;
mod propose;
mod shared;

pub(crate) use patch::scalar;
pub use patch::{TextEdit, apply};

use crate::decide::{Decision, Query, decide};
use crate::parse::Format;
use crate::scope::ScopeSet;
use crate::stages::{Document, Inputs, Outcome, compile_document};
use patch::{Editor, Made, difference};
use propose::{Change, proposals};

/// What was asked, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The call.
    pub query: Query<'a>,
    /// The token that the caller holds, by its id in `auth.tokens`: its scopes are those of the query.
    pub identity: Option<&'a str>,
}

/// A change that turns the verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditReport {
    /// What it does, as an imperative sentence.
    pub message: String,
    /// The name of the document; of the file to be written where there is none yet.
    pub file: String,
    /// The edits, none overlapping.
    pub edits: Vec<TextEdit>,
}

/// The name of a document that is yet to be written.
const NEW_FILE: &str = "policy.yaml";

/// A call may be refused by several gates: so many changes are put together at most.
const STEPS: usize = 4;

/// Changes of the document, smallest first, each of which turns the verdict by itself. Without a document each is one to
/// be written.
#[must_use]
pub fn edits(
    document: Option<Document<'_>>,
    inputs: &Inputs<'_>,
    question: &Question<'_>,
) -> Vec<EditReport> {
    let Some(text) = document.map_or(Some(""), |document| std::str::from_utf8(document.bytes).ok()) else {
        return Vec::new();
    };
    let (name, format) =
        document.map_or((NEW_FILE, Format::Yaml), |document| (document.name, document.format));
    let run = Run { name, format, inputs, question };
    let Some(before) = run.state(text) else { return Vec::new() };
    let mut reports: Vec<EditReport> = Vec::new();
    for change in run.proposals(&before) {
        if let Some(report) = run.turn(&before, change)
            && reports.iter().all(|known| known.edits != report.edits)
        {
            reports.push(report);
        }
    }
    reports
}

struct Run<'a> {
    name: &'a str,
    format: Format,
    inputs: &'a Inputs<'a>,
    question: &'a Question<'a>,
}

/// A text and what it compiles to.
struct State {
    text: String,
    outcome: Outcome,
}

impl Run<'_> {
    fn state(&self, text: &str) -> Option<State> {
        let document = Document { name: self.name, bytes: text.as_bytes(), format: self.format };
        let outcome = compile_document((!text.is_empty()).then_some(document), self.inputs);
        outcome.policy.is_some().then(|| State { text: text.to_owned(), outcome })
    }

    /// Changes worth trying from here.
    fn proposals(&self, state: &State) -> Vec<Change> {
        let Some(policy) = &state.outcome.policy else { return Vec::new() };
        let scopes = self.scopes(state);
        let query = Query { scopes: scopes.as_ref().or(self.question.query.scopes), ..self.question.query };
        proposals(policy, self.inputs.catalogue, &query, self.question.identity, &state.outcome.layer)
    }

    /// What the caller holds under that policy: a change may give its token more.
    fn scopes(&self, state: &State) -> Option<ScopeSet> {
        let principals = state.outcome.policy.as_ref()?.principals()?;
        let identity = self.question.identity?;
        principals
            .iter()
            .find(|principal| &*principal.id == identity)
            .map(|principal| principal.scopes.clone())
    }

    fn allows(&self, state: &State) -> Option<bool> {
        let policy = state.outcome.policy.as_ref()?;
        let scopes = self.scopes(state);
        let query = Query { scopes: scopes.as_ref().or(self.question.query.scopes), ..self.question.query };
        Some(matches!(decide(policy, &query), Decision::Allow))
    }

    /// Makes the change, and after it what is still in the way, until the verdict is another.
    fn turn(&self, before: &State, first: Change) -> Option<EditReport> {
        let wanted = !self.allows(before)?;
        let mut made = Made::default();
        let mut messages = Vec::new();
        let mut change = first;
        let mut text = before.text.clone();
        for _ in 0..STEPS {
            let (edit, others) = self.edit(&text, &change)?;
            text = apply(&text, std::slice::from_ref(&edit))?;
            made.add(edit);
            messages.push(change.message + &shared::note(others));
            let state = self.state(&text)?;
            if self.allows(&state)? == wanted {
                let edits = made.finish().unwrap_or_else(|| vec![difference(&before.text, &text)]);
                return Some(EditReport { message: messages.join("; "), file: self.name.to_owned(), edits });
            }
            if !wanted {
                return None;
            }
            change = self.proposals(&state).into_iter().next()?;
        }
        None
    }

    /// The change as an edit of the text, and how many other places share what it changes.
    fn edit(&self, text: &str, change: &Change) -> Option<(TextEdit, usize)> {
        let mut sources = crate::source::SourceMap::default();
        let id = sources.add(self.name, text);
        let editor = Editor::new(&sources, id, self.format);
        let edit = change.edit(&editor)?;
        let others = editor.policy().map_or(0, |policy| shared::others(policy, &edit));
        Some((edit, others))
    }
}
