//! Policy tests: calls with the answers that an author expects, judged by the same `decide` as everything else.
//!
//! [`read()`] takes a suite from a file of its own or from a template's `server_tests:`, [`run()`] asks a policy, [`coverage`] names
//! the rules that no test decides, [`mutate`] changes each rule and names the changes that no test notices.

mod ask;
pub mod coverage;
mod expect;
mod line;
pub mod mutate;
mod read;
pub mod run;

pub use ask::{Ask, Caller};
pub use expect::Expect;
pub use read::{Suite, Test, has_suite, read};
pub use run::{Asked, run};

/// The key of a template that its tests stand under.
pub const IN_TEMPLATE: &str = "server_tests";

/// What is wrong with the tests of a template, and which of them fail; nothing where it has none. Places are those of the
/// run that `outcome` came of.
#[must_use]
pub fn findings(
    outcome: &crate::stages::Outcome,
    format: crate::parse::Format,
    catalogue: &crate::endpoint::Catalogue,
) -> Vec<crate::diag::Diagnostic> {
    let Some(document) = outcome.document.filter(|id| has_suite(&outcome.sources, *id)) else {
        return Vec::new();
    };
    let (suite, mut found) = read(&outcome.sources, document, format, catalogue);
    found.retain(|finding| !outcome.diagnostics.contains(finding));
    if let Some(policy) = &outcome.policy {
        let asked = run(&suite, policy, &|_| None);
        found.extend(asked.into_iter().filter_map(|asked| asked.fault));
        crate::diag::sort(&mut found);
    }
    found
}
