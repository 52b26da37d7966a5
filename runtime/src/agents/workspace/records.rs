//! Rows of restore points, and of the stretches in which a session changed its own workspace.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};

use super::walk::Skipped;

/// A restore point.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Its number in the database.
    pub no: i64,
    /// `chk_…`
    pub checkpoint_id: String,
    /// The number of its session.
    pub session: i64,
    /// `auto`, `manual` or `safety`.
    pub kind: String,
    /// What a caller calls it.
    pub label: Option<String>,
    /// The turn that it was taken before.
    pub turn_id: Option<String>,
    /// The topmost tree; none where the workspace could not be kept.
    pub tree: Option<String>,
    /// Why it could not.
    pub reason: Option<String>,
    /// Files and links.
    pub files: i64,
    /// Their bytes.
    pub bytes: i64,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// Epoch seconds.
    pub created_at: f64,
}

const COLUMNS: &str =
    "no, checkpoint_id, session, kind, label, turn_id, tree, reason, files, bytes, skipped, created_at";

impl Checkpoint {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let skipped: String = row.get("skipped")?;
        Ok(Self {
            no: row.get("no")?,
            checkpoint_id: row.get("checkpoint_id")?,
            session: row.get("session")?,
            kind: row.get("kind")?,
            label: row.get("label")?,
            turn_id: row.get("turn_id")?,
            tree: row.get("tree")?,
            reason: row.get("reason")?,
            files: row.get("files")?,
            bytes: row.get("bytes")?,
            skipped: serde_json::from_str(&skipped).unwrap_or_default(),
            created_at: row.get("created_at")?,
        })
    }

    /// As callers see it.
    #[must_use]
    pub fn view(&self) -> serde_json::Value {
        let mut view = serde_json::json!({
            "checkpoint_id": self.checkpoint_id,
            "kind": self.kind,
            "created_at": self.created_at,
            "files": self.files,
            "bytes": self.bytes,
            "skipped": self.skipped,
        });
        for (name, value) in [("label", &self.label), ("turn_id", &self.turn_id), ("reason", &self.reason)] {
            if let (Some(value), Some(view)) = (value, view.as_object_mut()) {
                view.insert(name.to_owned(), value.as_str().into());
            }
        }
        view
    }
}

/// Stores a restore point; `no` is not looked at. Yields its number.
///
/// # Errors
/// Those of the database.
pub fn insert(db: &Connection, row: &Checkpoint) -> rusqlite::Result<i64> {
    db.prepare_cached(
        "INSERT INTO checkpoints (checkpoint_id, session, kind, label, turn_id, tree, reason, files, bytes, skipped, created_at)
         VALUES (:checkpoint_id, :session, :kind, :label, :turn_id, :tree, :reason, :files, :bytes, :skipped, :created_at)",
    )?
    .execute(named_params! {
        ":checkpoint_id": row.checkpoint_id,
        ":session": row.session,
        ":kind": row.kind,
        ":label": row.label,
        ":turn_id": row.turn_id,
        ":tree": row.tree,
        ":reason": row.reason,
        ":files": row.files,
        ":bytes": row.bytes,
        ":skipped": serde_json::to_string(&row.skipped).unwrap_or_default(),
        ":created_at": row.created_at,
    })?;
    Ok(db.last_insert_rowid())
}

/// The restore points of a session, newest first, below the number `before`.
///
/// # Errors
/// Those of the database.
pub fn list(
    db: &Connection,
    session: i64,
    before: Option<i64>,
    most: i64,
) -> rusqlite::Result<Vec<Checkpoint>> {
    let sql =
        format!("SELECT {COLUMNS} FROM checkpoints WHERE session = ?1 AND no < ?2 ORDER BY no DESC LIMIT ?3");
    let mut query = db.prepare_cached(&sql)?;
    let rows = query.query_map((session, before.unwrap_or(i64::MAX), most), Checkpoint::read)?;
    rows.collect()
}

/// A restore point of a session, by its id or by that of the turn that it was taken before.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, session: i64, name: &str) -> rusqlite::Result<Option<Checkpoint>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM checkpoints WHERE session = ?1
         AND (checkpoint_id = ?2 OR (turn_id = ?2 AND kind = 'auto')) ORDER BY no LIMIT 1"
    );
    db.prepare_cached(&sql)?.query_row((session, name), Checkpoint::read).optional()
}

/// The restore point before the next turn, behind the point `no`.
///
/// # Errors
/// Those of the database.
pub fn next_turn(db: &Connection, session: i64, no: i64) -> rusqlite::Result<Option<Checkpoint>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM checkpoints WHERE session = ?1 AND kind = 'auto' AND no > ?2 ORDER BY no LIMIT 1"
    );
    db.prepare_cached(&sql)?.query_row((session, no), Checkpoint::read).optional()
}

/// The oldest restore point that holds a workspace: how it was when the session began to work.
///
/// # Errors
/// Those of the database.
pub fn oldest(db: &Connection, session: i64) -> rusqlite::Result<Option<Checkpoint>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM checkpoints WHERE session = ?1 AND tree IS NOT NULL ORDER BY no LIMIT 1"
    );
    db.prepare_cached(&sql)?.query_row([session], Checkpoint::read).optional()
}

