//! A launch recipe, and what makes one valid.

use crate::process::environment::speaks_of_a_secret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longest text of a definition, in bytes; arguments and variables included.
const TEXT: usize = 32 * 1024;

/// Where a definition comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The table of known agents.
    Builtin,
    /// A caller.
    #[default]
    Custom,
}

/// How an agent is launched, and how it gets here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Definition {
    /// Its name in the catalogue.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Where the definition comes from.
    #[serde(skip)]
    pub kind: Origin,
    /// The program: a name that is looked up, or an absolute path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables; no secrets.
    pub env: BTreeMap<String, String>,
    /// Credentials without which it cannot work.
    pub credentials: Vec<String>,
    /// Where it runs when nobody names a directory.
    pub cwd_default: Option<String>,
    /// Whether it may ask us for files.
    pub client_fs: bool,
    /// Whether it may ask us for terminals.
    pub client_terminal: bool,
    /// Whether one process serves many sessions.
    pub share_process: bool,
    /// How it gets here.
    pub install: Option<InstallSource>,
    /// Extension methods that callers may call.
    pub allow_rpc: Vec<String>,
    /// The least major version of Node that it needs.
    pub node_min: Option<u32>,
}

/// How an agent gets here: one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstallSource {
    /// A package of npm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub npm: Option<String>,
    /// A package of the Python index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pypi: Option<String>,
    /// An archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchiveSource>,
}

/// An archive, or a single program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSource {
    /// Where it is.
    pub url: String,
    /// Its SHA-256, 64 hex digits.
    pub sha256: String,
    /// The program in it, a relative path.
    pub cmd: String,
}

/// What is wrong with a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {why}")]
pub struct DefinitionError {
    /// The member.
    pub parameter: &'static str,
    /// What it must be.
    pub why: String,
}

/// Whether a text can be the name of an agent.
#[must_use]
pub fn is_agent_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    bytes.len() <= 64
        && bytes.first().is_some_and(plain)
        && bytes.iter().all(|byte| plain(byte) || matches!(byte, b'-' | b'_' | b'.'))
        && !text.contains("..")
}

impl Definition {
    /// What is wrong with it.
    ///
    /// # Errors
    /// The first member that is wrong.
    pub fn check(&self) -> Result<(), DefinitionError> {
        let wrong = |parameter, why: &str| Err(DefinitionError { parameter, why: why.to_owned() });
        if !is_agent_id(&self.id) {
            return wrong("id", "must be 1 to 64 of a-z, 0-9, `-`, `_` and `.`, a letter or digit first");
        }
        let size: usize = self.args.iter().map(String::len).sum::<usize>()
            + self.env.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        if size > TEXT || self.name.len() > 200 {
            return wrong("args", "and env are too long");
        }
        if self.command.is_empty() || self.command.len() > 4096 || self.command.contains('\0') {
            return wrong("command", "must name a program");
        }
        if self.command.contains('/') && !self.command.starts_with('/') {
            return wrong("command", "must be a bare name or an absolute path");
        }
        if self.args.iter().any(|arg| arg.contains('\0')) {
            return wrong("args", "must not hold a NUL byte");
        }
        if let Some(name) = self.env.keys().find(|name| speaks_of_a_secret(name)) {
            let why = format!(
                "holds `{name}`, whose name speaks of a secret: store it with POST /agents/credentials"
            );
            return Err(DefinitionError { parameter: "env", why });
        }
        if self.cwd_default.as_ref().is_some_and(|cwd| !cwd.starts_with('/')) {
            return wrong("cwd_default", "must be an absolute path");
        }
        if let Some(method) = self.allow_rpc.iter().find(|method| is_core(method)) {
            let why = format!("must not name `{method}`: core methods are never called by hand");
            return Err(DefinitionError { parameter: "allow_rpc", why });
        }
        self.install.as_ref().map_or(Ok(()), InstallSource::check)
    }
}

impl InstallSource {
    fn check(&self) -> Result<(), DefinitionError> {
        let wrong = |why: &str| Err(DefinitionError { parameter: "install", why: why.to_owned() });
        match (&self.npm, &self.pypi, &self.archive) {
            (Some(package), None, None) if is_npm_package(package) => Ok(()),
            (None, Some(package), None) if is_pypi_package(package) => Ok(()),
            (Some(_), None, None) | (None, Some(_), None) => wrong("must name a package, without a version"),
            (None, None, Some(archive)) => archive.check(),
            _ => wrong("must have exactly one of npm, pypi and archive"),
        }
    }
}

