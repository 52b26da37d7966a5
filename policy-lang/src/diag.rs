//! What is wrong with a document: a stable code, a severity, a sentence, labelled places, and where it can a fix.
//!
//! Codes live one file each in `diag/codes/`, as rows of one table; did-you-mean beside it.

mod level;
mod quoted;
mod sink;
pub mod suggest;

use crate::endpoint::EndpointId;
use crate::source::Span;

pub use level::{Level, Levels};
pub use quoted::quoted;
pub use sink::Sink;

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
        }
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

/// The stable codes, in the order of the reference page: errors first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// `syntax`
    Syntax,
    /// `duplicate-key`
    DuplicateKey,
    /// `unknown-key`
    UnknownKey,
    /// `misplaced-key`
    MisplacedKey,
    /// `unknown-endpoint`
    UnknownEndpoint,
    /// `unknown-group`
    UnknownGroup,
    /// `unknown-preset`
    UnknownPreset,
    /// `unknown-scope`
    UnknownScope,
    /// `unknown-value`
    UnknownValue,
    /// `wrong-type`
    WrongType,
    /// `invalid-size`
    InvalidSize,
    /// `invalid-duration`
    InvalidDuration,
    /// `invalid-glob`
    InvalidGlob,
    /// `invalid-path`
    InvalidPath,
    /// `selector-matches-nothing`
    SelectorMatchesNothing,
    /// `conflicting-globs`
    ConflictingGlobs,
    /// `core-disabled`
    CoreDisabled,
    /// `invalid-token`
    InvalidToken,
    /// `duplicate-token-id`
    DuplicateTokenId,
    /// `document-too-large`
    DocumentTooLarge,
    /// `key-has-no-effect`
    KeyHasNoEffect,
    /// `rule-has-no-effect`
    RuleHasNoEffect,
    /// `configures-closed-endpoint`
    ConfiguresClosedEndpoint,
    /// `rule-never-wins`
    RuleNeverWins,
    /// `scopes-weakened`
    ScopesWeakened,
    /// `deny-covers-allow`
    DenyCoversAllow,
    /// `allow-outside-base-dir`
    AllowOutsideBaseDir,
    /// `interpreter-in-allow-commands`
    InterpreterInAllowCommands,
    /// `exec-without-auth`
    ExecWithoutAuth,
    /// `token-with-all-scopes`
    TokenWithAllScopes,
    /// `token-env-unset`
    TokenEnvUnset,
    /// `environment-opens-closed-group`
    EnvironmentOpensClosedGroup,
    /// `close-does-not-hold`
    CloseDoesNotHold,
    /// `deny-commands-alone`
    DenyCommandsAlone,
    /// `paths-do-not-bind-commands`
    PathsDoNotBindCommands,
    /// `request-limit-below-file-limit`
    RequestLimitBelowFileLimit,
    /// `half-open-pair`
    HalfOpenPair,
    /// `preset-weakened`
    PresetWeakened,
}

impl Code {
    /// How bad a finding of this code is, unless a level says otherwise.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::PresetWeakened => Severity::Info,
            code if code as u8 <= Self::DocumentTooLarge as u8 => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// The code as printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::DuplicateKey => "duplicate-key",
            Self::UnknownKey => "unknown-key",
            Self::MisplacedKey => "misplaced-key",
            Self::UnknownEndpoint => "unknown-endpoint",
            Self::UnknownGroup => "unknown-group",
            Self::UnknownPreset => "unknown-preset",
            Self::UnknownScope => "unknown-scope",
            Self::UnknownValue => "unknown-value",
            Self::WrongType => "wrong-type",
            Self::InvalidSize => "invalid-size",
            Self::InvalidDuration => "invalid-duration",
            Self::InvalidGlob => "invalid-glob",
            Self::InvalidPath => "invalid-path",
            Self::SelectorMatchesNothing => "selector-matches-nothing",
            Self::ConflictingGlobs => "conflicting-globs",
            Self::CoreDisabled => "core-disabled",
            Self::InvalidToken => "invalid-token",
            Self::DuplicateTokenId => "duplicate-token-id",
            Self::DocumentTooLarge => "document-too-large",
            Self::KeyHasNoEffect => "key-has-no-effect",
            Self::RuleHasNoEffect => "rule-has-no-effect",
            Self::ConfiguresClosedEndpoint => "configures-closed-endpoint",
            Self::RuleNeverWins => "rule-never-wins",
            Self::ScopesWeakened => "scopes-weakened",
            Self::DenyCoversAllow => "deny-covers-allow",
            Self::AllowOutsideBaseDir => "allow-outside-base-dir",
            Self::InterpreterInAllowCommands => "interpreter-in-allow-commands",
            Self::ExecWithoutAuth => "exec-without-auth",
            Self::TokenWithAllScopes => "token-with-all-scopes",
            Self::TokenEnvUnset => "token-env-unset",
            Self::EnvironmentOpensClosedGroup => "environment-opens-closed-group",
            Self::CloseDoesNotHold => "close-does-not-hold",
            Self::DenyCommandsAlone => "deny-commands-alone",
            Self::PathsDoNotBindCommands => "paths-do-not-bind-commands",
            Self::RequestLimitBelowFileLimit => "request-limit-below-file-limit",
            Self::HalfOpenPair => "half-open-pair",
            Self::PresetWeakened => "preset-weakened",
        }
    }
}
