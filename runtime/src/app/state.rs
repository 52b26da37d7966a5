//! Everything that one policy brings with it; replaced as a whole on reload.

use crate::auth::Tokens;

/// A policy in force, and what counts by it.
#[derive(Debug)]
pub struct PolicyState {
    /// Who may call.
    pub tokens: Tokens,
}
