//! The language server as editors meet it: the real binary over its streams, and a real client where one is installed.
//!
//! `cases/<slug>.yaml` is one session: a `text`, and requests at the place where the text has a `|`. What came back stands beside
//! it as `<slug>.json`.

#[path = "../golden.rs"]
mod golden;

#[cfg(test)]
mod client;
#[cfg(test)]
mod neovim;
#[cfg(test)]
mod sessions;
