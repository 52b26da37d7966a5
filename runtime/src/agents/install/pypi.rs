//! From the Python index, into an environment of its own.

use super::run;
use super::{InstallError, Report, Wanted, failed, program};
use crate::error::ApiError;
use crate::process::Engine;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A package, and a version where one was asked for.
#[derive(Debug)]
pub(super) struct Package {
    name: String,
    pub(super) version: Option<String>,
}

/// Looks whether Python is here. Which versions fit it pip itself finds out.
pub(super) fn find(engine: &Engine, wanted: &Wanted, name: &str) -> Result<Package, InstallError> {
    run::tool(engine, wanted, "python3", &run::place(Path::new("/"))?)?;
    let version = wanted.version.clone();
    let plain = |version: &String| {
        !version.is_empty()
            && version.len() <= 100
            && version.bytes().all(|b| b.is_ascii_alphanumeric() || b"+._!".contains(&b))
    };
    if version.as_ref().is_some_and(|version| !plain(version)) {
        return Err(InstallError::Refused(ApiError::invalid("version", "version must be a version")));
    }
    Ok(Package { name: name.to_owned(), version })
}

/// Installs it; yields version and program.
pub(super) async fn install(
    engine: &Arc<Engine>,
    wanted: &Wanted,
    package: &Package,
    folder: &Path,
    report: &Report,
) -> Result<(String, PathBuf), InstallError> {
    let home = folder.join("venv");
    let (at, python) =
        (home.to_string_lossy().into_owned(), home.join("bin/python").to_string_lossy().into_owned());
    run::run(engine, wanted, &["python3", "-m", "venv", &at], &[], folder, Some(report)).await?;
    let asked = match &package.version {
        Some(version) => format!("{}=={version}", package.name),
        None => package.name.clone(),
    };
    let mut words = vec![
        python.as_str(),
        "-m",
        "pip",
        "install",
        "--no-input",
        "--no-cache-dir",
        "--disable-pip-version-check",
    ];
    if !wanted.allow_scripts {
        // A source archive runs its build when it is installed.
        words.push("--only-binary=:all:");
    }
    words.push(&asked);
    run::run(engine, wanted, &words, &[], folder, Some(report)).await?;
    let show = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))";
    let version = run::run(engine, wanted, &[&python, "-c", show, &package.name], &[], folder, None).await?;
    let command = Path::new(&wanted.entry.definition.command).file_name();
    let command = command.ok_or_else(|| failed("the agent's command names no program"))?;
    Ok((version.trim().to_owned(), program(home.join("bin").join(command))?))
}
