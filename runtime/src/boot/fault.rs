//! Why the server did not start.

use crate::cli::Exit;
use policy_lang::diag::harmless;
use std::fmt;

/// One message, perhaps with what to do about it.
#[derive(Debug)]
pub struct Fault {
    message: String,
    help: Option<String>,
    findings: String,
    exit: Exit,
}

impl Fault {
    /// The machine or the policy does not allow it: exit status 1.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, findings: String::new(), exit: Exit::Failure }
    }

    /// A flag is wrong: exit status 2.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, findings: String::new(), exit: Exit::Usage }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What was found in a policy, as people read it; whoever tells the message shows it before.
    #[must_use]
    pub fn with_findings(mut self, findings: String) -> Self {
        self.findings = findings;
        self
    }

    /// What was found in a policy, as people read it; empty where the fault lies elsewhere.
    #[must_use]
    pub fn findings(&self) -> &str {
        &self.findings
    }

    /// What is wrong, without what to do about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The exit status.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Fault {
    /// Parts of it are names that whoever wrote the policy chose.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", harmless(&self.message))?;
        self.help.iter().try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}
