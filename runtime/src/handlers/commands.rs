//! COMMANDS: what a template registers, by name. What there is and how it runs is in `crate::commands`.

pub(super) mod commands_list;
pub(super) mod commands_run;
