//! The agents, a row each: where one comes from, what points it at the scripted model, and what it cannot do.
//!
//! What a row says it cannot do is left out of its run, for the reason that stands beside it; everything else is done by
//! all alike, and what came of it stands in `<id>.txt`, so that an update that changes an agent is seen.

/// Where an agent comes from.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Installed through the catalogue, in this version.
    Catalogue(&'static str),
    /// A script of a package that is installed beside it; Node runs it.
    Script(&'static str),
}

/// An agent.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name in the catalogue.
    pub id: &'static str,
    pub source: Source,
    /// Whether it is run only where all are asked for.
    pub by_flag: bool,
    /// What it is given, by name; `{model}` stands for where the model listens.
    pub credentials: &'static [(&'static str, &'static str)],
    /// Files in its home, in the same way.
    pub home: &'static [(&'static str, &'static str)],
    /// Options that its sessions are opened with.
    pub options: &'static [(&'static str, &'static str)],
    /// Steps of the contract that it cannot do, and why.
    pub cannot: &'static [(&'static str, &'static str)],
}

/// The key that every agent is given, and the model must see.
pub const KEY: &str = "no-real-key";

const OPENCODE: &str = r#"{
  "provider": {"scripted": {
    "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "{model}/v1", "apiKey": "no-real-key"},
    "models": {"m": {"cost": {"input": 1, "output": 2}, "limit": {"context": 100000, "output": 1000}}}
  }},
  "model": "scripted/m", "small_model": "scripted/m", "permission": {"edit": "ask", "bash": "ask"},
  "autoupdate": false, "share": "disabled"
}"#;

/// In a folder that it does not trust it has one mode.
const GEMINI: &str = r#"{"security": {"folderTrust": {"enabled": false}}}"#;

const CODEX: &str = r#"
model = "scripted"
model_provider = "scripted"
sandbox_mode = "danger-full-access"
approval_policy = "on-request"

[model_providers.scripted]
name = "Scripted"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "CODEX_API_KEY"
"#;

pub const ROWS: &[Row] = &[
    Row {
        id: "example",
        source: Source::Script("node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"),
        by_flag: false,
        credentials: &[],
        home: &[],
        options: &[],
        cannot: &[
            ("model", "its words are a script of its own"),
            ("write", "its edits are a script, and nothing is written"),
            ("mode", "it offers no options"),
        ],
    },
    Row {
        id: "opencode",
        source: Source::Catalogue("1.18.33"),
        by_flag: false,
        credentials: &[("OPENCODE_CONFIG_CONTENT", OPENCODE), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
        home: &[],
        options: &[],
        cannot: &[],
    },
    Row {
        id: "qwen",
        source: Source::Catalogue("0.15.10"),
        by_flag: false,
        credentials: &[
            ("OPENAI_API_KEY", KEY),
            ("OPENAI_BASE_URL", "{model}/v1"),
            ("OPENAI_MODEL", "scripted-model"),
        ],
        home: &[],
        options: &[],
        cannot: &[],
    },
    Row {
        id: "claude",
        source: Source::Catalogue("0.49.0"),
        by_flag: true,
        credentials: &[("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", "{model}")],
        home: &[],
        options: &[],
        cannot: &[],
    },
    Row {
        id: "gemini",
        source: Source::Catalogue("0.61.0"),
        by_flag: true,
        credentials: &[("GEMINI_API_KEY", KEY), ("GOOGLE_GEMINI_BASE_URL", "{model}")],
        home: &[(".gemini/settings.json", GEMINI)],
        options: &[],
        cannot: &[],
    },
    Row {
        id: "codex",
        source: Source::Catalogue("2.6.0"),
        by_flag: true,
        credentials: &[("CODEX_API_KEY", KEY)],
        home: &[(".codex/config.toml", CODEX)],
        // Where it may write it asks nobody.
        options: &[("mode", "read-only")],
        cannot: &[],
    },
];

impl Row {
    /// Whether it can do a step.
    pub fn can(&self, step: &str) -> bool {
        self.cannot.iter().all(|(cannot, _)| *cannot != step)
    }
}
