//! The policy language, case by case: each module walks one folder of cases beside it, or one table.

#[cfg(test)]
#[path = "../precedence.rs"]
mod examples;
#[path = "../golden.rs"]
mod golden;

#[cfg(test)]
mod decide;
#[cfg(test)]
mod diagnose;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod floods;
#[cfg(test)]
mod form;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod merge;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod precedence;
#[cfg(test)]
mod presets;
#[cfg(test)]
mod random;
#[cfg(test)]
#[expect(clippy::string_slice, reason = "the texts it cuts are ASCII, and a panic fails the test")]
mod reference;
#[cfg(test)]
mod schema;
#[cfg(test)]
#[expect(clippy::string_slice, reason = "the texts it cuts are ASCII, and a panic fails the test")]
mod suggest;
