//! One rule against one tool call.

use super::shell;
use super::subject::Subject;
use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call is allowed, this once.
    Allow,
    /// A person is asked, whatever would allow it.
    Ask,
    /// The call is rejected.
    Reject,
}

impl Decision {
    /// As written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Reject => "reject",
        }
    }
}

/// Whose calls a rule is about; everyone's where it names nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// One session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Every session of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Every session at or below a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Which calls a rule is about: all that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The kind of tool, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<String>,
    /// A glob over the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_glob: Option<String>,
    /// A glob over the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_glob: Option<String>,
    /// A glob over paths; a relative one is taken from the session's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_glob: Option<String>,
}

impl Match {
    /// Whether it names nothing, and so matches everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A rule, its globs compiled.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its id.
    pub rule_id: String,
    /// Whose calls.
    pub scope: Scope,
    /// Which calls.
    pub matches: Match,
    /// What becomes of them.
    pub decision: Decision,
    /// When it ends, in epoch seconds.
    pub expires_at: Option<f64>,
    title: Option<GlobMatcher>,
    command: Option<GlobMatcher>,
    path: Option<GlobMatcher>,
}

/// Whose call is judged.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// The session.
    pub session_id: &'a str,
    /// Its agent.
    pub agent_id: &'a str,
    /// Its directory.
    pub cwd: &'a Path,
}

impl Rule {
    /// Puts a rule together.
    ///
    /// # Errors
    /// What is wrong with it, in words: a glob that is none, or an `allow` for everything everywhere.
    pub fn new(
        rule_id: String,
        scope: Scope,
        matches: Match,
        decision: Decision,
        expires_at: Option<f64>,
    ) -> Result<Self, String> {
        if decision == Decision::Allow && matches.is_empty() && scope == Scope::default() {
            return Err("an `allow` rule needs a scope or something to match".to_owned());
        }
        if scope.cwd.as_deref().is_some_and(|cwd| !cwd.starts_with('/')) {
            return Err("`scope.cwd` must be an absolute path".to_owned());
        }
        let title = compiled("title_glob", matches.title_glob.as_deref(), false)?;
        let command = compiled("command_glob", matches.command_glob.as_deref(), false)?;
        let path = compiled("path_glob", matches.path_glob.as_deref(), true)?;
        Ok(Self { rule_id, scope, matches, decision, expires_at, title, command, path })
    }

    /// Whether the rule speaks about this call at the time `now`.
    #[must_use]
    pub fn applies(&self, caller: Caller<'_>, subject: &Subject, now: f64) -> bool {
        self.expires_at.is_none_or(|end| now < end)
            && self.covers(caller)
            && self.matches.tool_kind.as_ref().is_none_or(|kind| *kind == subject.tool_kind)
            && self.title.as_ref().is_none_or(|glob| glob.is_match(&subject.title))
            && self.command.as_ref().is_none_or(|glob| self.command_matches(glob, subject))
            && self.path.as_ref().is_none_or(|glob| self.paths_match(glob, caller.cwd, subject))
    }

    fn covers(&self, caller: Caller<'_>) -> bool {
        self.scope.session_id.as_ref().is_none_or(|id| id == caller.session_id)
            && self.scope.agent_id.as_ref().is_none_or(|id| id == caller.agent_id)
            && self.scope.cwd.as_ref().is_none_or(|cwd| caller.cwd.starts_with(cwd))
    }

    /// An `allow` holds for one plain command alone. What is rejected or asked about is also looked for among the
    /// parts of a compound text, for hiding a command behind another must not get it past a rule.
    fn command_matches(&self, glob: &GlobMatcher, subject: &Subject) -> bool {
        let Some(command) = &subject.command else { return false };
        match self.decision {
            Decision::Allow => shell::is_plain(command) && glob.is_match(command),
            Decision::Ask | Decision::Reject => {
                glob.is_match(command)
                    || (!shell::is_plain(command) && shell::pieces(command).any(|piece| glob.is_match(piece)))
            }
        }
    }

    /// An `allow` must hold for every path of the call; one path is enough to reject it or to ask.
    fn paths_match(&self, glob: &GlobMatcher, cwd: &Path, subject: &Subject) -> bool {
        let one = |path: &std::path::PathBuf| {
            glob.is_match(path) || path.strip_prefix(cwd).is_ok_and(|relative| glob.is_match(relative))
        };
        match self.decision {
            Decision::Allow => !subject.paths.is_empty() && subject.paths.iter().all(one),
            Decision::Ask | Decision::Reject => subject.paths.iter().any(one),
        }
    }
}

fn compiled(name: &str, glob: Option<&str>, path: bool) -> Result<Option<GlobMatcher>, String> {
    let build = |glob| GlobBuilder::new(glob).literal_separator(path).backslash_escape(true).build();
    let glob = glob.map(build).transpose();
    glob.map(|glob| glob.map(|glob| glob.compile_matcher()))
        .map_err(|error| format!("`{name}`: {}", error.kind()))
}

#[cfg(test)]
mod tests;
