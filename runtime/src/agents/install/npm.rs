//! From npm, into a folder that nothing else uses.

use super::run::{self, missing};
use super::{InstallError, Report, Wanted, failed, program, range};
use crate::error::ApiError;
use crate::process::Engine;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A package of a version.
#[derive(Debug)]
pub(super) struct Package {
    name: String,
    pub(super) version: String,
    /// The names of its programs.
    programs: Vec<String>,
}

/// Asks the registry about the package, and whether the Node that is here will do.
pub(super) async fn find(engine: &Arc<Engine>, wanted: &Wanted, name: &str) -> Result<Package, InstallError> {
    let root = Path::new("/");
    let version = wanted.version.as_deref().unwrap_or("latest");
    if version.is_empty()
        || version.len() > 100
        || !version.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+._".contains(&b))
    {
        let error = ApiError::invalid("version", "version must be a version or a tag");
        return Err(InstallError::Refused(error));
    }
    let have = node(engine, wanted).await?;
    let asked = format!("{name}@{version}");
    let words = ["npm", "view", &asked, "version", "engines", "bin", "--json"];
    let said = run::run(engine, wanted, &words, &quiet(), root, None).await?;
    let found: Value = serde_json::from_str(&said).map_err(|_| failed("npm knows no such package"))?;
    // A range names several; the last is the newest.
    let found = found.as_array().and_then(|all| all.last()).unwrap_or(&found);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let exact = found.get("version").and_then(text).or_else(|| text(found));
    let exact = exact.ok_or_else(|| failed("npm knows no such version"))?;
    let least = wanted.entry.definition.node_min.filter(|_| wanted.version.is_none());
    let least = least.map(|least| format!(">={least}"));
    let engines = found.get("engines").and_then(|engines| engines.get("node")).and_then(Value::as_str);
    for need in engines.into_iter().chain(least.as_deref()) {
        let fits = range::version(&have).is_none_or(|version| range::allows(need, version));
        if !fits {
            return Err(InstallError::Refused(missing("node", &format!("node {need}"), Some(&have))));
        }
    }
    let base = name.rsplit('/').next().unwrap_or(name).to_owned();
    let programs = match found.get("bin") {
        Some(Value::Object(programs)) => programs.keys().cloned().collect(),
        _ => vec![base],
    };
    Ok(Package { name: name.to_owned(), version: exact, programs })
}

/// Installs it; yields version and program.
pub(super) async fn install(
    engine: &Arc<Engine>,
    wanted: &Wanted,
    package: &Package,
    folder: &Path,
    report: &Report,
) -> Result<(String, PathBuf), InstallError> {
    let (prefix, exact) =
        (folder.to_string_lossy().into_owned(), format!("{}@{}", package.name, package.version));
    let cache = format!("{prefix}/.cache");
    let mut words = vec!["npm", "install", "--prefix", &prefix, "--no-audit", "--no-fund", "--engine-strict"];
    if !wanted.allow_scripts {
        words.push("--ignore-scripts");
    }
    words.push(&exact);
    let mut variables = quiet().to_vec();
    variables.push(("npm_config_cache", &cache));
    run::run(engine, wanted, &words, &variables, folder, Some(report)).await?;
    let _ = tokio::fs::remove_dir_all(&cache).await;
    let command = &wanted.entry.definition.command;
    let name = package.programs.iter().find(|name| *name == command).or(package.programs.first());
    let name = name.ok_or_else(|| failed("the package has no program"))?;
    if name.contains('/') || name.starts_with('.') {
        return Err(failed("the package's program has an unusable name"));
    }
    Ok((package.version.clone(), program(folder.join("node_modules/.bin").join(name))?))
}

/// The version of Node that is here.
async fn node(engine: &Arc<Engine>, wanted: &Wanted) -> Result<String, InstallError> {
    let said = run::run(engine, wanted, &["node", "--version"], &[], Path::new("/"), None).await?;
    Ok(said.trim().trim_start_matches('v').to_owned())
}

const fn quiet() -> [(&'static str, &'static str); 3] {
    [("npm_config_update_notifier", "false"), ("npm_config_progress", "false"), ("npm_config_color", "false")]
}