/// A stretch in which a session changed its own workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The turn; none for a restore.
    pub turn_id: Option<String>,
    /// The workspace at its beginning.
    pub start: Option<String>,
    /// The workspace at its end; none while it goes on, and where it could not be kept.
    pub end: Option<String>,
}

/// A stretch begins from a restore point.
///
/// # Errors
/// Those of the database.
pub fn begin(db: &Connection, session: i64, turn_id: Option<&str>, checkpoint: i64) -> rusqlite::Result<i64> {
    db.prepare_cached("INSERT OR REPLACE INTO spans (session, turn_id, checkpoint) VALUES (?1, ?2, ?3)")?
        .execute((session, turn_id, checkpoint))?;
    Ok(db.last_insert_rowid())
}

/// The stretch of a turn ends.
///
/// # Errors
/// Those of the database.
pub fn end_turn(db: &Connection, turn_id: &str, tree: Option<&str>, at: f64) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached("UPDATE spans SET end_tree = ?2, ended_at = ?3 WHERE turn_id = ?1")?;
    update.execute((turn_id, tree, at)).map(drop)
}

/// The stretch of a restore ends.
///
/// # Errors
/// Those of the database.
pub fn end(db: &Connection, span: i64, tree: &str, at: f64) -> rusqlite::Result<()> {
    let mut update = db.prepare_cached("UPDATE spans SET end_tree = ?2, ended_at = ?3 WHERE no = ?1")?;
    update.execute((span, tree, at)).map(drop)
}

/// The stretches of a session that began at this restore point or later, in order, and before them the one that it was
/// taken in the middle of, which for us begins there.
///
/// # Errors
/// Those of the database.
pub fn spans(db: &Connection, from: &Checkpoint) -> rusqlite::Result<Vec<Span>> {
    let mut query = db.prepare_cached(
        "SELECT spans.turn_id, iif(spans.checkpoint < ?2, ?4, checkpoints.tree), spans.end_tree FROM spans
         JOIN checkpoints ON checkpoints.no = spans.checkpoint
         WHERE spans.session = ?1
           AND (spans.checkpoint >= ?2 OR spans.ended_at IS NULL OR spans.ended_at > ?3) ORDER BY spans.no",
    )?;
    let read = |row: &Row<'_>| Ok(Span { turn_id: row.get(0)?, start: row.get(1)?, end: row.get(2)? });
    query.query_map((from.session, from.no, from.created_at, from.tree.as_deref()), read)?.collect()
}

/// A stretch whose end is known, by names that hold elsewhere too.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// The turn; none for a restore.
    pub turn_id: Option<String>,
    /// The restore point that it began from.
    pub checkpoint_id: String,
    /// The workspace at its end.
    pub end_tree: String,
    /// When it ended, in epoch seconds.
    pub ended_at: f64,
}

/// All stretches of a session that have ended, in order.
///
/// # Errors
/// Those of the database.
pub fn stretches(db: &Connection, session: i64) -> rusqlite::Result<Vec<Stretch>> {
    let mut query = db.prepare_cached(
        "SELECT spans.turn_id, checkpoints.checkpoint_id, spans.end_tree, spans.ended_at FROM spans
         JOIN checkpoints ON checkpoints.no = spans.checkpoint
         WHERE spans.session = ?1 AND spans.end_tree IS NOT NULL AND spans.ended_at IS NOT NULL ORDER BY spans.no",
    )?;
    let read = |row: &Row<'_>| {
        Ok(Stretch {
            turn_id: row.get(0)?,
            checkpoint_id: row.get(1)?,
            end_tree: row.get(2)?,
            ended_at: row.get(3)?,
        })
    };
    query.query_map([session], read)?.collect()
}

/// The other sessions that worked since `at`, each with its directory.
///
/// # Errors
/// Those of the database.
pub fn others(db: &Connection, session: i64, at: f64) -> rusqlite::Result<Vec<(String, String)>> {
    let mut query = db.prepare_cached(
        "SELECT DISTINCT sessions.session_id, sessions.cwd FROM sessions JOIN turns ON turns.session = sessions.no
         WHERE sessions.no <> ?1 AND turns.started_at IS NOT NULL AND (turns.ended_at IS NULL OR turns.ended_at >= ?2)
         ORDER BY sessions.no",
    )?;
    query.query_map((session, at), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Whether any session but this one still has restore points in the same directory.
///
/// # Errors
/// Those of the database.
pub fn used_by_others(db: &Connection, session: i64, cwd: &str) -> rusqlite::Result<bool> {
    let mut query = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM checkpoints JOIN sessions ON sessions.no = checkpoints.session
         WHERE sessions.cwd = ?2 AND sessions.no <> ?1)",
    )?;
    query.query_row((session, cwd), |row| row.get(0))
}

/// The tree of a restore point, or the one at the end of a turn; none where there is neither.
///
/// # Errors
/// Those of the database.
pub fn tree_at(db: &Connection, session: i64, name: &str) -> rusqlite::Result<Option<String>> {
    let mut query = db.prepare_cached(
        "SELECT tree FROM checkpoints WHERE session = ?1 AND checkpoint_id = ?2
         UNION ALL SELECT end_tree FROM spans WHERE session = ?1 AND turn_id = ?2",
    )?;
    query.query_row((session, name), |row| row.get(0)).optional().map(Option::flatten)
}
