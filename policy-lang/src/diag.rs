//! What is wrong with a document: a stable code, a severity, a sentence, labelled places, and where it can a fix.
//!
//! Codes live one file each in `diag/codes/`, as rows of one table; did-you-mean beside it.

pub mod codes;
mod level;
pub mod page;
mod quoted;
mod sink;
pub mod suggest;

use crate::endpoint::EndpointId;
use crate::source::Span;

pub use codes::{CODES, Code, page};
pub use level::{Level, Levels};
pub use page::Page;
pub(crate) use quoted::is_harmful;
pub use quoted::{harmless, harmless_line, quoted};
pub use sink::Sink;
pub(crate) use sink::sort;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; never fails a check.
    Info,
    /// Fails a strict check.
    Warning,
    /// The document is refused.
    Error,
}

impl Severity {
    /// As printed: `error`, `warning`, `info`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Whether a machine may apply a suggestion by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applicability {
    /// Cannot widen access and has one meaning.
    Safe,
    /// A person should read it first.
    Review,
}

/// A place with a few words beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What to say beside it; may be empty for the primary label.
    pub message: String,
}

/// A replacement of one span of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty span inserts.
    pub span: Span,
    /// The new text.
    pub replacement: String,
}

/// A way out that can be applied by machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What it does, as an imperative sentence.
    pub message: String,
    /// Whether it may be applied unread.
    pub applicability: Applicability,
    /// The edits, none overlapping.
    pub edits: Vec<Edit>,
}

/// One finding. Messages follow CONTRIBUTING: lower case, no full stop, user input in backticks, the fix in `help`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which code; see `diag/codes.rs`.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The place that is underlined; none for findings about the environment.
    pub primary: Option<Label>,
    /// Further places.
    pub related: Vec<Label>,
    /// Endpoints it concerns, when it stands under a selector.
    pub affects: Vec<EndpointId>,
    /// Fixes, best first.
    pub suggestions: Vec<Suggestion>,
    /// How many findings of its code it says are not shown; 0 for a finding itself.
    pub more: usize,
}

impl Diagnostic {
    /// A finding of the code's usual severity, without a place yet.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            help: None,
            primary: None,
            related: Vec::new(),
            affects: Vec::new(),
            suggestions: Vec::new(),
            more: 0,
        }
    }

    /// What is said of findings of one code that are too many to be shown.
    #[must_use]
    pub(crate) fn and_more(code: Code, severity: Severity, count: usize) -> Self {
        let verb = if count == 1 { "finding of this code is" } else { "findings of this code are" };
        let finding = Self::new(code, format!("{count} more {verb} not shown"));
        Self { severity, more: count, ..finding.help("mend what is shown, and check again") }
    }

    /// How many findings it counts for.
    #[must_use]
    pub fn counts(&self) -> usize {
        self.more.max(1)
    }

    /// Underlines a span.
    #[must_use]
    pub fn at(self, span: Span) -> Self {
        self.at_saying(span, "")
    }

    /// Underlines a span, with a few words beside it.
    #[must_use]
    pub fn at_saying(mut self, span: Span, message: impl Into<String>) -> Self {
        self.primary = Some(Label { span, message: message.into() });
        self
    }

    /// Adds a further place.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label { span, message: message.into() });
        self
    }

    /// Adds the alias or merge key through which the value was reached, if any.
    #[must_use]
    pub fn via(self, use_site: Option<Span>) -> Self {
        match use_site {
            Some(span) => self.related(span, "used here"),
            None => self,
        }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a fix; the first added is the best.
    #[must_use]
    pub fn suggest(mut self, suggestion: Suggestion) -> Self {
        self.suggestions.push(suggestion);
        self
    }

    /// Names the endpoints that it concerns.
    #[must_use]
    pub fn affects(mut self, endpoints: impl IntoIterator<Item = EndpointId>) -> Self {
        self.affects.extend(endpoints);
        self
    }
}

impl Suggestion {
    /// A fix that a person should read before it is applied.
    #[must_use]
    pub fn review(message: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        Self::with(message, Applicability::Review, span, replacement)
    }

    /// A fix that cannot widen access and has one meaning.
    #[must_use]
    pub fn safe(message: impl Into<String>, span: Span, replacement: impl Into<String>) -> Self {
        Self::with(message, Applicability::Safe, span, replacement)
    }

    fn with(
        message: impl Into<String>,
        applicability: Applicability,
        span: Span,
        replacement: impl Into<String>,
    ) -> Self {
        let edits = vec![Edit { span, replacement: replacement.into() }];
        Self { message: message.into(), applicability, edits }
    }
}
