//! The items that one append touches: the open ones, and those that its events name.

use super::item::{COLUMNS, Item, ItemKind};
use super::terminal::{self, Terminal};
use super::tool;
use crate::agents::cut;
use crate::agents::ids;
use crate::agents::search;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most text of one item; what is beyond is in the log alone.
const MOST_TEXT: usize = 16 << 20;

/// Text that is put together once its item is closed. A longer one stays in pieces, which all who read put together: to
/// do so here would hold it in memory several times over.
const MOST_JOINED: i64 = 1 << 20;

/// What one append works on.
#[derive(Debug)]
pub(in crate::agents) struct Working<'db> {
    pub(super) db: &'db Connection,
    pub(super) session_id: Arc<str>,
    pub(super) session: i64,
    pub(super) slots: Vec<Slot>,
    pub(super) terminals: BTreeMap<String, Terminal>,
}

/// An item at work.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) item: Item,
    /// Read when it is first asked for.
    body: Option<Map<String, Value>>,
    /// Text to be put behind what is stored.
    added: String,
    changed: bool,
    body_changed: bool,
}

impl<'db> Working<'db> {
    /// Loads the open items of a session.
    pub(in crate::agents) fn load(
        db: &'db Connection,
        session_id: &Arc<str>,
        session: i64,
    ) -> rusqlite::Result<Self> {
        let sql = format!("SELECT {COLUMNS} FROM items WHERE session = ?1 AND open = 1 ORDER BY no");
        let mut query = db.prepare_cached(&sql)?;
        let slots =
            query.query_map([session], |row| Item::read(row).map(Slot::stored))?.collect::<Result<_, _>>()?;
        Ok(Self { db, session_id: Arc::clone(session_id), session, slots, terminals: BTreeMap::new() })
    }

    /// The newest item of this kind and key, of this turn alone where `turn` says one.
    pub(super) fn find(
        &mut self,
        kind: ItemKind,
        key: &str,
        turn: Option<Option<&str>>,
    ) -> rusqlite::Result<Option<usize>> {
        let fits = |item: &Item| {
            item.kind == kind
                && item.key.as_deref() == Some(key)
                && turn.is_none_or(|turn| item.turn_id.as_deref() == turn)
        };
        if let Some(at) = self.slots.iter().rposition(|slot| fits(&slot.item)) {
            return Ok(Some(at));
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM items WHERE session = ?1 AND kind = ?2 AND key = ?3 AND (?4 OR turn_id IS ?5)
             ORDER BY no DESC LIMIT 1"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let asked = params![self.session, kind.as_str(), key, turn.is_none(), turn.flatten()];
        let Some(item) = query.query_row(asked, Item::read).optional()? else { return Ok(None) };
        self.slots.push(Slot::stored(item));
        Ok(Some(self.slots.len() - 1))
    }

    /// A new item. Its name follows from the event that it begins with.
    pub(super) fn create(
        &mut self,
        kind: ItemKind,
        key: Option<&str>,
        turn: Option<&str>,
        seq: i64,
        ts: f64,
    ) -> usize {
        let parts: [&[u8]; 3] = [self.session_id.as_bytes(), &seq.to_le_bytes(), kind.as_str().as_bytes()];
        let item = Item {
            no: 0,
            item_id: ids::derived(ids::ITEM, ts, &parts),
            turn_id: turn.map(str::to_owned),
            kind,
            key: key.map(str::to_owned),
            title: None,
            tool_kind: None,
            status: None,
            text_bytes: 0,
            open: true,
            first_seq: seq,
            last_seq: seq,
            started_at: ts,
            ended_at: None,
        };
        let slot =
            Slot { item, body: Some(Map::new()), added: String::new(), changed: true, body_changed: true };
        self.slots.push(slot);
        self.slots.len() - 1
    }

    /// The item, to be changed by the event `seq`.
    pub(super) fn touch(&mut self, at: usize, seq: i64) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(at)?;
        slot.item.last_seq = slot.item.last_seq.max(seq);
        slot.changed = true;
        Some(slot)
    }

    /// The body of an item, to be changed.
    pub(super) fn body(&mut self, at: usize) -> rusqlite::Result<Option<&mut Map<String, Value>>> {
        let Some(slot) = self.slots.get_mut(at) else { return Ok(None) };
        if slot.body.is_none() {
            let mut query = self.db.prepare_cached("SELECT body FROM items WHERE no = ?1")?;
            let text: String = query.query_row([slot.item.no], |row| row.get(0))?;
            slot.body = Some(serde_json::from_str(&text).unwrap_or_default());
        }
        slot.changed = true;
        slot.body_changed = true;
        Ok(slot.body.as_mut())
    }

