//! The tools around a document: formatting, fixing, dead rules, tests of policies, completion and hover. Cases are folders
//! beside this file; what must hold of any document is asked of random ones, in every layout.

#[path = "../golden.rs"]
mod golden;
#[cfg(test)]
#[path = "../policy/random.rs"]
#[expect(dead_code, reason = "calls are the other program's")]
mod random;

/// How many random documents: the short count, or with `FULL_COUNTS=1` the long one.
#[cfg(test)]
fn count(short: u64, full: u64) -> u64 {
    if std::env::var_os("FULL_COUNTS").is_some() { full } else { short }
}

#[cfg(test)]
mod assist;
#[cfg(test)]
mod dead;
#[cfg(test)]
mod fix;
#[cfg(test)]
mod format;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod suites;
