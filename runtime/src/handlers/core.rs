//! CORE: liveness and discovery. Can never be closed; reads nothing but memory.

pub(super) mod health;
