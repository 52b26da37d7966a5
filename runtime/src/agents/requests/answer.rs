//! What an agent is answered to a request for leave: which of its own options a decision stands for.

use super::super::rules::{Decision, Match, Scope, Subject};
use serde_json::{Value, json};

/// What somebody decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Let it, this once.
    Allow,
    /// Do not.
    Reject,
    /// Exactly this of the agent's options.
    Option(String),
}

/// What the agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// One of its options; none where it has none that fits and the request is cancelled instead.
    pub option_id: Option<String>,
    /// Whether that lets the call happen.
    pub allows: bool,
}

/// No option fits: what was asked for must not be widened into an option that allows more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidOption;

/// Chooses among the agent's options. `allow` is only ever an option for once; `reject` the mildest that there is.
///
/// # Errors
/// The option named is none, or there is none that allows just once.
pub fn choose(options: &[Value], wanted: &Wanted) -> Result<Chosen, InvalidOption> {
    let text = |option: &Value, name: &str| option.get(name).and_then(Value::as_str).map(str::to_owned);
    let of_kind = |kind: &str| {
        let option = options.iter().find(|option| text(option, "kind").as_deref() == Some(kind))?;
        text(option, "optionId")
    };
    match wanted {
        Wanted::Allow => {
            of_kind("allow_once").map(|id| Chosen { option_id: Some(id), allows: true }).ok_or(InvalidOption)
        }
        Wanted::Reject => {
            let option_id = of_kind("reject_once").or_else(|| of_kind("reject_always"));
            Ok(Chosen { option_id, allows: false })
        }
        Wanted::Option(id) => {
            let option = options.iter().find(|option| text(option, "optionId").as_deref() == Some(id));
            let kind = option.and_then(|option| text(option, "kind")).unwrap_or_default();
            match option {
                Some(_) => Ok(Chosen { option_id: Some(id.clone()), allows: kind.starts_with("allow") }),
                None => Err(InvalidOption),
            }
        }
    }
}

impl Chosen {
    /// The answer on the wire.
    #[must_use]
    pub fn to_wire(&self) -> Value {
        match &self.option_id {
            Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
            None => cancelled(),
        }
    }
}

/// The answer to a request for leave that nobody decides any more.
#[must_use]
pub fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// The options as callers see them.
#[must_use]
pub fn views(options: &[Value]) -> Vec<Value> {
    let view = |option: &Value| json!({"option_id": option.get("optionId"), "name": option.get("name"), "kind": option.get("kind")});
    options.iter().map(view).collect()
}

/// The rule that remembers a decision about a call, where its caller does not say which calls it means: the same kind
/// of tool with the very same command, or else title.
#[must_use]
pub fn same_call(subject: &Subject) -> Match {
    let exact = |text: &str| Some(globset::escape(text));
    Match {
        tool_kind: Some(subject.tool_kind.clone()),
        command_glob: subject.command.as_deref().and_then(exact),
        title_glob: if subject.command.is_some() { None } else { exact(&subject.title) },
        path_glob: None,
    }
}

/// What a decision that is to be remembered says from now on.
#[must_use]
pub fn remembered(allows: bool) -> Decision {
    if allows { Decision::Allow } else { Decision::Reject }
}

/// Whether a scope is no wider than one session.
#[must_use]
pub fn is_of_session(scope: &Scope, session_id: &str) -> bool {
    scope.session_id.as_deref() == Some(session_id)
}

#[cfg(test)]
mod tests {
    use super::{Chosen, InvalidOption, Wanted, cancelled, choose, same_call};
    use crate::agents::rules::{Match, Subject};
    use serde_json::{Value, json};

    fn options(kinds: &[&str]) -> Vec<Value> {
        kinds.iter().map(|kind| json!({"optionId": format!("o-{kind}"), "name": "x", "kind": kind})).collect()
    }

    #[test]
    fn decisions_become_options() {
        let all = options(&["allow_always", "allow_once", "reject_always", "reject_once"]);
        let chosen = |id: &str, allows| Ok(Chosen { option_id: Some(id.into()), allows });
        assert_eq!(choose(&all, &Wanted::Allow), chosen("o-allow_once", true));
        assert_eq!(choose(&all, &Wanted::Reject), chosen("o-reject_once", false));
        assert_eq!(choose(&all, &Wanted::Option("o-allow_always".into())), chosen("o-allow_always", true));
        assert_eq!(choose(&all, &Wanted::Option("allow_always".into())), Err(InvalidOption));
        assert_eq!(choose(&options(&["allow_always"]), &Wanted::Allow), Err(InvalidOption));
        assert_eq!(choose(&options(&["reject_always"]), &Wanted::Reject), chosen("o-reject_always", false));
        let none = choose(&[], &Wanted::Reject).unwrap();
        assert_eq!((none.allows, none.to_wire()), (false, cancelled()));
    }

    #[test]
    fn the_same_call_is_no_pattern() {
        let subject = Subject {
            tool_kind: "execute".into(),
            title: "Run".into(),
            command: Some("ls *".into()),
            paths: Vec::new(),
        };
        let exact = Match {
            tool_kind: Some("execute".into()),
            command_glob: Some("ls [*]".into()),
            ..Match::default()
        };
        assert_eq!(same_call(&subject), exact);
        let by_title = same_call(&Subject { command: None, ..subject });
        assert_eq!((by_title.title_glob.as_deref(), by_title.command_glob), (Some("Run"), None));
    }
}
