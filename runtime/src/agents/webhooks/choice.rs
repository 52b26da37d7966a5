//! Which events a webhook wants.

use serde_json::{Map, Value};

/// Kinds that come by the thousand: only who names them gets them.
const FLOODS: [&str; 2] = ["message.chunk", "terminal.output"];

/// The kinds and the filter of a webhook.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// Kinds; `turn.*` is every kind of turns, `*` every kind but floods.
    pub kinds: Vec<String>,
    /// Only events of this agent.
    pub agent_id: Option<String>,
    /// Only events of this session.
    pub session_id: Option<String>,
    /// Only events of sessions with this label.
    pub label: Option<(String, String)>,
}

/// What is known of an event.
#[derive(Debug, Clone, Copy)]
pub struct About<'e> {
    /// Its kind.
    pub kind: &'e str,
    /// Its session.
    pub session_id: &'e str,
    /// The agent of the session.
    pub agent_id: &'e str,
    /// The labels of the session.
    pub labels: &'e Map<String, Value>,
}

impl Choice {
    /// Reads kinds and filter.
    ///
    /// # Errors
    /// What is wrong, as a caller is told.
    pub fn read(kinds: Vec<String>, filter: Option<&Map<String, Value>>) -> Result<Self, String> {
        if kinds.is_empty() {
            return Err("kinds must name at least one kind of event".to_owned());
        }
        if let Some(bad) = kinds.iter().find(|kind| !is_kind(kind)) {
            return Err(format!("`{bad}` is no kind of event, `*`, or a family such as `turn.*`"));
        }
        let mut choice = Self { kinds, ..Self::default() };
        for (name, value) in filter.into_iter().flatten() {
            let text = value.as_str().ok_or_else(|| format!("filter.{name} must be a string"))?;
            match name.as_str() {
                "agent_id" => choice.agent_id = Some(text.to_owned()),
                "session_id" => choice.session_id = Some(text.to_owned()),
                "label" => {
                    let (key, value) =
                        text.split_once(':').ok_or("filter.label must be written as key:value")?;
                    choice.label = Some((key.to_owned(), value.to_owned()));
                }
                _ => return Err(format!("filter has no `{name}`")),
            }
        }
        Ok(choice)
    }

    /// The filter as it was given.
    #[must_use]
    pub fn filter(&self) -> Map<String, Value> {
        let label = self.label.as_ref().map(|(key, value)| format!("{key}:{value}"));
        let parts = [("agent_id", &self.agent_id), ("session_id", &self.session_id), ("label", &label)];
        let given =
            parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into())));
        given.collect()
    }

    /// Whether the event is wanted.
    #[must_use]
    pub fn wants(&self, event: About<'_>) -> bool {
        let kind = |wanted: &String| match wanted.strip_suffix('*') {
            Some(family) => event.kind.starts_with(family) && !FLOODS.contains(&event.kind),
            None => wanted == event.kind,
        };
        let is = |wanted: &Option<String>, own: &str| wanted.as_deref().is_none_or(|wanted| wanted == own);
        let label = self
            .label
            .as_ref()
            .is_none_or(|(key, value)| event.labels.get(key).and_then(Value::as_str) == Some(value.as_str()));
        self.kinds.iter().any(kind)
            && is(&self.agent_id, event.agent_id)
            && is(&self.session_id, event.session_id)
            && label
    }

    /// Whether it wants a kind that comes by the thousand.
    #[must_use]
    pub fn wants_floods(&self) -> bool {
        self.kinds.iter().any(|kind| FLOODS.contains(&kind.as_str()))
    }
}

/// `*`, `family.*`, or lower-case words joined by dots and underscores.
fn is_kind(text: &str) -> bool {
    let words = text.strip_suffix(".*").unwrap_or(text);
    text == "*"
        || (!words.is_empty()
            && words.len() <= 64
            && words.split('.').all(|word| {
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_and_filter_choose_events() {
        let labels = json!({"team": "red"});
        let labels = labels.as_object().unwrap();
        let about = |kind| About { kind, session_id: "ses_1", agent_id: "codex", labels };
        let choice = |kinds: &[&str], filter: Value| {
            Choice::read(kinds.iter().map(|kind| (*kind).to_owned()).collect(), filter.as_object()).unwrap()
        };
        for (kinds, filter, kind, wanted) in [
            (vec!["*"], json!({}), "turn.completed", true),
            (vec!["*"], json!({}), "message.chunk", false),
            (vec!["message.*"], json!({}), "message.chunk", false),
            (vec!["message.chunk"], json!({}), "message.chunk", true),
            (vec!["turn.*"], json!({}), "turn.failed", true),
            (vec!["turn.*"], json!({}), "turning.failed", false),
            (vec!["turn.failed", "ext"], json!({}), "ext", true),
            (
                vec!["ext"],
                json!({"agent_id": "codex", "session_id": "ses_1", "label": "team:red"}),
                "ext",
                true,
            ),
            (vec!["ext"], json!({"agent_id": "claude"}), "ext", false),
            (vec!["ext"], json!({"session_id": "ses_2"}), "ext", false),
            (vec!["ext"], json!({"label": "team:blue"}), "ext", false),
            (vec!["ext"], json!({"label": "none:red"}), "ext", false),
        ] {
            let choice = choice(&kinds, filter.clone());
            assert_eq!(choice.wants(about(kind)), wanted, "{kinds:?} {filter} {kind}");
            assert_eq!(&choice.filter(), filter.as_object().unwrap());
        }
    }

    #[test]
    fn what_is_no_choice_is_refused() {
        for (kinds, filter) in [
            (vec![], json!({})),
            (vec!["Turn.failed"], json!({})),
            (vec!["tur*"], json!({})),
            (vec!["turn..x"], json!({})),
            (vec![""], json!({})),
            (vec!["ext"], json!({"colour": "red"})),
            (vec!["ext"], json!({"label": "red"})),
            (vec!["ext"], json!({"agent_id": 5})),
        ] {
            let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
            assert!(Choice::read(kinds.clone(), filter.as_object()).is_err(), "{kinds:?} {filter}");
        }
    }
}
