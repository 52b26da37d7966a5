//! The stable codes: one file each in `codes/`, one row each in the table below.
//!
//! A code's file is its reference page and its fixture: what it says, why it matters, a document that fails with it and
//! the same one mended. The command line prints the pages, and a test compiles both documents of each.

use super::{Page, Severity};

/// Makes the enum, the list and the modules from the rows.
macro_rules! codes {
    ($($variant:ident = $module:ident,)*) => {
        $(mod $module;)*

        /// The stable codes, in the order of the reference page: errors, warnings, then what is only worth knowing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(
                #[doc = concat!("See `diag/codes/", stringify!($module), ".rs`.")]
                $variant,
            )*
        }

        /// Every code, in the order of the reference page.
        pub const CODES: &[Code] = &[$(Code::$variant,)*];

        /// The page of a code.
        #[must_use]
        pub const fn page(code: Code) -> &'static Page {
            match code {
                $(Code::$variant => &$module::PAGE,)*
            }
        }
    };
}

codes! {
    Syntax = syntax,
    DuplicateKey = duplicate_key,
    UnknownKey = unknown_key,
    MisplacedKey = misplaced_key,
    UnknownEndpoint = unknown_endpoint,
    UnknownGroup = unknown_group,
    UnknownPreset = unknown_preset,
    UnknownScope = unknown_scope,
    UnknownValue = unknown_value,
    WrongType = wrong_type,
    InvalidSize = invalid_size,
    InvalidDuration = invalid_duration,
    InvalidGlob = invalid_glob,
    InvalidPath = invalid_path,
    SelectorMatchesNothing = selector_matches_nothing,
    ConflictingGlobs = conflicting_globs,
    CoreDisabled = core_disabled,
    InvalidToken = invalid_token,
    DuplicateTokenId = duplicate_token_id,
    DocumentTooLarge = document_too_large,
    TestFailed = test_failed,
    TestAssertsNothing = test_asserts_nothing,
    NoTests = no_tests,
    KeyHasNoEffect = key_has_no_effect,
    RuleHasNoEffect = rule_has_no_effect,
    ConfiguresClosedEndpoint = configures_closed_endpoint,
    RuleNeverWins = rule_never_wins,
    ScopesWeakened = scopes_weakened,
    DenyCoversAllow = deny_covers_allow,
    AllowOutsideBaseDir = allow_outside_base_dir,
    InterpreterInAllowCommands = interpreter_in_allow_commands,
    ExecWithoutAuth = exec_without_auth,
    TokenWithAllScopes = token_with_all_scopes,
    TokenEnvUnset = token_env_unset,
    EnvironmentOpensClosedGroup = environment_opens_closed_group,
    CloseDoesNotHold = close_does_not_hold,
    DenyCommandsAlone = deny_commands_alone,
    PathsDoNotBindCommands = paths_do_not_bind_commands,
    RequestLimitBelowFileLimit = request_limit_below_file_limit,
    HalfOpenPair = half_open_pair,
    LimitAboveCeiling = limit_above_ceiling,
    ScopeHeldByNoToken = scope_held_by_no_token,
    TokenCallsNothing = token_calls_nothing,
    DenyOutsideAllow = deny_outside_allow,
    InvalidLintLevel = invalid_lint_level,
    UnusedLintLevel = unused_lint_level,
    PresetWeakened = preset_weakened,
    DeadRule = dead_rule,
}

impl Code {
    /// The code as printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        page(self).name
    }

    /// The code of a printed name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        CODES.iter().copied().find(|code| code.as_str() == name)
    }

    /// How bad a finding of this code is, unless a level says otherwise.
    #[must_use]
    pub const fn severity(self) -> Severity {
        page(self).severity
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_unique_kebab_case_and_listed_by_severity() {
        let mut seen = HashSet::new();
        for code in CODES {
            let name = code.as_str();
            assert!(seen.insert(name), "{name} twice");
            let words = name.split('-');
            assert!(
                words.clone().all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()))
            );
            let variant: String = format!("{code:?}").to_lowercase();
            assert_eq!(variant, words.collect::<String>(), "the row and the page name different codes");
            assert_eq!(Code::from_name(name), Some(*code));
        }
        assert_eq!(Code::from_name("no-such-code"), None);
        assert!(CODES.is_sorted_by_key(|code| std::cmp::Reverse(code.severity())), "errors come first");
        assert!(CODES.is_sorted());
    }

    #[test]
    fn every_page_is_complete() {
        for code in CODES {
            let page = page(*code);
            let name = page.name;
            assert!(
                !page.summary.is_empty() && !page.summary.ends_with('.'),
                "{name}: the summary is a phrase"
            );
            assert!(page.why.ends_with('.'), "{name}: why it matters is told in sentences");
            assert!(
                page.fails.ends_with('\n') && page.mended.ends_with('\n'),
                "{name}: examples end with a line break"
            );
            assert_ne!(page.fails, page.mended, "{name}: the mended example is another");
        }
    }
}
