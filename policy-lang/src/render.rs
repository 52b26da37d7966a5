//! Findings as people read them.

pub mod human;

pub use human::{Remark, RenderOptions, human, remark};
