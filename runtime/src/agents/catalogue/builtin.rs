//! The agents that are known without anybody registering them.
//!
//! Each row is what its makers document as the way to speak the protocol on standard input and output.

use super::definition::{Definition, InstallSource, Origin};

/// A known agent.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its name in the catalogue.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    command: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// The variable that its key is usually given in; none where it signs in by itself.
    credential: Option<&'static str>,
    npm: Option<&'static str>,
    pypi: Option<&'static str>,
    node_min: Option<u32>,
    allow_rpc: &'static [&'static str],
}

const NONE: Builtin = Builtin {
    id: "",
    name: "",
    command: "",
    args: &[],
    env: &[],
    credential: None,
    npm: None,
    pypi: None,
    node_min: None,
    allow_rpc: &[],
};

/// All, by id.
pub const BUILTIN: &[Builtin] = &[
    Builtin {
        id: "claude",
        name: "Claude Code",
        command: "claude-agent-acp",
        // Without it the agent opens no session for root.
        env: &[("IS_SANDBOX", "1")],
        credential: Some("ANTHROPIC_API_KEY"),
        npm: Some("@agentclientprotocol/claude-agent-acp"),
        node_min: Some(20),
        ..NONE
    },
    Builtin {
        id: "codex",
        name: "Codex",
        command: "codex-acp",
        credential: Some("CODEX_API_KEY"),
        npm: Some("@agentclientprotocol/codex-acp"),
        allow_rpc: &["providers/list", "providers/set", "providers/disable"],
        ..NONE
    },
    Builtin {
        id: "copilot",
        name: "GitHub Copilot",
        command: "copilot",
        args: &["--acp"],
        npm: Some("@github/copilot"),
        node_min: Some(22),
        ..NONE
    },
    Builtin {
        id: "gemini",
        name: "Gemini CLI",
        command: "gemini",
        args: &["--acp"],
        credential: Some("GEMINI_API_KEY"),
        npm: Some("@google/gemini-cli"),
        node_min: Some(20),
        ..NONE
    },
    Builtin { id: "goose", name: "Goose", command: "goose", args: &["acp"], ..NONE },
    Builtin { id: "kimi", name: "Kimi CLI", command: "kimi", args: &["acp"], pypi: Some("kimi-cli"), ..NONE },
    Builtin {
        id: "opencode",
        name: "OpenCode",
        command: "opencode",
        args: &["acp"],
        npm: Some("opencode-ai"),
        ..NONE
    },
    Builtin {
        id: "qoder",
        name: "Qoder CLI",
        command: "qodercli",
        args: &["--acp"],
        npm: Some("@qoder-ai/qodercli"),
        node_min: Some(20),
        ..NONE
    },
    Builtin {
        id: "qwen",
        name: "Qwen Code",
        command: "qwen",
        args: &["--acp", "--auth-type=openai"],
        credential: Some("OPENAI_API_KEY"),
        npm: Some("@qwen-code/qwen-code"),
        node_min: Some(20),
        ..NONE
    },
];

impl Builtin {
    /// The known agent of this id.
    #[must_use]
    pub fn find(id: &str) -> Option<&'static Self> {
        BUILTIN.iter().find(|known| known.id == id)
    }

    /// Its launch recipe.
    #[must_use]
    pub fn definition(&self) -> Definition {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let install = InstallSource {
            npm: self.npm.map(str::to_owned),
            pypi: self.pypi.map(str::to_owned),
            archive: None,
        };
        Definition {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            kind: Origin::Builtin,
            command: self.command.to_owned(),
            args: texts(self.args),
            env: self.env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            credentials: self.credential.into_iter().map(str::to_owned).collect(),
            install: (install != InstallSource::default()).then_some(install),
            allow_rpc: texts(self.allow_rpc),
            node_min: self.node_min,
            ..Definition::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BUILTIN;

    #[test]
    fn known_agents_are_valid_and_in_order() {
        assert!(BUILTIN.is_sorted_by_key(|known| known.id));
        for known in BUILTIN {
            assert_eq!(known.definition().check(), Ok(()), "{}", known.id);
        }
    }
}
