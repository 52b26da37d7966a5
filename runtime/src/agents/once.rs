//! Calls that must not be done twice: the answer to a first call with an `idempotency_key` is kept for a day and given
//! again to every later one with the same body.

use super::store::{Store, now};
use crate::endpoint::{Answer, Call, JsonBody, Reply};
use crate::error::{ApiError, ErrorCode};
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Seconds for which an answer is kept.
const KEPT: f64 = 24.0 * 3600.0;

/// Longest key, in bytes.
const LONGEST: usize = 255;

/// A first call. Dropped before it is done, its key is free again.
#[derive(Debug)]
pub struct Once {
    store: Store,
    key: Option<[String; 3]>,
}

/// What a key stands for.
#[derive(Debug)]
pub enum Claim {
    /// Nothing yet: the call is to be done.
    First(Once),
    /// A call that was answered with this.
    Again(Value),
}

enum Found {
    Claimed,
    Other,
    UnderWay,
    Answered(Value),
}

/// Looks at the key of a call, if it has one. To be asked before anything is read of the body.
///
/// # Errors
/// 409 `idempotency_conflict` where the key came with another body, or its first call is under way; 400 for what is no key.
pub fn claim(
    call: &Call,
    store: &Store,
    body: &JsonBody,
) -> impl Future<Output = Result<Claim, ApiError>> + Send + use<> {
    let (named, store) = (key(call, body), store.clone());
    async move {
        let Some((key, digest)) = named? else {
            return Ok(Claim::First(Once { store, key: None }));
        };
        let claimed = key.clone();
        let conflict = |message| Err(ApiError::new(ErrorCode::IdempotencyConflict, message));
        match store.write(move |db| look(db, &claimed, &digest)).await? {
            Found::Claimed => Ok(Claim::First(Once { store, key: Some(key) })),
            Found::Answered(reply) => Ok(Claim::Again(reply)),
            Found::Other => conflict("The key was used with another request"),
            Found::UnderWay => conflict("The first call with this key is under way"),
        }
    }
}

/// The key of a call with its endpoint and caller, and the digest of what it asks; none where it has no key.
fn key(call: &Call, body: &JsonBody) -> Result<Option<([String; 3], String)>, ApiError> {
    let key = match body.get("idempotency_key") {
        None => return Ok(None),
        Some(Value::String(key)) if (1..=LONGEST).contains(&key.len()) => key.clone(),
        Some(_) => {
            let message = format!("idempotency_key must be a string of at most {LONGEST} bytes");
            return Err(ApiError::invalid("idempotency_key", message));
        }
    };
    // The path says which session it is about.
    let digest = hex(&Sha256::digest(format!("{}\n{}", call.path(), Value::from(body.members().clone()))));
    Ok(Some(([call.declared().name.to_owned(), call.principal().id.to_string(), key], digest)))
}

fn look(db: &Connection, [endpoint, owner, key]: &[String; 3], digest: &str) -> rusqlite::Result<Found> {
    let at = now();
    db.prepare_cached("DELETE FROM idempotency WHERE at < ?1")?.execute([at - KEPT])?;
    let found = db
        .prepare_cached(
            "SELECT body_sha256, reply FROM idempotency WHERE endpoint = ?1 AND owner = ?2 AND key = ?3",
        )?
        .query_row((endpoint, owner, key), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
        })
        .optional()?;
    Ok(match found {
        None => {
            db.prepare_cached(
                "INSERT INTO idempotency (endpoint, owner, key, body_sha256, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((endpoint, owner, key, digest, at))?;
            Found::Claimed
        }
        Some((other, _)) if other != digest => Found::Other,
        Some((_, None)) => Found::UnderWay,
        Some((_, Some(reply))) => Found::Answered(serde_json::from_str(&reply).unwrap_or_default()),
    })
}

impl Once {
    /// The call was done: keeps its answer, and gives it.
    ///
    /// # Errors
    /// Those of the store; the call has been done all the same.
    pub async fn done(mut self, reply: Value) -> Answer {
        if let Some([endpoint, owner, key]) = self.key.take() {
            let text = reply.to_string();
            let kept = self.store.write(move |db| {
                db.execute(
                    "UPDATE idempotency SET reply = ?4 WHERE endpoint = ?1 AND owner = ?2 AND key = ?3",
                    (endpoint, owner, key, text),
                )
            });
            kept.await?;
        }
        Ok(Reply::ok(&reply))
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        if let Some([endpoint, owner, key]) = self.key.take() {
            let freed = self.store.write(move |db| {
                db.execute(
                    "DELETE FROM idempotency WHERE endpoint = ?1 AND owner = ?2 AND key = ?3 AND reply IS NULL",
                    (endpoint, owner, key),
                )
            });
            // Its place in the order of writes is taken; nobody needs the answer.
            drop(freed);
        }
    }
}

/// Keys whose first call was cut off by the end of the server are free again.
///
/// # Errors
/// Those of the database.
pub fn free_all(db: &Connection) -> rusqlite::Result<()> {
    db.execute("DELETE FROM idempotency WHERE reply IS NULL", [])?;
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to memory cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
