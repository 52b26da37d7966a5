//! What an agent says of itself: the result of `initialize`, kept as it came.

use super::Recipe;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The version of the protocol that is spoken.
const VERSION: i64 = 1;

/// A handshake that has been done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handshake {
    /// When, in seconds since 1970.
    pub at: f64,
    /// How long it took, from the start of the process, in milliseconds.
    pub ms: u64,
    /// The agent's answer, untouched.
    pub result: Value,
}

impl Handshake {
    /// What `initialize` is asked with.
    #[must_use]
    pub fn offer(recipe: &Recipe) -> Value {
        let capabilities = json!({
            "fs": {"readTextFile": recipe.client_fs, "writeTextFile": recipe.client_fs},
            "terminal": recipe.client_terminal,
            "session": {"configOptions": {"boolean": {}}},
            "auth": {"terminal": true},
            "elicitation": {"form": {}, "url": {}},
            // What older agents look for before they offer to sign in by terminal.
            "_meta": {"terminal-auth": true},
        });
        json!({
            "protocolVersion": VERSION,
            "clientCapabilities": capabilities,
            "clientInfo": {
                "name": "agent-sandbox-server",
                "title": "Agent sandbox server",
                "version": env!("CARGO_PKG_VERSION"),
            },
        })
    }

    /// What is wrong with an answer.
    ///
    /// # Errors
    /// In words, where no other message may follow it.
    pub fn check(result: &Value) -> Result<(), String> {
        match result.get("protocolVersion") {
            Some(version) if version.as_i64() == Some(VERSION) => Ok(()),
            Some(version) => {
                Err(format!("the agent speaks version {version} of the protocol, not {VERSION}"))
            }
            None => Err("the answer to `initialize` names no version of the protocol".to_owned()),
        }
    }

    /// Whether the agent says that it can do what a JSON pointer into its answer names: `true`, or an object.
    #[must_use]
    pub fn has(&self, pointer: &str) -> bool {
        match self.result.pointer(pointer) {
            Some(Value::Bool(yes)) => *yes,
            Some(Value::Object(_)) => true,
            _ => false,
        }
    }

    /// Whether `session/<what>` may be called: `load`, `resume`, `list`, `close`, `delete`, `fork`.
    #[must_use]
    pub fn can(&self, what: &str) -> bool {
        match what {
            "load" => self.has("/agentCapabilities/loadSession"),
            what => self.has(&format!("/agentCapabilities/sessionCapabilities/{what}")),
        }
    }

    /// Whether prompts may hold blocks of this kind: `image`, `audio`, `embeddedContext`.
    #[must_use]
    pub fn prompts_with(&self, kind: &str) -> bool {
        self.has(&format!("/agentCapabilities/promptCapabilities/{kind}"))
    }

    /// Whether MCP servers may be reached by this transport: `http`, `sse`. By `stdio` always.
    #[must_use]
    pub fn takes_mcp(&self, transport: &str) -> bool {
        transport == "stdio" || self.has(&format!("/agentCapabilities/mcpCapabilities/{transport}"))
    }

    /// Whether a running prompt can be steered.
    #[must_use]
    pub fn steers(&self) -> bool {
        self.has("/_meta/steering/supported")
    }

    /// Whether it can be signed out.
    #[must_use]
    pub fn signs_out(&self) -> bool {
        self.has("/agentCapabilities/auth/logout")
    }

    /// Its ways of signing in, as it lists them.
    #[must_use]
    pub fn auth_methods(&self) -> &[Value] {
        self.result.get("authMethods").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Its own version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.result.pointer("/agentInfo/version").and_then(Value::as_str)
    }

    /// The answer as answers show it; what no list of ours has stands under `extensions`.
    #[must_use]
    pub fn shown(&self) -> Value {
        let known = ["protocolVersion", "agentCapabilities", "authMethods", "agentInfo"];
        let rest: Map<String, Value> = self
            .result
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| !known.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let member = |name: &str| self.result.get(name).cloned().unwrap_or_default();
        json!({
            "at": self.at,
            "ms": self.ms,
            "protocol_version": member("protocolVersion"),
            "agent_info": member("agentInfo"),
            "agent_capabilities": self.result.get("agentCapabilities").cloned().unwrap_or_else(|| json!({})),
            "auth_methods": self.auth_methods(),
            "extensions": rest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Handshake;
    use serde_json::json;

    fn of(result: serde_json::Value) -> Handshake {
        Handshake { at: 1.0, ms: 2, result }
    }

    #[test]
    fn abilities_are_read_from_what_is_said_and_nothing_else() {
        let some = of(json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": false},
                "mcpCapabilities": {"http": true},
                "sessionCapabilities": {"list": {}, "resume": null, "fork": {"x": 1}},
            },
            "_meta": {"steering": {"supported": true}},
        }));
        let can: Vec<_> =
            ["load", "resume", "list", "close", "delete", "fork"].map(|what| some.can(what)).into();
        assert_eq!(can, [true, false, true, false, false, true]);
        assert!(some.prompts_with("image") && !some.prompts_with("audio"));
        assert!(some.takes_mcp("stdio") && some.takes_mcp("http") && !some.takes_mcp("sse"));
        assert!(some.steers() && !some.signs_out());
        let none = of(json!({"protocolVersion": 1}));
        assert!(!none.can("load") && !none.steers() && none.auth_methods().is_empty());
    }

    #[test]
    fn only_version_1_is_a_handshake() {
        assert_eq!(Handshake::check(&json!({"protocolVersion": 1})), Ok(()));
        for bad in [json!({"protocolVersion": 2}), json!({}), json!(null), json!({"protocolVersion": "1"})] {
            assert!(Handshake::check(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_not_known_is_shown_apart() {
        let shown = of(json!({"protocolVersion": 1, "_meta": {"a": 1}, "agentInfo": {"name": "x"}})).shown();
        assert_eq!(
            shown,
            json!({
                "at": 1.0, "ms": 2, "protocol_version": 1, "agent_info": {"name": "x"},
                "agent_capabilities": {}, "auth_methods": [], "extensions": {"_meta": {"a": 1}},
            })
        );
    }
}
