//! The agent's to-do list: read from `plan` updates, or from the input of a to-do tool where the agent only has that.

pub mod rows;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What is to be done.
    pub content: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
}

/// Where a plan was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A `plan` update.
    Plan,
    /// The input of a to-do tool.
    TodoTool,
}

/// One version of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Every entry: a plan replaces the one before it.
    pub entries: Vec<Entry>,
    /// Where it was read.
    pub source: Source,
    /// When, in epoch seconds.
    pub updated_at: f64,
}

/// How far a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Progress {
    /// Entries that are completed.
    pub done: usize,
    /// All entries.
    pub total: usize,
}

impl Plan {
    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let done = self.entries.iter().filter(|entry| entry.status == "completed").count();
        Progress { done, total: self.entries.len() }
    }
}

/// The entries of an update of the kind `plan`.
#[must_use]
pub fn of_update(update: &Value) -> Option<Vec<Entry>> {
    entries(update.get("entries")?)
}

/// The entries of a tool call, where its input is a to-do list.
#[must_use]
pub fn of_tool_call(call: &Value) -> Option<Vec<Entry>> {
    let input = call.get("rawInput")?;
    let listed =
        input.get("todos").filter(|list| list.as_array().is_some_and(|list| list.iter().all(is_entry)))?;
    entries(listed)
}

fn is_entry(entry: &Value) -> bool {
    entry.get("content").is_some_and(Value::is_string) && entry.get("status").is_some_and(Value::is_string)
}

fn entries(listed: &Value) -> Option<Vec<Entry>> {
    let text = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let read = |entry: &Value| {
        let priority =
            text(entry, "priority").filter(|word| matches!(word.as_str(), "high" | "medium" | "low"));
        let status = match entry.get("status").and_then(Value::as_str) {
            Some("in_progress") => "in_progress",
            // What was given up is no longer to be done.
            Some("completed" | "cancelled") => "completed",
            _ => "pending",
        };
        Some(Entry {
            content: text(entry, "content")?,
            priority: priority.unwrap_or_else(|| "medium".to_owned()),
            status: status.to_owned(),
        })
    };
    Some(listed.as_array()?.iter().filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::{Entry, Plan, Progress, Source, of_tool_call, of_update};
    use serde_json::json;

    fn entry(content: &str, priority: &str, status: &str) -> Entry {
        Entry { content: content.into(), priority: priority.into(), status: status.into() }
    }

    #[test]
    fn a_plan_update() {
        let update = json!({"sessionUpdate": "plan", "entries": [
            {"content": "a", "priority": "high", "status": "completed"},
            {"content": "b", "priority": "urgent", "status": "started"},
            {"priority": "low"},
        ]});
        let entries = of_update(&update).unwrap();
        assert_eq!(entries, [entry("a", "high", "completed"), entry("b", "medium", "pending")]);
        let plan = Plan { entries, source: Source::Plan, updated_at: 0.0 };
        assert_eq!(plan.progress(), Progress { done: 1, total: 2 });
    }

    #[test]
    fn a_to_do_tool() {
        let call = json!({"toolCallId": "1", "title": "todowrite", "rawInput": {"todos": [
            {"id": "1", "content": "a", "status": "in_progress", "activeForm": "doing a"},
            {"id": "2", "content": "b", "status": "cancelled", "priority": "low"},
        ]}});
        assert_eq!(
            of_tool_call(&call).unwrap(),
            [entry("a", "medium", "in_progress"), entry("b", "low", "completed")]
        );
        for other in
            [json!({}), json!({"rawInput": {"todos": "x"}}), json!({"rawInput": {"todos": [{"id": 1}]}})]
        {
            assert_eq!(of_tool_call(&other), None, "{other}");
        }
    }
}
