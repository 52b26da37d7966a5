//! Gathers what is wrong with a declaration, and shows it with file, line, column and the text that it is about.

use codespan_reporting::diagnostic::{Diagnostic, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term;
use std::ops::Range;

/// Byte offsets into the text of the declaration.
pub(crate) type Span = Range<usize>;

/// One thing that is wrong.
#[derive(Debug)]
pub(crate) struct Fault {
    span: Span,
    message: String,
    label: String,
    related: Vec<(Span, String)>,
    help: Option<String>,
}

impl Fault {
    /// Says at the underlined text what is expected of it.
    pub(crate) fn label(&mut self, text: impl Into<String>) -> &mut Self {
        self.label = text.into();
        self
    }

    /// Points at a second place.
    pub(crate) fn related(&mut self, span: &Span, text: impl Into<String>) -> &mut Self {
        self.related.push((span.clone(), text.into()));
        self
    }

    /// Says how to mend it.
    pub(crate) fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.help = Some(text.into());
        self
    }

    /// Offers the candidate that is nearest to `word`, if one is near.
    pub(crate) fn suggest<'a>(&mut self, word: &str, among: impl IntoIterator<Item = &'a str>) -> &mut Self {
        if let Some(found) = closest(word, among) {
            self.help = Some(format!("did you mean `{found}`?"));
        }
        self
    }
}

/// Every fault of one declaration.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    list: Vec<Fault>,
    /// How many of the list are shown, where it was closed.
    shown: Option<usize>,
}

impl Faults {
    /// Adds a fault about the text at `span`.
    pub(crate) fn at(&mut self, span: &Span, message: impl Into<String>) -> &mut Fault {
        self.list.push(Fault {
            span: span.clone(),
            message: message.into(),
            label: String::new(),
            related: Vec::new(),
            help: None,
        });
        let last = self.list.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the element was pushed above")]
        &mut self.list[last]
    }

    /// Shows nothing of what follows: it would follow from what was said.
    pub(crate) fn close(&mut self) {
        self.shown.get_or_insert(self.list.len());
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All faults in the order of their places, as text without colour.
    pub(crate) fn render(&self, name: &str, text: &str) -> String {
        let file = SimpleFile::new(name, text);
        let config = term::Config { chars: term::Chars::ascii(), ..term::Config::default() };
        let mut sorted: Vec<&Fault> = self.list.iter().take(self.shown.unwrap_or(usize::MAX)).collect();
        sorted.sort_by_key(|fault| (fault.span.start, fault.span.end));
        let mut shown = String::new();
        for fault in sorted {
            let labels = std::iter::once(Label::primary((), fault.span.clone()).with_message(&fault.label))
                .chain(
                    fault
                        .related
                        .iter()
                        .map(|(span, text)| Label::secondary((), span.clone()).with_message(text)),
                );
            let diagnostic = Diagnostic::error()
                .with_message(&fault.message)
                .with_labels(labels.collect())
                .with_notes(fault.help.iter().map(|help| format!("help: {help}")).collect());
            let rendered = term::emit_into_string(&config, &file, &diagnostic);
            shown.push_str(&rendered.unwrap_or_else(|_| format!("error: {}\n", fault.message)));
        }
        shown
    }
}

/// The candidate nearest to `word` but for case: at most one edit for every three characters, the earliest where several
/// are as near.
fn closest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().div_ceil(3);
    let word = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
    let distances = among.into_iter().map(|candidate| (distance(candidate), candidate));
    distances
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, found)| found)
}
