//! The SHA-256 of a secret: all that the server keeps of one.

use sha2::{Digest as _, Sha256};

/// A digest; prints as nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest(pub(super) [u8; 32]);

impl Digest {
    /// The digest of a secret.
    #[must_use]
    pub fn of(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digest(..)")
    }
}
