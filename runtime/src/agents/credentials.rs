//! Secrets by name: values go in and never come out, but into the processes that they are bound to.
//!
//! They are kept in a file of their own, mode 0600, and not in the database: what exports or copies that can never
//! hold one.
//!
//! | module | |
//! |---|---|
//! | `file` | what is stored, and how it gets to disk |
//! | `source` | where a value comes from when it is needed |
//! | `masks` | known values, taken out of every text |
//! | `seam` | the same in texts that come in pieces |

mod file;
mod masks;
mod seam;
mod source;

pub use file::{Stored, is_variable};
pub use masks::Masks;
pub use seam::Seam;
pub use source::{Source, SourceError};

use super::store::now;
use crate::agents::process::Judge;
use crate::env::Withheld;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A credential as lists show it: never its value, nor anything that follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// `value`, `env` or `file`.
    pub source: &'static str,
    /// Whether it has a value now.
    pub present: bool,
    agents: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expose_as: Option<String>,
    updated_at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<f64>,
}

/// What an agent is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Values by variable.
    pub variables: BTreeMap<String, String>,
    /// The names of the credentials that they came from.
    pub names: Vec<String>,
}

/// Every credential of a server.
#[derive(Debug)]
pub struct Credentials {
    path: PathBuf,
    withheld: Arc<Withheld>,
    masks: Arc<Masks>,
    /// Read when it is first needed.
    stored: Mutex<Option<BTreeMap<String, Stored>>>,
}

impl Credentials {
    /// Credentials kept in a file, which is read when it is first needed. Its folder must be there when one is set.
    #[must_use]
    pub fn new(path: PathBuf, withheld: Arc<Withheld>, masks: Arc<Masks>) -> Self {
        Self { path, withheld, masks, stored: Mutex::default() }
    }

    /// All, by name. Looks at files.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> io::Result<Vec<Shown>> {
        let stored = self.stored()?;
        Ok(stored.iter().flatten().map(|(name, stored)| self.show(name, stored)).collect())
    }

    /// Whether there is one of this name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn has(&self, name: &str) -> io::Result<bool> {
        Ok(self.stored()?.as_ref().is_some_and(|all| all.contains_key(name)))
    }

    /// Stores one, in place of an earlier one of its name. Writes to disk.
    ///
    /// # Errors
    /// The file cannot be written; then the earlier one stays.
    pub fn set(&self, name: &str, stored: Stored) -> io::Result<Shown> {
        if let Source::Value(value) = &stored.source {
            self.masks.add(value);
        }
        let shown = self.show(name, &stored);
        let mut all = self.stored()?;
        let next = all.get_or_insert_default();
        let before = next.insert(name.to_owned(), stored);
        if let Err(error) = file::write(&self.path, next) {
            match before {
                Some(before) => drop(next.insert(name.to_owned(), before)),
                None => drop(next.remove(name)),
            }
            return Err(error);
        }
        Ok(shown)
    }

    /// Forgets one; false where there is none. Writes to disk.
    ///
    /// # Errors
    /// The file cannot be written; then it stays.
    pub fn delete(&self, name: &str) -> io::Result<bool> {
        let mut all = self.stored()?;
        let next = all.get_or_insert_default();
        let Some(before) = next.remove(name) else { return Ok(false) };
        file::write(&self.path, next).inspect_err(|_| {
            next.insert(name.to_owned(), before);
        })?;
        Ok(true)
    }

    /// What an agent gets in its environment: every credential that is bound to it and is present. `judge` opens files.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn give(&self, agent_id: &str, judge: &Judge) -> io::Result<Given> {
        let mut given = Given::default();
        let mut all = self.stored()?;
        for (name, stored) in all.iter_mut().flatten() {
            let variable = stored.variable(name).filter(|_| stored.is_for(agent_id)).map(str::to_owned);
            let Some(variable) = variable else { continue };
            let Ok(value) = stored.source.value(&self.withheld, judge) else { continue };
            self.masks.add(&value);
            stored.last_used_at = Some(now());
            given.variables.insert(variable, value);
            given.names.push(name.clone());
        }
        Ok(given)
    }

    /// The value of one credential, for a header or a variable that names it.
    ///
    /// # Errors
    /// There is none, or it has no value now.
    pub fn value(&self, name: &str, judge: &Judge) -> Result<String, SourceError> {
        let mut all = self.stored().map_err(|_| SourceError::Absent)?;
        let stored = all.as_mut().and_then(|all| all.get_mut(name)).ok_or(SourceError::Absent)?;
        let value = stored.source.value(&self.withheld, judge)?;
        self.masks.add(&value);
        stored.last_used_at = Some(now());
        Ok(value)
    }

    /// Those of `needed` that an agent would not get.
    #[must_use]
    pub fn missing(&self, agent_id: &str, needed: &[String]) -> Vec<String> {
        let all = self.stored();
        let there = |needed: &str| {
            let all = all.as_ref().ok().and_then(|all| all.as_ref());
            all.into_iter().flatten().any(|(name, stored)| {
                let named = name == needed || stored.variable(name) == Some(needed);
                named && stored.is_for(agent_id) && stored.source.is_present(&self.withheld)
            })
        };
        needed.iter().filter(|needed| !there(needed)).cloned().collect()
    }

    fn show(&self, name: &str, stored: &Stored) -> Shown {
        Shown {
            name: name.to_owned(),
            source: stored.source.name(),
            present: stored.source.is_present(&self.withheld),
            agents: stored.agents.clone(),
            expose_as: stored.expose_as.clone(),
            updated_at: stored.updated_at,
            last_used_at: stored.last_used_at,
        }
    }

    fn stored(&self) -> io::Result<MutexGuard<'_, Option<BTreeMap<String, Stored>>>> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.is_none() {
            let all = file::read(&self.path)?;
            for stored in all.values() {
                if let Source::Value(value) = &stored.source {
                    self.masks.add(value);
                }
            }
            *stored = Some(all);
        }
        Ok(stored)
    }
}

#[cfg(test)]
mod tests;
