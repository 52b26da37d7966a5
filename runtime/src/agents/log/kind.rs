//! Every kind of event.

use serde::{Serialize, Serializer};

macro_rules! kinds {
    ($( $variant:ident = $name:literal; )*) => {
        /// What an event says.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind { $( #[doc = concat!("`", $name, "`")] $variant, )* }

        impl Kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )* ];

            /// The name that clients see.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// The kind of this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $( $name => Some(Self::$variant), )* _ => None }
            }
        }
    };
}

kinds! {
    SessionCreated = "session.created";
    SessionUpdated = "session.updated";
    SessionState = "session.state";
    SessionClosed = "session.closed";
    SessionResumed = "session.resumed";
    SessionForked = "session.forked";
    TurnQueued = "turn.queued";
    TurnStarted = "turn.started";
    TurnCompleted = "turn.completed";
    TurnCancelled = "turn.cancelled";
    TurnFailed = "turn.failed";
    TurnInterrupted = "turn.interrupted";
    MessageChunk = "message.chunk";
    MessageCompleted = "message.completed";
    ToolCallCreated = "tool_call.created";
    ToolCallUpdated = "tool_call.updated";
    PlanUpdated = "plan.updated";
    PermissionRequested = "permission.requested";
    PermissionResolved = "permission.resolved";
    QuestionAsked = "question.asked";
    QuestionResolved = "question.resolved";
    QuestionCompleted = "question.completed";
    OptionsUpdated = "options.updated";
    CommandsUpdated = "commands.updated";
    UsageUpdated = "usage.updated";
    TerminalOutput = "terminal.output";
    TerminalExited = "terminal.exited";
    FileWritten = "file.written";
    CheckpointCreated = "checkpoint.created";
    CheckpointRestored = "checkpoint.restored";
    ArtifactCreated = "artifact.created";
    ProcessStarted = "process.started";
    ProcessExited = "process.exited";
    ProcessNoise = "process.noise";
    BudgetWarning = "budget.warning";
    BudgetExceeded = "budget.exceeded";
    Ext = "ext";
}

impl Kind {
    /// Whether a turn is over with it.
    #[must_use]
    pub fn ends_turn(self) -> bool {
        matches!(self, Self::TurnCompleted | Self::TurnCancelled | Self::TurnFailed | Self::TurnInterrupted)
    }

    /// Whether it comes in floods, a piece of something at a time: followers of all sessions get it only when asked.
    #[must_use]
    pub fn is_chunk(self) -> bool {
        matches!(self, Self::MessageChunk | Self::TerminalOutput)
    }

    /// The kinds that `text` names: kinds and families (`turn`, `turn.*`), separated by commas.
    ///
    /// # Errors
    /// The first name that is none.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, &str> {
        let mut kinds = Vec::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let family = name.strip_suffix(".*").unwrap_or(name);
            let before = kinds.len();
            let named = |kind: &&Self| {
                kind.as_str() == name
                    || kind.as_str().split_once('.').is_some_and(|(first, _)| first == family)
            };
            kinds.extend(Self::ALL.iter().filter(named));
            if kinds.len() == before {
                return Err(name);
            }
        }
        kinds.sort_unstable();
        kinds.dedup();
        Ok(kinds)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn names_lead_back() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.as_str()), Some(*kind));
        }
    }

    #[test]
    fn lists_take_kinds_and_families() {
        let kinds = Kind::parse_list("tool_call, question.*,ext,message.chunk").unwrap();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let wanted = [
            "message.chunk",
            "tool_call.created",
            "tool_call.updated",
            "question.asked",
            "question.resolved",
            "question.completed",
            "ext",
        ];
        assert_eq!(names, wanted);
        assert_eq!(Kind::parse_list("turn,turns"), Err("turns"));
        assert_eq!(Kind::parse_list("*"), Err("*"));
    }
}
