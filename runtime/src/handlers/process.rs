//! PROCESS: commands and background processes. The engine is [`crate::process`]; what is here translates.
//!
//! A process belongs to the principal that started it: for another it does not exist, unless that one holds `*`.

mod managed;
pub(super) mod streaming;

pub(super) mod process_get;
pub(super) mod process_input;
pub(super) mod process_list;
pub(super) mod process_output;
pub(super) mod process_signal;
pub(super) mod process_start;
pub(super) mod shell;
pub(super) mod shell_stream;
