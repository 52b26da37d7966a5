//! The command line from outside: the real binary, its streams and its exit status.
//!
//! `cases/<slug>.yaml` is one call: `note`, `files`, `env`, `stdin`, `args`, and the `exit` status it must have. What it
//! prints stands beside it as `<slug>.stdout` and `<slug>.stderr`; an empty stream has no file.

#[path = "../golden.rs"]
mod golden;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod complaints;
#[cfg(test)]
mod completions;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod exits;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod run;
#[cfg(test)]
mod sarif;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod writes;
