//! What a session keeps about itself beside the columns that lists are made by.

use super::budget::{Budget, Spent};
use crate::agents::rules::PermissionPolicy;
use crate::agents::store::sessions::SessionRow;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where the agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In the directory itself.
    #[default]
    None,
    /// In a working tree of its own, of the repository that the directory is in.
    Worktree,
}

/// How a conversation has been carried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuity {
    /// The agent has been there all the time.
    Live,
    /// The agent remembers by itself.
    Native,
    /// It was told a digest.
    Digest,
}

/// The details of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// What is decided without a person.
    pub policy: PermissionPolicy,
    /// What may be used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// What has been.
    pub spent: Spent,
    /// What the agent lets a caller choose, as it told.
    pub options: Value,
    /// What callers have chosen, by option or category: chosen again whenever the agent starts anew.
    pub desired: Map<String, Value>,
    /// `agentCapabilities` of the last handshake.
    pub capabilities: Value,
    /// Whether a running turn can be steered.
    pub steers: bool,
    /// Further directories of the conversation.
    pub additional_directories: Vec<String>,
    /// MCP servers: names, or whole definitions. The defaults of the store where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Vec<Value>>,
    /// Skills by name. Those that are meant for the agent where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Where it works.
    pub isolation: Isolation,
    /// The directory that was asked for, where it works in a tree of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Whether every frame is kept.
    pub trace: bool,
    /// Whether waiting turns are held back.
    pub queue_paused: bool,
    /// How it was last carried on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuity: Option<Continuity>,
    /// The process that serves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_id: Option<String>,
    /// Every process that has served it: their logs go when it does.
    pub processes: Vec<String>,
    /// What goes before the next prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Why its agent did not come up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// Whether it is left out of lists once it is closed.
    pub ephemeral: bool,
}

impl Details {
    /// Of a stored session. What cannot be read is as in a new session.
    #[must_use]
    pub fn of(row: &SessionRow) -> Self {
        serde_json::from_value(Value::Object(row.details.clone())).unwrap_or_default()
    }

    /// As they are stored.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }

    /// The best way in which a conversation can be carried on by an agent that is not there: `resume`, `load`, `digest`.
    #[must_use]
    pub fn resumable(&self, native_session_id: Option<&str>) -> &'static str {
        let can = |pointer: &str| match self.capabilities.pointer(pointer) {
            Some(Value::Bool(yes)) => *yes,
            Some(Value::Object(_)) => true,
            _ => false,
        };
        match native_session_id {
            Some(_) if can("/sessionCapabilities/resume") => "resume",
            Some(_) if can("/loadSession") => "load",
            _ => "digest",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Details, SessionRow};
    use serde_json::json;

    #[test]
    fn details_come_back_as_they_were_stored() {
        let details = Details { trace: true, digest: Some("x".into()), ..Details::default() };
        let row = SessionRow { details: details.to_map(), ..SessionRow::default() };
        assert_eq!(Details::of(&row), details);
    }

    #[test]
    fn the_best_way_to_go_on() {
        let of = |capabilities, native| Details { capabilities, ..Details::default() }.resumable(native);
        let both = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
        assert_eq!(of(both.clone(), Some("n")), "resume");
        assert_eq!(of(both, None), "digest");
        assert_eq!(of(json!({"loadSession": true}), Some("n")), "load");
        assert_eq!(of(json!({"loadSession": false}), Some("n")), "digest");
    }
}
