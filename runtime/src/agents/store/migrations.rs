//! The tables, one file a family, each applied once, all that are missing in one transaction.
//!
//! A family that has shipped is never edited: what changes it is a further file.

use super::{StoreError, now};
use rusqlite::{Connection, TransactionBehavior};

/// Every family, in the order in which they are applied.
const FAMILIES: &[(&str, &str)] = &[
    ("0001_sessions", include_str!("migrations/0001_sessions.sql")),
    ("0002_catalogue", include_str!("migrations/0002_catalogue.sql")),
    ("0003_requests", include_str!("migrations/0003_requests.sql")),
    ("0004_workspace", include_str!("migrations/0004_workspace.sql")),
    ("0005_automation", include_str!("migrations/0005_automation.sql")),
    ("0006_artifacts", include_str!("migrations/0006_artifacts.sql")),
];

/// Applies what is missing.
pub(super) fn apply(db: &mut Connection) -> Result<(), StoreError> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    change.execute_batch(
        "CREATE TABLE IF NOT EXISTS families (name TEXT PRIMARY KEY, at REAL NOT NULL) STRICT",
    )?;
    let applied: Vec<String> = {
        let mut rows = change.prepare("SELECT name FROM families ORDER BY name")?;
        rows.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?
    };
    if let Some(unknown) = applied.iter().find(|name| FAMILIES.iter().all(|(known, _)| known != name)) {
        return Err(StoreError::Later(unknown.clone()));
    }
    for (name, sql) in FAMILIES {
        if applied.iter().all(|seen| seen != name) {
            change.execute_batch(sql)?;
            change.execute("INSERT INTO families (name, at) VALUES (?1, ?2)", (name, now()))?;
        }
    }
    Ok(change.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applied_twice_is_applied_once() {
        let mut db = Connection::open_in_memory().unwrap();
        apply(&mut db).unwrap();
        apply(&mut db).unwrap();
        let count: i64 = db.query_row("SELECT count(*) FROM families", [], |row| row.get(0)).unwrap();
        assert_eq!(usize::try_from(count).unwrap(), FAMILIES.len());
    }

    #[test]
    fn a_database_of_a_later_version_is_left_alone() {
        let mut db = Connection::open_in_memory().unwrap();
        apply(&mut db).unwrap();
        db.execute("INSERT INTO families VALUES ('9999_later', 0)", []).unwrap();
        assert!(matches!(apply(&mut db), Err(StoreError::Later(name)) if name == "9999_later"));
    }

    #[test]
    fn families_are_numbered_in_order() {
        assert!(FAMILIES.is_sorted_by_key(|(name, _)| name));
    }
}
