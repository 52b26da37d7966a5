//! What a worker imports, and the first message that it gets: that, and the package that templates are written against.

use super::frame::{self, FrameError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Reads the first message and starts the package; the argument of `python3 -c`.
pub(super) const BOOTSTRAP: &str = include_str!("../../../python/bootstrap.py");

/// The package: name of the module, whether it has modules of its own, text.
const SOURCES: [(&str, bool, &str); 7] = [
    ("agent_sandbox", true, include_str!("../../../python/agent_sandbox/__init__.py")),
    ("agent_sandbox.server", true, include_str!("../../../python/agent_sandbox/server/__init__.py")),
    ("agent_sandbox.server.app", false, include_str!("../../../python/agent_sandbox/server/app.py")),
    (
        "agent_sandbox.server.commands",
        false,
        include_str!("../../../python/agent_sandbox/server/commands.py"),
    ),
    ("agent_sandbox.server.routes", false, include_str!("../../../python/agent_sandbox/server/routes.py")),
    ("agent_sandbox.server.types", false, include_str!("../../../python/agent_sandbox/server/types.py")),
    ("agent_sandbox.server.worker", false, include_str!("../../../python/agent_sandbox/server/worker.py")),
];

/// What is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file, by its absolute path.
    File(PathBuf),
    /// A module, looked for in the directory that the server was started in, then where Python looks.
    Module {
        /// Its dotted name.
        name: String,
        /// That directory.
        directory: PathBuf,
    },
}

/// Why a name means nothing that could be imported.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// There is no such file.
    #[error("cannot read the commands `{path}`: {error}")]
    Unreadable {
        /// As it was given.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// Neither a file of a known kind nor the name of a module.
    #[error("`{0}` is neither a file of commands nor the name of a Python module")]
    Neither(String),
}

impl Target {
    /// What a name means: with the ending `.py` a file, else a module.
    ///
    /// # Errors
    /// There is no such file, or the name is no name of a module.
    pub fn of(name: &str) -> Result<Self, TargetError> {
        let unreadable = |error| TargetError::Unreadable { path: name.to_owned(), error };
        if Path::new(name).extension().is_some_and(|ending| ending == "py") {
            return std::fs::canonicalize(name).map(Self::File).map_err(unreadable);
        }
        let part = |part: &str| crate::commands::arguments::is_name(part);
        if !name.split('.').all(part) {
            return Err(TargetError::Neither(name.to_owned()));
        }
        let directory = std::env::current_dir().map_err(unreadable)?;
        Ok(Self::Module { name: name.to_owned(), directory })
    }

    /// As messages call it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Module { name, .. } => name.clone(),
        }
    }

    /// The first message to a worker.
    pub(super) fn start(&self) -> Result<Vec<u8>, FrameError> {
        let target = match self {
            Self::File(path) => json!({"file": path.to_string_lossy()}),
            Self::Module { name, directory } => {
                json!({"module": name, "directory": directory.to_string_lossy()})
            }
        };
        let source = |(name, package, text): &(&str, bool, &str)| {
            ((*name).to_owned(), json!({"package": package, "text": text}))
        };
        let sources: serde_json::Map<String, Value> = SOURCES.iter().map(source).collect();
        frame::encode(&json!({"target": target, "sources": sources}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_package_is_carried() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
        let (mut found, mut folders) = (Vec::new(), vec![folder.join("agent_sandbox")]);
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() && !path.ends_with("__pycache__") {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "py") {
                    let name = path.strip_prefix(&folder).unwrap().with_extension("").display().to_string();
                    found.push(name.replace('/', ".").trim_end_matches(".__init__").to_owned());
                }
            }
        }
        found.sort();
        let mut carried: Vec<_> = SOURCES.iter().map(|(name, ..)| (*name).to_owned()).collect();
        carried.sort();
        assert_eq!(found, carried);
    }

    #[test]
    fn a_name_is_a_file_or_a_module() {
        assert!(matches!(Target::of("no/such.py"), Err(TargetError::Unreadable { .. })));
        assert!(matches!(Target::of("a.b_c"), Ok(Target::Module { name, .. }) if name == "a.b_c"));
        for bad in ["", "a..b", "a/b", "1a", "-m", "commands.txt/x"] {
            assert!(matches!(Target::of(bad), Err(TargetError::Neither(_))), "{bad}");
        }
    }
}