    /// Brings everything to the database.
    pub(in crate::agents) fn store(&mut self) -> rusqlite::Result<()> {
        for slot in self.slots.iter_mut().filter(|slot| slot.changed) {
            if slot.item.kind == ItemKind::ToolCall && slot.body_changed {
                let text = slot.body.as_ref().map(tool::text).unwrap_or_default();
                slot.item.text_bytes = i64::try_from(text.len()).unwrap_or(i64::MAX);
                slot.save(self.db, self.session)?;
                self.db
                    .prepare_cached("UPDATE items SET text = ?2 WHERE no = ?1")?
                    .execute(params![slot.item.no, text])?;
            } else {
                slot.save(self.db, self.session)?;
            }
            if !slot.item.open {
                slot.settle(self.db)?;
            }
        }
        for (terminal_id, terminal) in &self.terminals {
            terminal::store(self.db, self.session, terminal_id, terminal)?;
        }
        Ok(())
    }
}

impl Slot {
    fn stored(item: Item) -> Self {
        Self { item, body: None, added: String::new(), changed: false, body_changed: false }
    }

    /// Puts text behind what is there, as far as there is room; whether all of it found room.
    pub(super) fn add(&mut self, text: &str) -> bool {
        let held = usize::try_from(self.item.text_bytes).unwrap_or(usize::MAX);
        let room = MOST_TEXT.saturating_sub(held);
        let kept = cut::head(text, room);
        self.added.push_str(kept);
        self.item.text_bytes += i64::try_from(kept.len()).unwrap_or(0);
        kept.len() == text.len()
    }

    /// Nothing more is expected.
    pub(super) fn close(&mut self, ts: f64) {
        self.item.open = false;
        self.item.ended_at = Some(ts);
        self.changed = true;
    }

    /// More came after all.
    pub(super) fn reopen(&mut self) {
        self.item.open = true;
        self.item.ended_at = None;
        self.changed = true;
    }

    fn save(&mut self, db: &Connection, session: i64) -> rusqlite::Result<()> {
        let item = &self.item;
        // Text keys and JSON values: writing them to memory cannot fail.
        let body = self
            .body
            .as_ref()
            .filter(|_| self.body_changed)
            .map(|body| Value::Object(body.clone()).to_string());
        if item.no == 0 {
            db.prepare_cached(
                "INSERT INTO items (item_id, session, turn_id, kind, key, title, tool_kind, status, text_bytes, body, open,
                    first_seq, last_seq, started_at, ended_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                item.item_id, session, item.turn_id, item.kind.as_str(), item.key, item.title, item.tool_kind,
                item.status, item.text_bytes, body.unwrap_or_else(|| "{}".to_owned()), item.open, item.first_seq,
                item.last_seq, item.started_at, item.ended_at,
            ])?;
            self.item.no = db.last_insert_rowid();
        } else {
            db.prepare_cached(
                "UPDATE items SET title = ?2, tool_kind = ?3, status = ?4, text_bytes = ?5, body = coalesce(?6, body),
                    open = ?7, last_seq = ?8, ended_at = ?9 WHERE no = ?1",
            )?
            .execute(params![
                item.no, item.title, item.tool_kind, item.status, item.text_bytes, body, item.open, item.last_seq,
                item.ended_at,
            ])?;
        }
        if !self.added.is_empty() {
            db.prepare_cached("INSERT INTO item_parts (item, part, text) VALUES (?1, ?2, ?3)")?
                .execute(params![self.item.no, self.item.last_seq, self.added])?;
        }
        Ok(())
    }

    /// Puts the pieces of a closed item together and makes its words findable.
    fn settle(&self, db: &Connection) -> rusqlite::Result<()> {
        let no = self.item.no;
        if self.item.text_bytes > MOST_JOINED {
            return search::index(db, no);
        }
        db.prepare_cached(
            "UPDATE items SET text = text || (SELECT group_concat(text, '' ORDER BY part) FROM item_parts WHERE item = ?1)
             WHERE no = ?1 AND EXISTS (SELECT 1 FROM item_parts WHERE item = ?1)",
        )?
        .execute([no])?;
        db.prepare_cached("DELETE FROM item_parts WHERE item = ?1")?.execute([no])?;
        search::index(db, no)
    }
}
