//! What was not checked: what depends on the machine that will serve, and what a compiled set no longer tells.

use super::CheckConfig;
use super::load::{Run, Source};
use crate::cli::report::Report;
use crate::env::Env;

/// Names what could not be judged of a policy.
pub(super) fn name(report: &mut Report, source: &Source, call: &CheckConfig, run: &Run<'_>) {
    if run.compiled {
        let why = "a compiled set holds no text to judge: check the document that it was compiled from";
        report.skip("warnings", why);
    }
    // What was named is judged as it stands, not as it would be served here.
    let Some(resolved) = run.outcome.resolved().filter(|_| source.found.is_none()) else { return };
    let tokens = resolved.tokens.as_deref().unwrap_or_default();
    let variables: Vec<&str> = tokens.iter().filter_map(|token| token.token_env.as_deref()).collect();
    if !variables.is_empty() {
        let why = format!("whether {} set is known where the server starts", listed(&variables));
        report.skip("token-env-unset", &why);
    }
    let env = Env::read();
    let base_dir = env.base_dir.is_some() && call.base_dir.is_none() && resolved.base_dir.is_none();
    let set = [
        env.enabled_groups.is_some().then_some("ABX_SERVER_ENABLED_GROUPS"),
        base_dir.then_some("ABX_SERVER_BASE_DIR"),
    ];
    let set: Vec<&str> = set.into_iter().flatten().collect();
    if !set.is_empty() {
        let why = format!("{} set here, which counts only where no --policy is given", listed(&set));
        report.skip("environment", &why);
    }
}

/// `A is`, `A, B are`
fn listed(names: &[&str]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}
