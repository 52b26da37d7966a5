//! Which file a bare program name means to this server: what its own `PATH` finds when the policy is loaded.

use policy_lang::matchers::command::Program;
use std::ffi::OsStr;
use std::fs::{canonicalize, metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A finder over the absolute directories of a `PATH`.
pub(super) fn in_path(path: &OsStr) -> impl Fn(&str) -> Option<Program> + use<> {
    let directories: Vec<PathBuf> = std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect();
    move |name| {
        let plain = !name.is_empty() && !name.contains('/');
        let directory = directories.iter().filter(|_| plain).find(|dir| is_program(&dir.join(name)))?;
        let found = canonicalize(directory).ok()?.join(name);
        let target = canonicalize(&found).ok()?;
        Some(Program { found: found.to_str()?.to_owned(), target: target.to_str()?.to_owned() })
    }
}

fn is_program(path: &Path) -> bool {
    metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
