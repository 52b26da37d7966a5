//! What is wrong with a document: a stable code, a severity, a sentence, labelled places, and where it can a fix.
//!
//! Codes live one file each in `diag/codes/`, as rows of one table; did-you-mean beside it.

use crate::endpoint::EndpointId;
use crate::source::Span;

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
