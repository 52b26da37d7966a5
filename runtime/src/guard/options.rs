//! What a guard is made from.

use super::{Resolver, Seals};
use std::sync::Arc;

/// What a guard is made from. Paths are absolute and normal.
#[derive(Debug, Clone)]
pub struct GuardOptions<'a> {
    /// Where relative paths start. It must exist; links on the way to it are followed.
    pub base_dir: Vec<u8>,
    /// Directories that path rules name beside it. Where one does not exist, or cannot be reached without a link that may not
    /// be followed, its nearest ancestor is held instead.
    pub roots: Vec<&'a [u8]>,
    /// Paths refused for every operation, such as the audit file.
    pub sealed: Vec<Vec<u8>>,
    /// Those of them that are directories: what lies in one is refused also where it was renamed within a root.
    pub sealed_dirs: Vec<Vec<u8>>,
    /// What is refused by what it is.
    pub seals: Arc<Seals>,
    /// How to open.
    pub resolver: Resolver,
    /// Whether what was changed is synced before it is reported. Only where nothing has to outlive the machine, as in
    /// tests, is this anything but `true`.
    pub durable: bool,
}

impl GuardOptions<'_> {
    /// A guard for `base_dir` alone, with the best resolver.
    #[must_use]
    pub fn new(base_dir: impl Into<Vec<u8>>) -> Self {
        Self {
            base_dir: base_dir.into(),
            roots: Vec::new(),
            sealed: Vec::new(),
            sealed_dirs: Vec::new(),
            seals: Arc::default(),
            resolver: Resolver::detect(),
            durable: true,
        }
    }
}
