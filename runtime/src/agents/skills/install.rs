//! Into a workspace when a session starts, and out of it when the session is closed.
//!
//! A file that lies there already is the user's own, unless we put it there: it is neither replaced nor removed. What was
//! put is removed only where it still is what was put.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use policy_lang::endpoint::EndpointId;
use sha2::{Digest as _, Sha256};

use super::folders;
use super::rows::{self, Put};
use super::skill::Skill;
use crate::agents::store::sessions::SessionRow;
use crate::agents::store::{Store, StoreError};
use crate::app::{App, index};
use crate::error::{ApiError, ErrorCode};
use crate::files::write::{WriteOptions, Writer};
use crate::files::{Access, FilesError, Stop, delete};
use crate::guard::{EndpointRules, GuardError, NormalPath, Op};

/// How long it may take to put or remove the skills of a session.
const PATIENCE: Duration = Duration::from_secs(30);

/// Puts skills where the agent of a session looks: those of `asked`, or all that are meant for it. Yields their names. A
/// file that cannot be put is passed over.
///
/// # Errors
/// 404 `skill_not_found` for a name that is asked for, or the store fails.
pub async fn install(
    app: &Arc<App>,
    session: &SessionRow,
    asked: Option<&[String]>,
) -> Result<Vec<String>, ApiError> {
    let store = app.agents.store().await?;
    let stored = store.read(rows::list).await?;
    let chosen: Vec<Skill> = match asked {
        None => stored.into_iter().filter(|skill| is_meant(skill, &session.agent_id, &session.cwd)).collect(),
        Some(asked) => {
            let find = |name: &String| stored.iter().find(|skill| skill.name == *name).cloned();
            let missing = |name: &String| {
                ApiError::new(ErrorCode::SkillNotFound, format!("There is no skill `{name}`"))
            };
            asked.iter().map(|name| find(name).ok_or_else(|| missing(name))).collect::<Result<_, _>>()?
        }
    };
    let mut names = Vec::new();
    for skill in chosen {
        names.push(skill.name.clone());
        put(app, store, session, skill).await?;
    }
    Ok(names)
}

/// Whether a skill is meant for a session that asks for none by name.
#[must_use]
pub fn is_meant(skill: &Skill, agent_id: &str, cwd: &str) -> bool {
    let below = |dir: &String| {
        let dir = dir.trim_end_matches('/');
        cwd.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    (skill.targets.is_empty() || skill.targets.iter().any(|target| target == agent_id))
        && (skill.cwds.is_empty() || skill.cwds.iter().any(below))
}

async fn put(app: &Arc<App>, store: &Store, session: &SessionRow, skill: Skill) -> Result<(), StoreError> {
    let folder = Path::new(&session.cwd).join(folders::of(&session.agent_id)).join(&skill.name);
    for (path, content) in skill.files {
        let path = folder.join(path).to_string_lossy().into_owned();
        let own = Put {
            session: session.no,
            skill: skill.name.clone(),
            path: path.clone(),
            sha256: hex(&Sha256::digest(&content)),
        };
        let found = {
            let path = path.clone();
            files(app, move |access| Ok(digest(access, &path))).await.flatten()
        };
        // Noted first: a server that dies between the two leaves a note of nothing, and no file that nobody knows.
        let noted = own.clone();
        let ours = match found.clone() {
            None => true,
            Some(there) => {
                let (path, sha256) = (own.path.clone(), own.sha256.clone());
                there == own.sha256 && store.read(move |db| rows::is_ours(db, &path, &sha256)).await?
            }
        };
        if !ours {
            continue;
        }
        store.write(move |db| rows::note(db, &noted)).await?;
        if found.is_none() {
            let written = files(app, move |access| {
                let path = NormalPath::new(b"/", path.as_bytes()).map_err(FilesError::from)?;
                let options = WriteOptions { overwrite: false, ..WriteOptions::default() };
                let mut writer = Writer::begin(access, &path, options)?;
                writer.write(&content)?;
                writer.finish().map(drop)
            });
            if written.await.is_none() {
                crate::log::say(format_args!("a file of the skill {} was not put", own.skill));
            }
        }
    }
    Ok(())
}

/// Removes what was put for a session, where nobody else uses it and it is unchanged.
///
/// # Errors
/// The store fails.
pub async fn remove(app: &Arc<App>, session: &SessionRow) -> Result<Vec<String>, StoreError> {
    let store = app.agents.store().await?;
    let no = session.no;
    let gone = store.write(move |db| rows::forget(db, Some(no), None)).await?;
    Ok(take_away(app, gone).await)
}

/// Removes what a skill has put anywhere, where it is unchanged.
///
/// # Errors
/// The store fails.
pub async fn remove_skill(app: &Arc<App>, name: &str) -> Result<Vec<String>, StoreError> {
    let store = app.agents.store().await?;
    let name = name.to_owned();
    let gone = store.write(move |db| rows::forget(db, None, Some(&name))).await?;
    Ok(take_away(app, gone).await)
}

async fn take_away(app: &Arc<App>, gone: Vec<Put>) -> Vec<String> {
    let mut removed = Vec::new();
    for put in gone {
        let path = put.path.clone();
        let done = files(app, move |access| {
            if digest(access, &put.path).as_deref() != Some(&*put.sha256) {
                return Ok(false);
            }
            let path = NormalPath::new(b"/", put.path.as_bytes()).map_err(FilesError::from)?;
            delete::delete(access, &path, 1)?;
            // The folders that were made for it go with it, up to the agent's own.
            let mut above = Path::new(&put.path).parent();
            for _ in 0..32 {
                let Some(dir) = above.filter(|dir| !dir.ends_with("skills")) else { break };
                let place =
                    NormalPath::new(b"/", dir.as_os_str().as_encoded_bytes()).map_err(FilesError::from)?;
                let place =
                    access.guard.place(access.judge, &place, Op::Delete, crate::guard::Last::Itself, false);
                let gone = place.is_ok_and(|place| {
                    let flags = rustix::fs::AtFlags::REMOVEDIR;
                    rustix::fs::unlinkat(&place.dir, place.name.as_slice(), flags).is_ok()
                });
                if !gone {
                    break;
                }
                above = dir.parent();
            }
            Ok(true)
        });
        if done.await == Some(true) {
            removed.push(path);
        }
    }
    removed
}

/// The digest of what lies at a path; none where nothing does. What cannot be read is somebody else's.
fn digest(access: Access<'_>, path: &str) -> Option<String> {
    let normal = NormalPath::new(b"/", path.as_bytes()).ok()?;
    match access.guard.file(access.judge, &normal, Op::Read) {
        Err(GuardError::NotFound) => None,
        Err(_) => Some(String::new()),
        Ok(opened) => {
            let mut content = Vec::new();
            let limit = super::skill::MOST_BYTES as u64 + 1;
            let read = std::fs::File::from(opened.fd).take(limit).read_to_end(&mut content);
            Some(read.map_or_else(|_| String::new(), |_| hex(&Sha256::digest(&content))))
        }
    }
}

/// Runs `work` on files by the rules of sessions that hold now; none where it fails.
async fn files<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(Access<'_>) -> Result<T, FilesError> + Send + 'static,
) -> Option<T> {
    let state = app.policy();
    let done = tokio::task::spawn_blocking(move || {
        let rules =
            state.policy.endpoint(index(EndpointId::AgentsSessionsCreate)).and_then(EndpointRules::of)?;
        let stop = Stop::at(std::time::Instant::now().checked_add(PATIENCE));
        work(Access { guard: &state.guard, judge: &rules, stop: &stop }).ok()
    });
    done.await.ok().flatten()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
