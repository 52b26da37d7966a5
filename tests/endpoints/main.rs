//! The declaration as people read it: the tables in `tests/endpoints` and in README.md, kept in step with
//! `endpoints.toml`, and what must hold for the catalogue as a whole.

#[path = "../golden.rs"]
mod golden;

#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod tables;

/// What rewrites every file here, after `UPDATE=1`.
#[cfg(test)]
const COMMAND: &str = "cargo test -p runtime --test endpoints";
