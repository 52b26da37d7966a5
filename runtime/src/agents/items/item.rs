//! An item, without its text and its body: what is looked at to decide where an event belongs.

use rusqlite::Row;
use serde::{Serialize, Serializer};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// What was asked.
    UserMessage,
    /// What the agent said.
    AgentMessage,
    /// What it thought.
    Thought,
    /// What it did.
    ToolCall,
    /// What it means to do.
    Plan,
    /// What it asked.
    Question,
    /// What it wanted to be allowed.
    Permission,
}

impl ItemKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::UserMessage,
        Self::AgentMessage,
        Self::Thought,
        Self::ToolCall,
        Self::Plan,
        Self::Question,
        Self::Permission,
    ];

    /// The name that clients see.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UserMessage => "user_message",
            Self::AgentMessage => "agent_message",
            Self::Thought => "thought",
            Self::ToolCall => "tool_call",
            Self::Plan => "plan",
            Self::Question => "question",
            Self::Permission => "permission",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The kinds that `text` names, separated by commas.
    ///
    /// # Errors
    /// The first name that is none.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, &str> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(|name| Self::from_name(name).ok_or(name)).collect()
    }

    /// The kind of a message by this role.
    #[must_use]
    pub fn of_role(role: &str) -> Option<Self> {
        match role {
            "user" => Some(Self::UserMessage),
            "agent" => Some(Self::AgentMessage),
            "thought" => Some(Self::Thought),
            _ => None,
        }
    }

    /// The role of a message.
    #[must_use]
    pub fn role(self) -> Option<&'static str> {
        match self {
            Self::UserMessage => Some("user"),
            Self::AgentMessage => Some("agent"),
            Self::Thought => Some("thought"),
            _ => None,
        }
    }
}

impl Serialize for ItemKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The head of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its number; items of a session are listed by it. 0 before it is stored.
    pub no: i64,
    /// `itm_…`; unique in its session.
    pub item_id: String,
    /// Its turn.
    pub turn_id: Option<String>,
    /// What it is.
    pub kind: ItemKind,
    /// What joins events to it.
    pub key: Option<String>,
    /// One line.
    pub title: Option<String>,
    /// Of tool calls: `read`, `edit`, `execute`, …
    pub tool_kind: Option<String>,
    /// Of tool calls, questions and permissions.
    pub status: Option<String>,
    /// Length of its text.
    pub text_bytes: i64,
    /// Whether more may come.
    pub open: bool,
    /// The first event that it was made of.
    pub first_seq: i64,
    /// The last one.
    pub last_seq: i64,
    /// Epoch seconds.
    pub started_at: f64,
    /// Epoch seconds.
    pub ended_at: Option<f64>,
}

/// The columns that [`Item::read`] reads.
pub(super) const COLUMNS: &str = "items.no, items.item_id, items.turn_id, items.kind, items.key, items.title, items.tool_kind, \
    items.status, items.text_bytes, items.open, items.first_seq, items.last_seq, items.started_at, items.ended_at";

impl Item {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind: String = row.get(3)?;
        Ok(Self {
            no: row.get(0)?,
            item_id: row.get(1)?,
            turn_id: row.get(2)?,
            // Only we write kinds.
            kind: ItemKind::from_name(&kind).unwrap_or(ItemKind::AgentMessage),
            key: row.get(4)?,
            title: row.get(5)?,
            tool_kind: row.get(6)?,
            status: row.get(7)?,
            text_bytes: row.get(8)?,
            open: row.get(9)?,
            first_seq: row.get(10)?,
            last_seq: row.get(11)?,
            started_at: row.get(12)?,
            ended_at: row.get(13)?,
        })
    }
}
