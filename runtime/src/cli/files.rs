//! Files that a command rewrites: whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

/// Replaces the content of a file. What is written stands beside it until it is complete; a link is followed, and the
/// file's permissions stay.
///
/// # Errors
/// Where the file cannot be found, or the new one cannot be written beside it.
pub(super) fn replace(path: &str, bytes: &[u8]) -> std::io::Result<()> {
    let target = fs::canonicalize(path)?;
    let permissions = fs::metadata(&target)?.permissions();
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let beside = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = write(&beside, bytes, permissions).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write(path: &Path, bytes: &[u8], permissions: fs::Permissions) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.set_permissions(permissions)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// The difference of two texts as a patch that `patch` and `git apply` take.
pub(super) fn patch(name: &str, before: &str, after: &str) -> String {
    let (old, new) = (format!("a/{name}"), format!("b/{name}"));
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&old, &new)
        .to_string()
}
