//! Rows of skills, their files, and where they were put.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::skill::Skill;

fn read(row: &Row<'_>) -> rusqlite::Result<Skill> {
    let list = |column: &str| -> rusqlite::Result<Vec<String>> {
        let text: String = row.get(column)?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    };
    Ok(Skill {
        name: row.get("name")?,
        description: row.get("description")?,
        files: std::collections::BTreeMap::new(),
        targets: list("targets")?,
        cwds: list("cwds")?,
    })
}

fn with_files(db: &Connection, mut skill: Skill) -> rusqlite::Result<Skill> {
    let mut query = db.prepare_cached("SELECT path, content FROM skill_files WHERE skill = ?1")?;
    let rows = query.query_map([&skill.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    skill.files = rows.collect::<rusqlite::Result<_>>()?;
    Ok(skill)
}

/// Stores a skill; one of the same name is replaced.
///
/// # Errors
/// Those of the database.
pub fn put(db: &Connection, skill: &Skill, now: f64) -> rusqlite::Result<()> {
    let list = |list: &[String]| serde_json::to_string(list).unwrap_or_default();
    let bytes = i64::try_from(skill.bytes()).unwrap_or(i64::MAX);
    db.execute("DELETE FROM skills WHERE name = ?1", [&skill.name])?;
    db.execute(
        "INSERT INTO skills (name, description, targets, cwds, bytes, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (&skill.name, &skill.description, list(&skill.targets), list(&skill.cwds), bytes, now),
    )?;
    let mut insert =
        db.prepare_cached("INSERT INTO skill_files (skill, path, content) VALUES (?1, ?2, ?3)")?;
    skill.files.iter().try_for_each(|(path, content)| insert.execute((&skill.name, path, content)).map(drop))
}

/// A skill with its files.
///
/// # Errors
/// Those of the database.
pub fn find(db: &Connection, name: &str) -> rusqlite::Result<Option<Skill>> {
    let mut query =
        db.prepare_cached("SELECT name, description, targets, cwds FROM skills WHERE name = ?1")?;
    query.query_row([name], read).optional()?.map(|skill| with_files(db, skill)).transpose()
}

/// All skills with their files, by name.
///
/// # Errors
/// Those of the database.
pub fn list(db: &Connection) -> rusqlite::Result<Vec<Skill>> {
    let mut query = db.prepare_cached("SELECT name, description, targets, cwds FROM skills ORDER BY name")?;
    let skills: Vec<Skill> = query.query_map([], read)?.collect::<rusqlite::Result<_>>()?;
    skills.into_iter().map(|skill| with_files(db, skill)).collect()
}

/// Removes one; whether it was there.
///
/// # Errors
/// Those of the database.
pub fn delete(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    Ok(db.execute("DELETE FROM skills WHERE name = ?1", [name])? > 0)
}

/// A file that was put somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// The number of the session that it was put for.
    pub session: i64,
    /// The skill.
    pub skill: String,
    /// Absolute.
    pub path: String,
    /// Of its content, in hex.
    pub sha256: String,
}

/// Notes a file before it is put.
///
/// # Errors
/// Those of the database.
pub fn note(db: &Connection, put: &Put) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO skill_installs (session, skill, path, sha256) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((put.session, &put.skill, &put.path, &put.sha256))
    .map(drop)
}

/// Whether a file is one that was put there, with that content, for any session.
///
/// # Errors
/// Those of the database.
pub fn is_ours(db: &Connection, path: &str, sha256: &str) -> rusqlite::Result<bool> {
    let mut query =
        db.prepare_cached("SELECT EXISTS (SELECT 1 FROM skill_installs WHERE path = ?1 AND sha256 = ?2)")?;
    query.query_row((path, sha256), |row| row.get(0))
}

/// Forgets what was put for a session, or by a skill, and yields the files that nobody else uses.
///
/// # Errors
/// Those of the database.
pub fn forget(db: &Connection, session: Option<i64>, skill: Option<&str>) -> rusqlite::Result<Vec<Put>> {
    let mut query = db.prepare_cached(
        "DELETE FROM skill_installs WHERE (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR skill = ?2)
         RETURNING session, skill, path, sha256",
    )?;
    let read = |row: &Row<'_>| {
        Ok(Put { session: row.get(0)?, skill: row.get(1)?, path: row.get(2)?, sha256: row.get(3)? })
    };
    let gone: Vec<Put> = query.query_map((session, skill), read)?.collect::<rusqlite::Result<_>>()?;
    let mut unused = Vec::new();
    for put in gone {
        let mut used = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM skill_installs WHERE path = ?1)")?;
        if !used.query_row([&put.path], |row| row.get::<_, bool>(0))? {
            unused.push(put);
        }
    }
    Ok(unused)
}

/// The directories in which a skill is installed now, by the sessions that it was put for.
///
/// # Errors
/// Those of the database.
pub fn installed_in(db: &Connection, skill: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = db.prepare_cached(
        "SELECT DISTINCT sessions.cwd FROM skill_installs JOIN sessions ON sessions.no = skill_installs.session
         WHERE skill = ?1 ORDER BY sessions.cwd",
    )?;
    query.query_map([skill], |row| row.get(0))?.collect()
}
