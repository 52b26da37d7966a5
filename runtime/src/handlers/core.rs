//! CORE: liveness and discovery. Can never be closed; reads nothing but memory.

pub(super) mod capabilities;
pub(super) mod capabilities_check;
pub(super) mod health;
mod view;
