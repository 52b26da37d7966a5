//! The changes between two moments of a workspace, as their caller may see them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::attribution::{self, Attribution};
use super::compare::{self, Change, Sides};
use super::desk::Desk;
use super::error::WorkspaceError;
use super::names;
use super::objects::Oid;
use super::records::{self, Checkpoint};
use super::restore::within;
use crate::agents::store::sessions::SessionRow;
use crate::app::App;
use crate::process::Owner;

/// What is compared.
#[derive(Debug)]
pub struct Question {
    /// A restore point or a turn; the beginning of the session where it is absent.
    pub from: Option<String>,
    /// A restore point or the end of a turn; now, where it is absent.
    pub to: Option<String>,
    /// Only what lies here, from the top; everything where it is empty.
    pub scope: Vec<u8>,
}

/// Both ends, and every path between them that the caller may see.
#[derive(Debug)]
pub struct Compared {
    desk: Desk,
    from: Option<Checkpoint>,
    to_now: bool,
    paths: BTreeMap<Vec<u8>, Sides>,
}

/// Compares. None where a restore point or turn is not there. `visible` says whether a path, from the top, may be seen.
///
/// # Errors
/// The workspace cannot be kept, or a store fails.
pub async fn compare(
    app: &Arc<App>,
    session: &SessionRow,
    question: Question,
    visible: impl Fn(&[u8]) -> bool,
) -> Result<Option<Compared>, WorkspaceError> {
    let store = app.agents.store().await?;
    let (no, from, to) = (session.no, question.from, question.to.filter(|to| to != "now"));
    let to_now = to.is_none();
    let named = from.is_some();
    let found = store.read(move |db| {
        let from = match &from {
            Some(name) => records::find(db, no, name)?,
            None => records::oldest(db, no)?,
        };
        let to = to.as_deref().map(|name| records::tree_at(db, no, name)).transpose()?;
        Ok((from, to))
    });
    let (from, to) = found.await?;
    let from = from.filter(|point| point.tree.is_some());
    if (named && from.is_none()) || to == Some(None) {
        return Ok(None);
    }
    let desk = Desk::at(app, &session.cwd).await?;
    let to: Oid = match to.flatten() {
        Some(tree) => tree.parse().map_err(|()| WorkspaceError::Unreachable)?,
        None => desk.snapshot(Vec::new()).await?.tree,
    };
    // A session that has done nothing yet has changed nothing.
    let start = from.as_ref().and_then(|point| point.tree.as_deref()?.parse().ok()).unwrap_or(to);
    let mut paths = desk.with_objects(move |objects| compare::differing(objects, start, to)).await?;
    paths.retain(|path, _| within(&question.scope, path) && visible(path));
    Ok(Some(Compared { desk, from, to_now, paths }))
}

impl Compared {
    /// The changed files, in the order of their paths.
    ///
    /// # Errors
    /// Git fails.
    pub async fn files(&self, owner: Owner, time: Duration) -> Result<Vec<Change>, WorkspaceError> {
        if self.paths.is_empty() {
            return Ok(Vec::new());
        }
        let (before, after) = self.reduced().await?;
        Ok(compare::changes(&self.desk.git(owner, time)?, before, after).await?)
    }

    /// Every path that differs, and whether it was `added`, `modified` or `deleted`: by the trees alone, so that a rename is
    /// both.
    pub fn statuses(&self) -> impl Iterator<Item = (&[u8], &'static str)> {
        self.paths.iter().map(|(path, (before, after))| {
            let status = match (before, after) {
                (None, _) => "added",
                (_, None) => "deleted",
                _ => "modified",
            };
            (path.as_slice(), status)
        })
    }

    /// The same as a patch, and whether it was cut.
    ///
    /// # Errors
    /// Git fails.
    pub async fn patch(
        &self,
        owner: Owner,
        time: Duration,
        context: u64,
        most: usize,
    ) -> Result<(String, bool), WorkspaceError> {
        if self.paths.is_empty() {
            return Ok((String::new(), false));
        }
        let (before, after) = self.reduced().await?;
        let (patch, cut) = compare::patch(&self.desk.git(owner, time)?, before, after, context, most).await?;
        let paths = self.paths.clone();
        let names = self.desk.with_objects(move |objects| names::usual(objects, &paths)).await?;
        Ok((names::renamed(&patch, &names), cut))
    }

    /// Who changed what.
    ///
    /// # Errors
    /// A store fails.
    pub async fn attribution(
        &self,
        app: &Arc<App>,
        session: &SessionRow,
    ) -> Result<Attribution, WorkspaceError> {
        let Some(from) = self.from.clone() else { return Ok(Attribution::default()) };
        attribution::of(app, &self.desk, session, from).await
    }

    /// Whether the later end is now.
    #[must_use]
    pub const fn to_now(&self) -> bool {
        self.to_now
    }

    async fn reduced(&self) -> Result<(Oid, Oid), WorkspaceError> {
        let paths = self.paths.clone();
        self.desk.with_objects(move |objects| compare::reduced(objects, &paths)).await
    }
}

/// Paths that somebody else has changed since `from`: what differs between the end of one stretch of the session's own work
/// and the beginning of the next, and since the last one.
pub(super) async fn foreign(
    desk: &Desk,
    from: Oid,
    spans: Vec<records::Span>,
    now: Oid,
) -> Result<BTreeSet<Vec<u8>>, WorkspaceError> {
    desk.with_objects(move |objects| {
        let mut foreign = BTreeSet::new();
        let mut left = Some(from);
        let tree = |tree: &Option<String>| tree.as_deref().and_then(|tree| tree.parse::<Oid>().ok());
        for span in &spans {
            if let (Some(left), Some(start)) = (left, tree(&span.start)) {
                foreign.extend(compare::differing(objects, left, start)?.into_keys());
            }
            // How an unfinished stretch left it is not known: what came then is held to be the session's.
            left = tree(&span.end);
        }
        if let Some(left) = left {
            foreign.extend(compare::differing(objects, left, now)?.into_keys());
        }
        Ok(foreign)
    })
    .await
}

/// A path that a caller gives, absolute or from the top, as one from the top; none where it lies outside.
#[must_use]
pub fn from_top(cwd: &str, asked: &str) -> Option<Vec<u8>> {
    use crate::guard::NormalPath;
    let path = NormalPath::new(cwd.as_bytes(), asked.as_bytes()).ok()?;
    let root = NormalPath::new(b"/", Path::new(cwd).as_os_str().as_encoded_bytes()).ok()?;
    let rest = path.as_bytes().strip_prefix(root.as_bytes())?;
    match rest {
        [] => Some(Vec::new()),
        [b'/', rest @ ..] => Some(rest.to_vec()),
        rest if root.as_bytes() == b"/" => Some(rest.to_vec()),
        _ => None,
    }
}
