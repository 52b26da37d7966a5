//! What `--strict`, `--allow`, `--warn` and `--deny` make of a list of findings.

use std::collections::BTreeMap;

use super::{Code, Diagnostic, Severity};

/// What a caller wants a code to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// Left out.
    Allow,
    /// A warning.
    Warn,
    /// An error.
    Deny,
}

/// The levels of one run: per code where the caller named it, else by severity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    /// Whether warnings are errors.
    pub strict: bool,
    by_code: BTreeMap<Code, Level>,
}

impl Levels {
    /// The usual severities, or with `strict` every warning as an error.
    #[must_use]
    pub const fn new(strict: bool) -> Self {
        Self { strict, by_code: BTreeMap::new() }
    }

    /// Sets the level of a code; a later call for the same code wins. Returns false, and changes nothing, where an error
    /// would be made less than one, unless the code only says that a name is unknown to this version.
    pub fn set(&mut self, code: Code, level: Level) -> bool {
        if level != Level::Deny && !Self::may_be_lowered(code) {
            return false;
        }
        self.by_code.insert(code, level);
        true
    }

    /// Whether a level below error may be asked for. A name that a newer server knows closes and opens nothing here.
    #[must_use]
    pub fn may_be_lowered(code: Code) -> bool {
        code.severity() != Severity::Error
            || matches!(code, Code::UnknownEndpoint | Code::UnknownGroup | Code::SelectorMatchesNothing)
    }

    /// Whether the caller named this code.
    #[must_use]
    pub fn speaks_of(&self, code: Code) -> bool {
        self.by_code.contains_key(&code)
    }

    /// What a finding of this severity becomes; `None` leaves it out. With `strict` no warning stays one, whoever made it
    /// one.
    #[must_use]
    pub fn severity(&self, code: Code, severity: Severity) -> Option<Severity> {
        let severity = match self.by_code.get(&code) {
            Some(Level::Allow) => return None,
            Some(Level::Warn) => Severity::Warning,
            Some(Level::Deny) => Severity::Error,
            None => severity,
        };
        Some(if self.strict && severity == Severity::Warning { Severity::Error } else { severity })
    }

    /// Whether the caller asked for less than an error. An error of a code that is lowered does not refuse a policy.
    #[must_use]
    pub fn lowers(&self, code: Code) -> bool {
        matches!(self.by_code.get(&code), Some(Level::Allow | Level::Warn))
    }

    /// Applies the levels to a list, keeping its order. Gives back the codes whose findings were left out, each once.
    pub fn apply(&self, findings: &mut Vec<Diagnostic>) -> Vec<Code> {
        let mut left_out = Vec::new();
        findings.retain_mut(|finding| match self.severity(finding.code, finding.severity) {
            Some(severity) => {
                finding.severity = severity;
                true
            }
            None => {
                if !left_out.contains(&finding.code) {
                    left_out.push(finding.code);
                }
                false
            }
        });
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(levels: &Levels) -> Vec<(Code, Severity)> {
        let mut findings = [Code::Syntax, Code::ScopesWeakened, Code::HalfOpenPair, Code::PresetWeakened]
            .map(|code| Diagnostic::new(code, "x"))
            .to_vec();
        levels.apply(&mut findings);
        findings.into_iter().map(|finding| (finding.code, finding.severity)).collect()
    }

    #[test]
    fn strict_makes_warnings_errors_and_leaves_the_rest() {
        assert_eq!(
            outcome(&Levels::new(true)),
            [
                (Code::Syntax, Severity::Error),
                (Code::ScopesWeakened, Severity::Error),
                (Code::HalfOpenPair, Severity::Error),
                (Code::PresetWeakened, Severity::Info),
            ]
        );
    }

    #[test]
    fn strict_lets_no_warning_be_whoever_made_it_one() {
        let mut levels = Levels::new(true);
        assert!(levels.set(Code::ScopesWeakened, Level::Allow));
        assert!(levels.set(Code::HalfOpenPair, Level::Warn));
        assert!(levels.set(Code::PresetWeakened, Level::Deny));
        assert_eq!(
            outcome(&levels),
            [
                (Code::Syntax, Severity::Error),
                (Code::HalfOpenPair, Severity::Error),
                (Code::PresetWeakened, Severity::Error),
            ]
        );
        assert!(levels.set(Code::PresetWeakened, Level::Warn));
        assert!(levels.lowers(Code::PresetWeakened) && levels.lowers(Code::ScopesWeakened));
        assert_eq!(outcome(&levels).last(), Some(&(Code::PresetWeakened, Severity::Error)));
    }

    #[test]
    fn an_error_cannot_be_lowered() {
        let mut levels = Levels::new(false);
        assert!(!levels.set(Code::Syntax, Level::Allow));
        assert!(!levels.set(Code::UnknownKey, Level::Warn));
        assert!(levels.set(Code::UnknownKey, Level::Deny));
        assert_eq!(outcome(&levels).first(), Some(&(Code::Syntax, Severity::Error)));
        assert!(
            levels.set(Code::UnknownEndpoint, Level::Warn),
            "a policy may name endpoints of a newer server"
        );
    }
}
