//! Findings that only show once everything is merged: each is a policy that compiles and may not do what its author
//! believes. One file per code in `check/`, one row each in [`CHECKS`].
//!
//! A check speaks of the author's document; what a preset or the catalogue says is taken as meant. One mistake is one
//! finding, however many endpoints its selector covers.

mod allow_outside_base_dir;
mod close_does_not_hold;
mod configures_closed_endpoint;
mod context;
pub mod dead;
mod dead_rule;
mod deny_commands_alone;
mod deny_covers_allow;
mod deny_outside_allow;
mod environment_opens_closed_group;
mod exec_without_auth;
mod half_open_pair;
mod interpreter_in_allow_commands;
mod key_has_no_effect;
pub mod limit_above_ceiling;
mod paths_do_not_bind_commands;
mod preset_weakened;
mod programs;
mod request_limit_below_file_limit;
mod rule_never_wins;
mod scope_held_by_no_token;
mod scopes_weakened;
mod token_calls_nothing;
mod token_env_unset;
mod token_with_all_scopes;

pub use context::{Context, Facts};

use crate::diag::{Code, Diagnostic};

/// One check.
#[derive(Debug)]
pub struct Check {
    /// The code of its findings.
    pub code: Code,
    run: fn(&Context<'_>) -> Vec<Diagnostic>,
}

/// Every check, in the order of the reference page.
pub static CHECKS: &[Check] = &[
    Check { code: Code::KeyHasNoEffect, run: key_has_no_effect::run },
    Check { code: Code::ConfiguresClosedEndpoint, run: configures_closed_endpoint::run },
    Check { code: Code::RuleNeverWins, run: rule_never_wins::run },
    Check { code: Code::ScopesWeakened, run: scopes_weakened::run },
    Check { code: Code::DenyCoversAllow, run: deny_covers_allow::run },
    Check { code: Code::AllowOutsideBaseDir, run: allow_outside_base_dir::run },
    Check { code: Code::InterpreterInAllowCommands, run: interpreter_in_allow_commands::run },
    Check { code: Code::ExecWithoutAuth, run: exec_without_auth::run },
    Check { code: Code::TokenWithAllScopes, run: token_with_all_scopes::run },
    Check { code: Code::TokenEnvUnset, run: token_env_unset::run },
    Check { code: Code::EnvironmentOpensClosedGroup, run: environment_opens_closed_group::run },
    Check { code: Code::CloseDoesNotHold, run: close_does_not_hold::run },
    Check { code: Code::DenyCommandsAlone, run: deny_commands_alone::run },
    Check { code: Code::PathsDoNotBindCommands, run: paths_do_not_bind_commands::run },
    Check { code: Code::RequestLimitBelowFileLimit, run: request_limit_below_file_limit::run },
    Check { code: Code::HalfOpenPair, run: half_open_pair::run },
    Check { code: Code::LimitAboveCeiling, run: limit_above_ceiling::run },
    Check { code: Code::ScopeHeldByNoToken, run: scope_held_by_no_token::run },
    Check { code: Code::TokenCallsNothing, run: token_calls_nothing::run },
    Check { code: Code::DenyOutsideAllow, run: deny_outside_allow::run },
    Check { code: Code::PresetWeakened, run: preset_weakened::run },
    Check { code: Code::DeadRule, run: dead_rule::run },
];

/// Runs every check.
#[must_use]
pub fn check(context: &Context<'_>) -> Vec<Diagnostic> {
    CHECKS.iter().flat_map(|check| (check.run)(context)).collect()
}
