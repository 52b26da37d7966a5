//! Skills that lie in a workspace already, where agents will find them.

use serde_json::{Value, json};

use super::folders;
use super::skill::described;
use crate::files::list::{ListOptions, list};
use crate::files::{Access, FilesError};
use crate::guard::{NormalPath, Op};
use std::io::Read as _;

/// Most skills of one folder that are looked at.
const MOST: usize = 200;

/// Largest `SKILL.md` that is read for its description, in bytes.
const LARGEST: u64 = 256 << 10;

/// Every skill in a directory's agent folders.
///
/// # Errors
/// The time is up; folders that are not there are passed over.
pub fn in_workspace(access: Access<'_>, cwd: &NormalPath) -> Result<Vec<Value>, FilesError> {
    let mut found = Vec::new();
    for (folder, agents) in folders::all() {
        let path = NormalPath::new(cwd.as_bytes(), folder.as_bytes())?;
        let Ok(skills) = list(access, &path, ListOptions { max_depth: 1, limit: MOST }) else { continue };
        for skill in skills.entries {
            let at = [folder.as_bytes(), b"/", &skill.relative].concat();
            found.extend(look(access, &NormalPath::new(cwd.as_bytes(), &at)?, &skill.relative, &agents));
        }
    }
    Ok(found)
}

fn look(access: Access<'_>, path: &NormalPath, name: &[u8], agents: &[&str]) -> Option<Value> {
    let main = NormalPath::new(path.as_bytes(), b"SKILL.md").ok()?;
    let opened = access.guard.file(access.judge, &main, Op::Read).ok()?;
    let mut text = Vec::new();
    std::fs::File::from(opened.fd).take(LARGEST).read_to_end(&mut text).ok()?;
    let (own, description) = described(&String::from_utf8_lossy(&text));
    let files = list(access, path, ListOptions { max_depth: 8, limit: MOST }).ok()?;
    let files: Vec<_> =
        files.entries.iter().filter(|entry| entry.metadata.kind == crate::guard::Kind::File).collect();
    Some(json!({
        "name": own.unwrap_or_else(|| String::from_utf8_lossy(name).into_owned()),
        "description": description.unwrap_or_default(),
        "files": files.iter().map(|file| String::from_utf8_lossy(&file.relative)).collect::<Vec<_>>(),
        "bytes": files.iter().map(|file| file.metadata.size).sum::<u64>(),
        "targets": agents,
        "installed_in": [String::from_utf8_lossy(path.as_bytes())],
        "source": "workspace",
    }))
}
