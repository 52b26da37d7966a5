//! Where the value of a credential comes from when it is needed.

use crate::agents::process::Judge;
use crate::app::index;
use crate::env::Withheld;
use crate::guard::{EndpointRules, NormalPath, Op};
use policy_lang::endpoint::EndpointId;
use serde::{Deserialize, Serialize};
use std::io::Read as _;

/// Largest file that is read as a value, in bytes.
const LARGEST: u64 = 64 * 1024;

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// It was given.
    Value(String),
    /// A variable that the server was started with.
    Env(String),
    /// A file that is read each time.
    File(String),
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There is no such credential, variable or file.
    #[error("the credential has no value")]
    Absent,
    /// The policy lets nobody read the file any more.
    #[error("the credential's file may not be read")]
    Refused,
    /// It is too long, or no text.
    #[error("the credential's value cannot be used")]
    Unusable,
}

impl Source {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Value(_) => "value",
            Self::Env(_) => "env",
            Self::File(_) => "file",
        }
    }

    /// Whether there is a value now.
    #[must_use]
    pub fn is_present(&self, withheld: &Withheld) -> bool {
        match self {
            Self::Value(_) => true,
            Self::Env(name) => withheld.get(name).is_some(),
            Self::File(path) => std::fs::metadata(path).is_ok_and(|found| found.is_file()),
        }
    }

    /// The value now. A file is opened by the rules that hold now for storing credentials.
    ///
    /// # Errors
    /// There is none.
    pub fn value(&self, withheld: &Withheld, judge: &Judge) -> Result<String, SourceError> {
        let value = match self {
            Self::Value(value) => value.clone(),
            Self::Env(name) => {
                if judge.state.secret_variables().any(|secret| secret == name) {
                    return Err(SourceError::Refused);
                }
                withheld.get(name).ok_or(SourceError::Absent)?.to_owned()
            }
            Self::File(path) => read(path, judge)?,
        };
        if value.is_empty() || value.contains('\0') { Err(SourceError::Unusable) } else { Ok(value) }
    }
}

fn read(path: &str, judge: &Judge) -> Result<String, SourceError> {
    let policy = &judge.state.policy;
    let rules = policy.endpoint(index(EndpointId::AgentsCredentialsSet)).and_then(EndpointRules::of);
    let rules = rules.ok_or(SourceError::Refused)?;
    let guard = &judge.state.guard;
    let path = NormalPath::new(guard.base_dir(), path.as_bytes()).map_err(|_| SourceError::Absent)?;
    let opened = guard.file(&rules, &path, Op::Read).map_err(|error| match error {
        crate::guard::GuardError::Refused(_) => SourceError::Refused,
        _ => SourceError::Absent,
    })?;
    let mut text = Vec::new();
    let file = std::fs::File::from(opened.fd);
    file.take(LARGEST + 1).read_to_end(&mut text).map_err(|_| SourceError::Absent)?;
    if text.len() as u64 > LARGEST {
        return Err(SourceError::Unusable);
    }
    let text = String::from_utf8(text).map_err(|_| SourceError::Unusable)?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
