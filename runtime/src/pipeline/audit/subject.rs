//! What a call touches, read from its parameters: a path, or the name of a program and nothing after it.

use crate::endpoint::{Intake, Query};
use crate::process::masking;
use serde_json::Value;

/// Longest subject that is written, in bytes.
const LONGEST: usize = 1024;

/// The subject and which kind it is. `shell_runs`: a command that is one string is for a shell to run.
pub(super) fn of(query: &Query, intake: &Intake, shell_runs: bool) -> Option<(&'static str, String)> {
    let Intake::Json(body) = intake else {
        return query.bytes("path").map(|path| ("path", short(&String::from_utf8_lossy(path))));
    };
    let members = body.members();
    let command = members.get("command").filter(|command| !(shell_runs && command.is_string()));
    if let Some(program) = command.and_then(program) {
        // `TOKEN=… make` is a mistake, and its first word the secret.
        return Some(("program", short(&masking::display(&[program.to_owned()]))));
    }
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if let (Some(source), Some(destination)) = (text("source"), text("destination")) {
        return Some(("path", format!("{} -> {}", short(source), short(destination))));
    }
    if let Some(Value::Array(paths)) = members.get("paths") {
        let named: Vec<_> = paths.iter().filter_map(Value::as_str).take(16).collect();
        return Some(("path", short(&named.join(" "))));
    }
    text("path").or_else(|| text("cwd")).map(|path| ("path", short(path)))
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
