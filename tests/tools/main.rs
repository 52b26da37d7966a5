//! The tools around a document: formatting, fixing, dead rules, tests of policies, completion and hover. Cases are folders
//! beside this file; what must hold of any document is asked of random ones, in every layout.

#[path = "../golden.rs"]
mod golden;
#[cfg(test)]
#[path = "../policy/random.rs"]
#[expect(dead_code, reason = "calls are the other program's")]
mod random;

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
