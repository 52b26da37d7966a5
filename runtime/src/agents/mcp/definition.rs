//! One MCP server: how it is reached, and for whom.

use std::collections::BTreeMap;

use axum::http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// How it is reached.
    #[serde(flatten)]
    pub way: Way,
    /// Whom it is given to without being asked for.
    #[serde(default)]
    pub default_for: DefaultFor,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "lowercase")]
pub enum Way {
    /// A program that speaks on its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables and their values.
        env: BTreeMap<String, String>,
        /// Variables and the credentials that hold their values.
        env_from: BTreeMap<String, String>,
    },
    /// Streamable HTTP.
    Http(Remote),
    /// HTTP with server-sent events.
    Sse(Remote),
}

/// A server behind a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// Where.
    pub url: String,
    /// Headers and their values.
    pub headers: BTreeMap<String, String>,
    /// Headers and the credentials that hold their values.
    pub headers_from: BTreeMap<String, String>,
}

/// Agents and directories; empty lists fit nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DefaultFor {
    /// Names of agents.
    pub agents: Vec<String>,
    /// Directories; those below count.
    pub cwds: Vec<String>,
}

/// Whether `text` can name a server: letters, digits, `-`, `_`, at most 64.
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl Definition {
    /// Reads a definition from the members of a request; takes what it knows out of them.
    ///
    /// # Errors
    /// What is wrong, as a caller is told.
    pub fn read(body: &mut Map<String, Value>) -> Result<Self, String> {
        let command = take::<String>(body, "command", "a string")?;
        let url = take::<String>(body, "url", "a string")?;
        let transport = take::<String>(body, "transport", "a string")?;
        let maps = |body: &mut Map<String, Value>, name: &str| {
            take::<BTreeMap<String, String>>(body, name, "an object of strings")
                .map(Option::unwrap_or_default)
        };
        let (env, env_from) = (maps(body, "env")?, maps(body, "env_from")?);
        let (headers, headers_from) = (maps(body, "headers")?, maps(body, "headers_from")?);
        let args = take::<Vec<String>>(body, "args", "a list of strings")?;
        let default_for = take::<DefaultFor>(body, "default_for", "an object of agents and cwds")?;
        let way = match (command, url, transport.as_deref()) {
            (Some(command), None, None | Some("stdio")) => {
                if !headers.is_empty() || !headers_from.is_empty() {
                    return Err("headers belong to a server with a url".to_owned());
                }
                if command.is_empty()
                    || [&command].into_iter().chain(args.iter().flatten()).any(|word| word.contains('\0'))
                {
                    return Err("command must be a program, and no word of it may hold a NUL".to_owned());
                }
                Way::Stdio { command, args: args.unwrap_or_default(), env, env_from }
            }
            (None, Some(url), None | Some("http" | "sse")) => {
                if args.is_some() || !env.is_empty() || !env_from.is_empty() {
                    return Err("args and env belong to a server with a command".to_owned());
                }
                for (name, value) in &headers {
                    check_header(name, value)?;
                }
                headers_from.keys().try_for_each(|name| check_header(name, ""))?;
                let remote = Remote { url, headers, headers_from };
                if transport.as_deref() == Some("sse") { Way::Sse(remote) } else { Way::Http(remote) }
            }
            (Some(_), Some(_), _) | (None, None, _) => return Err("give either command or url".to_owned()),
            _ => return Err("transport must be stdio with a command, http or sse with a url".to_owned()),
        };
        Ok(Self { way, default_for: default_for.unwrap_or_default() })
    }

    /// Whether a session of this agent in this directory is given it without asking.
    #[must_use]
    pub fn is_default_for(&self, agent_id: &str, cwd: &str) -> bool {
        let below = |dir: &String| {
            let dir = dir.trim_end_matches('/');
            cwd.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let DefaultFor { agents, cwds } = &self.default_for;
        match (agents.is_empty(), cwds.is_empty()) {
            (true, true) => false,
            (false, true) => agents.iter().any(|agent| agent == agent_id),
            (true, false) => cwds.iter().any(below),
            (false, false) => agents.iter().any(|agent| agent == agent_id) && cwds.iter().any(below),
        }
    }

    /// `stdio`, `http` or `sse`.
    #[must_use]
    pub const fn transport(&self) -> &'static str {
        match self.way {
            Way::Stdio { .. } => "stdio",
            Way::Http(_) => "http",
            Way::Sse(_) => "sse",
        }
    }

    /// What a caller may see: every name, no value.
    #[must_use]
    pub fn view(&self, name: &str) -> Map<String, Value> {
        let names = |own: &BTreeMap<String, String>, from: &BTreeMap<String, String>| {
            own.keys().chain(from.keys()).cloned().collect::<Vec<String>>()
        };
        let view = match &self.way {
            Way::Stdio { command, args, env, env_from } => json!({
                "name": name, "transport": "stdio", "command": command, "args": args,
                "env_names": names(env, env_from), "header_names": [], "default_for": self.default_for,
            }),
            Way::Http(remote) | Way::Sse(remote) => json!({
                "name": name, "transport": self.transport(), "url": remote.url, "env_names": [],
                "header_names": names(&remote.headers, &remote.headers_from), "default_for": self.default_for,
            }),
        };
        if let Value::Object(view) = view { view } else { Map::new() }
    }
}

