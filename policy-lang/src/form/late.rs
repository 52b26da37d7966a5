//! What a set whose path entries were left unread, or not read at all, is held to later.

use super::FormError;
use super::read::{bad, uncompiled};
use crate::compile::CompileError;
use crate::policy::CompiledPolicy;
use crate::resolved::{ResolvedStatement, ResolvedValue};
use crate::rules;

impl CompiledPolicy {
    /// Reads what of the set was left to be read, holds path entries that were left unread to what the compiler accepts, and
    /// makes the tables of all path rules, which the first question would have to make. Until then a side of path rules with an
    /// entry that the compiler does not accept is closed, as is one whose entries cannot be read: it allows nothing, or refuses
    /// everything.
    ///
    /// # Errors
    /// What reading the set would have said. Nothing of the policy is to be used then.
    pub fn prepare(&self) -> Result<(), FormError> {
        self.resolved.statements.iter().try_for_each(|statement| self.read_late(statement))?;
        for (ix, endpoint) in self.endpoints() {
            if let Some(rules) = &endpoint.paths {
                rules.prepare().map_err(|error| {
                    let endpoint = self.name(ix).unwrap_or_default().to_owned();
                    uncompiled(&CompileError::Paths { endpoint, error })
                })?;
            }
        }
        Ok(())
    }

    /// Rules that no endpoint comes to see are held to it like any other.
    fn read_late(&self, statement: &ResolvedStatement) -> Result<(), FormError> {
        let ResolvedValue::List(list) = &statement.value else { return Ok(()) };
        list.entries().bring().map_err(Clone::clone)?;
        let side = rules::paths::side(statement.key);
        match list.is_unread().then(|| rules::paths::refusal(list.entries(), side)).flatten() {
            None => Ok(()),
            Some((_, why)) => {
                let at = format!("{} {}", self.rule_name(statement.rule), statement.key.as_str());
                Err(bad(&at, &why))
            }
        }
    }
}
