//! What is stored of a credential, and how it gets to disk: the whole file is replaced, so that nothing of a deleted
//! value stays in it.

use super::source::Source;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A credential.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Where its value comes from.
    pub source: Source,
    /// The agents that get it; all, where none is named.
    #[serde(default)]
    pub agents: Vec<String>,
    /// The variable that agents see it in; its own name, where none is named.
    #[serde(default)]
    pub expose_as: Option<String>,
    /// When it was set, in seconds since 1970.
    pub updated_at: f64,
    /// When a process was last given it.
    #[serde(default)]
    pub last_used_at: Option<f64>,
}

impl Stored {
    /// Whether an agent gets it.
    #[must_use]
    pub fn is_for(&self, agent_id: &str) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|agent| agent == agent_id)
    }

    /// The variable that agents see it in; none where its name can be no variable and no other is named.
    #[must_use]
    pub fn variable<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.expose_as.as_deref().or_else(|| is_variable(name).then_some(name))
    }
}

/// Whether a text can be the name of a variable.
#[must_use]
pub fn is_variable(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.len() <= 128
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Reads the file; nothing where there is none.
pub(super) fn read(path: &Path) -> io::Result<BTreeMap<String, Stored>> {
    match fs::read(path) {
        Ok(text) => {
            serde_json::from_slice(&text).map_err(|_| io::Error::other("the credentials file is damaged"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error),
    }
}

/// Replaces the file.
pub(super) fn write(path: &Path, all: &BTreeMap<String, Stored>) -> io::Result<()> {
    let next = path.with_extension("next");
    // Left by a write that was cut; with other rights than ours it must not be reused.
    let _ = fs::remove_file(&next);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next)?;
    file.write_all(&serde_json::to_vec(all).map_err(io::Error::other)?)?;
    file.sync_all()?;
    fs::rename(&next, path)?;
    path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}
