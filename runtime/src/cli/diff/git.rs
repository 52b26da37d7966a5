//! `git:REV:path`: a file or folder as git keeps it.
//!
//! Only objects are read: no hook, filter, pager or text conversion of the repository runs, and nothing is fetched.

use crate::cli::failure::Failure;
use std::process::Stdio;

/// A revision and a path in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    revision: String,
    path: String,
}

impl Object {
    /// Reads `git:REV:path`; none where it does not begin so.
    pub(super) fn parse(name: &str) -> Option<Result<Self, Failure>> {
        let rest = name.strip_prefix("git:")?;
        let parts = rest.split_once(':').filter(|(revision, path)| {
            !revision.is_empty() && !path.is_empty() && !revision.starts_with('-') && !revision.contains('\0')
        });
        let fault = || {
            Failure::usage(format!(
                "`{name}` is no object of git: write `git:REV:path`, as in `git:main:template.yaml`"
            ))
        };
        let object = |(revision, path): (&str, &str)| Self {
            revision: revision.to_owned(),
            path: path.trim_end_matches('/').to_owned(),
        };
        Some(parts.map(object).ok_or_else(fault))
    }

    /// The file below this folder.
    pub(super) fn join(&self, name: &str) -> Self {
        Self { revision: self.revision.clone(), path: format!("{}/{name}", self.path) }
    }

    /// As messages call it.
    pub(super) fn name(&self) -> String {
        format!("git:{}:{}", self.revision, self.path)
    }

    /// The names of the files below, if it is a folder.
    pub(super) fn files(&self) -> Result<Option<Vec<String>>, Failure> {
        let kind = self.run(&["cat-file", "-t", &self.spec()])?;
        if kind != b"tree\n" {
            return Ok(None);
        }
        let listed = self.run(&["ls-tree", "-r", "-z", "--name-only", &self.spec()])?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(Some(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()))
    }

    /// The bytes of the file.
    pub(super) fn read(&self) -> Result<Vec<u8>, Failure> {
        self.run(&["cat-file", "blob", &self.spec()])
    }

    fn spec(&self) -> String {
        format!("{}:{}", self.revision, self.path)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "no server runs in this process, so that no reaper takes the status of a child"
    )]
    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let failure = |why: &str| Failure::unreadable(format!("cannot read `{}`: {why}", self.name()));
        let ran = std::process::Command::new("git")
            .args([
                "--no-pager",
                "--literal-pathspecs",
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.hooksPath=/dev/null",
            ])
            .args(["-c", "protocol.allow=never"])
            .args(arguments)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| failure(&format!("git does not start: {error}")))?;
        if ran.status.success() {
            return Ok(ran.stdout);
        }
        let said = String::from_utf8_lossy(&ran.stderr);
        Err(failure(said.lines().next().unwrap_or("git failed").trim_start_matches("fatal: ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_a_revision_and_a_path() {
        let parse = |name: &str| Object::parse(name).map(|object| object.map(|object| object.name()).ok());
        assert_eq!(parse("template.yaml"), None);
        assert_eq!(parse("git:main:a/b.yaml"), Some(Some("git:main:a/b.yaml".to_owned())));
        assert_eq!(parse("git:HEAD~1:a/"), Some(Some("git:HEAD~1:a".to_owned())));
        for bad in ["git:", "git:main", "git:main:", "git::a", "git:--help:a"] {
            assert_eq!(parse(bad), Some(None), "{bad}");
        }
    }
}