impl ArchiveSource {
    fn check(&self) -> Result<(), DefinitionError> {
        let wrong = |why: &str| Err(DefinitionError { parameter: "install", why: why.to_owned() });
        if self.sha256.len() != 64 || !self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return wrong("archive.sha256 must be 64 hex digits");
        }
        let parts = || self.cmd.split('/');
        if self.cmd.is_empty() || self.cmd.contains('\0') || parts().any(|p| matches!(p, "" | "." | "..")) {
            return wrong("archive.cmd must be a plain relative path");
        }
        Ok(())
    }
}

/// Whether a method is one of those that this server itself calls or answers.
#[must_use]
pub fn is_core(method: &str) -> bool {
    const CORE: [&str; 7] =
        ["initialize", "authenticate", "logout", "session/", "fs/", "terminal/", "elicitation/"];
    method.starts_with("$/")
        || CORE
            .iter()
            .any(|core| if core.ends_with('/') { method.starts_with(core) } else { method == *core })
}

fn is_npm_package(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-', '_'])
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b))
    };
    text.len() <= 214
        && match text.strip_prefix('@') {
            Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| part(scope) && part(name)),
            None => part(text),
        }
}

fn is_pypi_package(text: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.len() <= 100
        && edge(text.bytes().next())
        && edge(text.bytes().last())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::{ArchiveSource, Definition, InstallSource, is_agent_id};

    fn with(change: impl FnOnce(&mut Definition)) -> Result<(), String> {
        let mut definition =
            Definition { id: "mine".to_owned(), command: "/bin/agent".to_owned(), ..Definition::default() };
        change(&mut definition);
        definition.check().map_err(|error| error.parameter.to_owned())
    }

    fn source(
        npm: Option<&str>,
        pypi: Option<&str>,
        archive: Option<ArchiveSource>,
    ) -> Option<InstallSource> {
        Some(InstallSource { npm: npm.map(str::to_owned), pypi: pypi.map(str::to_owned), archive })
    }

    #[test]
    fn names_of_agents_are_safe_as_names_of_folders() {
        for good in ["a", "claude", "my-agent_2", "a.b"] {
            assert!(is_agent_id(good), "{good}");
        }
        for bad in ["", "A", "-a", ".a", "a/b", "a b", "..", "a..b", "é", &"a".repeat(65)] {
            assert!(!is_agent_id(bad), "{bad}");
        }
    }

    #[test]
    fn each_member_is_checked() {
        let wrong = |parameter: &str| Err(parameter.to_owned());
        assert_eq!(with(|_| {}), Ok(()));
        assert_eq!(with(|d| d.id = "A".to_owned()), wrong("id"));
        assert_eq!(with(|d| d.command = String::new()), wrong("command"));
        assert_eq!(with(|d| d.command = "./agent".to_owned()), wrong("command"));
        assert_eq!(with(|d| d.args = vec!["a\0".to_owned()]), wrong("args"));
        assert_eq!(with(|d| d.env = [("API_KEY".to_owned(), "x".to_owned())].into()), wrong("env"));
        assert_eq!(with(|d| d.cwd_default = Some("x".to_owned())), wrong("cwd_default"));
        for core in ["session/prompt", "initialize", "$/cancel_request"] {
            assert_eq!(with(|d| d.allow_rpc = vec![core.to_owned()]), wrong("allow_rpc"));
        }
        assert_eq!(with(|d| d.allow_rpc = vec!["providers/list".to_owned()]), Ok(()));
    }

    #[test]
    fn one_source_is_named_and_well() {
        let archive = |sha: &str, cmd: &str| {
            Some(ArchiveSource { url: "https://h/a".to_owned(), sha256: sha.to_owned(), cmd: cmd.to_owned() })
        };
        let (hash, ok, wrong) = ("a".repeat(64), Ok(()), Err("install".to_owned()));
        for (install, wanted) in [
            (source(Some("@a/b-c"), None, None), &ok),
            (source(Some("opencode-ai"), None, None), &ok),
            (source(None, Some("kimi-cli"), None), &ok),
            (source(None, None, archive(&hash, "bin/agent")), &ok),
            (source(None, None, None), &wrong),
            (source(Some("a"), Some("b"), None), &wrong),
            (source(Some("a@1"), None, None), &wrong),
            (source(Some("--global"), None, None), &wrong),
            (source(Some("git+https://h/x"), None, None), &wrong),
            (source(None, Some("-r/etc/passwd"), None), &wrong),
            (source(None, None, archive("abc", "agent")), &wrong),
            (source(None, None, archive(&hash, "../agent")), &wrong),
            (source(None, None, archive(&hash, "/bin/sh")), &wrong),
        ] {
            assert_eq!(with(|d| d.install = install.clone()), *wanted, "{install:?}");
        }
    }
}
