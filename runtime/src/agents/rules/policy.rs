//! What a session decides by itself when its agent asks for leave, and for how long a person is waited for.

use super::matching::Decision;
use super::subject::Subject;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The decision where no rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Posture {
    /// A person is asked.
    #[default]
    Ask,
    /// Reading and searching is allowed; a person is asked about the rest.
    AllowReads,
    /// Reading, searching and editing is allowed; a person is asked about the rest.
    AllowEdits,
    /// Everything is allowed.
    AllowAll,
    /// Everything is rejected.
    DenyAll,
}

/// What happens when nobody has answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// The call is rejected and the turn goes on.
    #[default]
    Reject,
    /// The turn is cancelled.
    CancelTurn,
}

/// The `policy` of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionPolicy {
    /// The decision where no rule speaks.
    #[serde(default)]
    pub default: Posture,
    /// Seconds until an unanswered request expires; without limit where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    /// What happens then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

impl PermissionPolicy {
    /// Says what is wrong with it, in words.
    ///
    /// # Errors
    /// A time that is none.
    pub fn check(&self) -> Result<(), &'static str> {
        match self.timeout_seconds {
            Some(seconds) if Duration::try_from_secs_f64(seconds).is_err() || seconds <= 0.0 => {
                Err("policy.timeout_seconds must be a positive number")
            }
            _ => Ok(()),
        }
    }

    /// How long a request may stay open.
    #[must_use]
    pub fn patience(&self) -> Option<Duration> {
        self.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// What it says of a call by itself.
    #[must_use]
    pub fn decide(&self, subject: &Subject) -> Decision {
        let reads = matches!(subject.tool_kind.as_str(), "read" | "search" | "think");
        let allowed = match self.default {
            Posture::DenyAll => return Decision::Reject,
            Posture::Ask => false,
            Posture::AllowReads => reads,
            Posture::AllowEdits => reads || subject.tool_kind == "edit",
            Posture::AllowAll => true,
        };
        if allowed { Decision::Allow } else { Decision::Ask }
    }

    /// Whether an agent's own mode that never asks may be chosen under it.
    #[must_use]
    pub fn may_bypass(&self) -> bool {
        self.default == Posture::AllowAll
    }
}

impl Posture {
    /// As written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AllowReads => "allow_reads",
            Self::AllowEdits => "allow_edits",
            Self::AllowAll => "allow_all",
            Self::DenyAll => "deny_all",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, PermissionPolicy, Posture, Subject};
    use serde_json::json;

    #[test]
    fn kinds_by_default() {
        use Decision::{Allow, Ask, Reject};
        for (default, read, edit, execute) in [
            (Posture::Ask, Ask, Ask, Ask),
            (Posture::AllowReads, Allow, Ask, Ask),
            (Posture::AllowEdits, Allow, Allow, Ask),
            (Posture::AllowAll, Allow, Allow, Allow),
            (Posture::DenyAll, Reject, Reject, Reject),
        ] {
            let policy = PermissionPolicy { default, ..PermissionPolicy::default() };
            let of = |kind: &str| policy.decide(&Subject { tool_kind: kind.into(), ..Subject::default() });
            assert_eq!([of("read"), of("edit"), of("execute")], [read, edit, execute], "{default:?}");
        }
    }

    #[test]
    fn what_is_no_policy() {
        let read = serde_json::from_value::<PermissionPolicy>;
        for bad in [json!({"default": "yes"}), json!({"on_timeout": "wait"}), json!({"other": 1})] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
        for bad in [0.0, -1.0, 1e300] {
            assert!(read(json!({"timeout_seconds": bad})).unwrap().check().is_err(), "{bad}");
        }
        assert_eq!(read(json!({})).unwrap(), PermissionPolicy::default());
    }
}
