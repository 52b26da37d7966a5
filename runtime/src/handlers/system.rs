//! SYSTEM: facts about the machine, and the variables of later children. The facts are read by [`crate::system`].

pub(super) mod env_list;
pub(super) mod env_set;
pub(super) mod packages;
pub(super) mod ports;
pub(super) mod system_info;
pub(super) mod system_metrics;
