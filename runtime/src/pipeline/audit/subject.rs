//! What a call touches, read from its parameters: a path, or the name of a program and nothing after it.

use crate::endpoint::{Intake, Query};
use crate::process::masking;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Longest subject that is written, in bytes.
const LONGEST: usize = 1024;
/// Of a list of paths so many are written.
const MOST_NAMED: usize = 16;

/// The subject and which kind it is. `shell_runs`: a command that is one string is for a shell to run.
pub(super) fn of(query: &Query, intake: &Intake, shell_runs: bool) -> Option<(&'static str, String)> {
    let in_body = match intake {
        Intake::Json(body) => of_body(body.members(), shell_runs),
        _ => None,
    };
    // A call without a body, or a deletion, names it in the query.
    in_body.or_else(|| {
        let exact = || decoded(query.bytes("path_base64")?);
        let path = query.bytes("path").map(String::from_utf8_lossy).or_else(|| exact().map(Cow::Owned))?;
        Some(("path", short(&path)))
    })
}

fn of_body(members: &Map<String, Value>, shell_runs: bool) -> Option<(&'static str, String)> {
    let command = members.get("command").filter(|command| !(shell_runs && command.is_string()));
    if let Some(program) = command.and_then(program) {
        // `TOKEN=… make` is a mistake, and its first word the secret.
        return Some(("program", short(&masking::display(&[program.to_owned()]))));
    }
    let path = |name: &str| {
        let exact = || decoded(members.get(&format!("{name}_base64"))?.as_str()?.as_bytes());
        members.get(name).and_then(Value::as_str).map(Cow::Borrowed).or_else(|| exact().map(Cow::Owned))
    };
    if let (Some(source), Some(destination)) = (path("source"), path("destination")) {
        return Some(("path", format!("{} -> {}", short(&source), short(&destination))));
    }
    let list = |name: &str| members.get(name).and_then(Value::as_array).into_iter().flatten();
    let plain = list("paths").filter_map(Value::as_str).map(str::to_owned);
    let exact = list("paths_base64").filter_map(Value::as_str).filter_map(|path| decoded(path.as_bytes()));
    let named: Vec<_> = plain.chain(exact).take(MOST_NAMED).collect();
    if !named.is_empty() {
        return Some(("path", short(&named.join(" "))));
    }
    path("path").or_else(|| path("cwd")).map(|path| ("path", short(&path)))
}

/// A path that was given exactly. What is no UTF-8 is replaced, and what is no base64 is no path.
fn decoded(exact: &[u8]) -> Option<String> {
    STANDARD.decode(exact).ok().map(|path| String::from_utf8_lossy(&path).into_owned())
}

/// The first word of a command: what follows may be secret.
fn program(command: &Value) -> Option<&str> {
    match command {
        Value::String(text) => text.split_whitespace().next(),
        Value::Array(words) => words.first()?.as_str(),
        _ => None,
    }
}

fn short(text: &str) -> String {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST).last();
    if text.len() <= LONGEST { text } else { text.get(..end.unwrap_or(0)).unwrap_or_default() }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::endpoint::{Intake, JsonBody, Query};
    use serde_json::json;

    #[test]
    fn never_more_than_the_program() {
        for (body, right) in [
            (json!({"command": "curl -H 'Authorization: s3cret'"}), ("program", "curl")),
            (json!({"command": ["git", "clone", "https://s3cret@x"]}), ("program", "git")),
            (json!({"command": "API_TOKEN=s3cret make"}), ("program", "API_TOKEN=***")),
            (json!({"path": "/a", "content_base64": "c2VjcmV0"}), ("path", "/a")),
            (json!({"source": "a", "destination": "b"}), ("path", "a -> b")),
            (json!({"source_base64": "Yf8=", "destination": "b"}), ("path", "a\u{fffd} -> b")),
            (json!({"path_base64": "YQ=="}), ("path", "a")),
            (json!({"paths": ["a", "b"], "paths_base64": ["Yw==", "?"]}), ("path", "a b c")),
            (json!({"paths_base64": ["Yf8="]}), ("path", "a\u{fffd}")),
            (json!({"cwd": "/a"}), ("path", "/a")),
        ] {
            let intake = Intake::Json(JsonBody::new(body.as_object().unwrap().clone()));
            let (kind, text) = of(&Query::default(), &intake, false).unwrap();
            assert_eq!((kind, text.as_str()), right);
        }
        let body = json!({"command": "TOKEN=s3cret curl x"});
        let intake = Intake::Json(JsonBody::new(body.as_object().unwrap().clone()));
        assert_eq!(of(&Query::default(), &intake, true), None);
    }
}