fn take<T: serde::de::DeserializeOwned>(
    body: &mut Map<String, Value>,
    name: &str,
    shape: &str,
) -> Result<Option<T>, String> {
    match body.remove(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => serde_json::from_value(value).map(Some).map_err(|_| format!("{name} must be {shape}")),
    }
}

fn check_header(name: &str, value: &str) -> Result<(), String> {
    let is_one = HeaderName::from_bytes(name.as_bytes()).is_ok() && HeaderValue::from_str(value).is_ok();
    is_one.then_some(()).ok_or_else(|| format!("`{name}` is no header"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value) -> Result<Definition, String> {
        Definition::read(&mut body.as_object().unwrap().clone())
    }

    #[test]
    fn values_are_kept_and_never_shown() {
        let body =
            json!({"command": "srv", "args": ["-v"], "env": {"A": "secret-1"}, "env_from": {"B": "key"}});
        let own = read(&body).unwrap();
        let stored = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<Definition>(&stored).unwrap(), own);
        assert_eq!(
            Value::Object(own.view("s")),
            json!({"name": "s", "transport": "stdio", "command": "srv", "args": ["-v"], "env_names": ["A", "B"],
                "header_names": [], "default_for": {"agents": [], "cwds": []}})
        );
        let body = json!({"url": "https://x/", "transport": "sse", "headers": {"authorization": "secret-2"},
            "default_for": {"agents": ["codex"]}});
        let own = read(&body).unwrap();
        let stored = serde_json::to_string(&own).unwrap();
        assert_eq!(serde_json::from_str::<Definition>(&stored).unwrap(), own);
        assert!(!Value::Object(own.view("s")).to_string().contains("secret"));
        assert_eq!(own.transport(), "sse");
    }

    #[test]
    fn what_is_no_server_is_refused() {
        for body in [
            json!({}),
            json!({"command": "a", "url": "b"}),
            json!({"command": ""}),
            json!({"command": "a", "transport": "http"}),
            json!({"url": "http://x/", "transport": "stdio"}),
            json!({"url": "http://x/", "transport": "pigeon"}),
            json!({"url": "http://x/", "env": {"A": "b"}}),
            json!({"url": "http://x/", "headers": {"a b": "c"}}),
            json!({"url": "http://x/", "headers": {"a": "c\r\nx: y"}}),
            json!({"command": "a", "headers": {"a": "b"}}),
            json!({"command": "a", "args": "b"}),
            json!({"command": "a", "args": ["b\u{0}"]}),
            json!({"command": "a", "default_for": {"people": []}}),
        ] {
            assert!(read(&body).is_err(), "{body}");
        }
    }

    #[test]
    fn defaults_fit_by_agent_and_directory() {
        let own = |default_for: Value| read(&json!({"command": "a", "default_for": default_for})).unwrap();
        for (default_for, wanted) in [
            (json!({}), false),
            (json!({"agents": ["codex"]}), true),
            (json!({"agents": ["claude"]}), false),
            (json!({"cwds": ["/w/"]}), true),
            (json!({"cwds": ["/w/p"]}), true),
            (json!({"cwds": ["/w/pr"]}), false),
            (json!({"agents": ["codex"], "cwds": ["/other"]}), false),
        ] {
            assert_eq!(own(default_for.clone()).is_default_for("codex", "/w/p"), wanted, "{default_for}");
        }
    }
}
