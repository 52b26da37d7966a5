//! What a rule can know of a tool call: its kind, title, command and paths.

use serde::Deserialize;
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// A tool call as rules see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// `read`, `edit`, `execute`, …; `other` where the agent does not say.
    pub tool_kind: String,
    /// The title that the agent gives it.
    pub title: String,
    /// The command line, where its input has one.
    pub command: Option<String>,
    /// Every path that it names, absolute and without `..`.
    pub paths: Vec<PathBuf>,
}

/// A call as `agents_rules_set` takes it for a test.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Sample {
    #[serde(default)]
    tool_kind: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    raw_input: Option<Value>,
    #[serde(default)]
    locations: Option<Vec<Value>>,
}

impl Subject {
    /// Of the `toolCall` of a permission request; relative paths are taken from `cwd`.
    #[must_use]
    pub fn of(tool_call: &Value, cwd: &Path) -> Self {
        let text = |name: &str| tool_call.get(name).and_then(Value::as_str).map(str::to_owned);
        let list = |name: &str| tool_call.get(name).and_then(Value::as_array).into_iter().flatten();
        let input = tool_call.get("rawInput");
        let paths = list("locations").chain(list("content")).filter_map(path_of).chain(named(input));
        Self {
            tool_kind: text("kind").unwrap_or_else(|| "other".to_owned()),
            title: text("title").unwrap_or_default(),
            command: input.and_then(command_of),
            paths: whole(paths, cwd),
        }
    }

    /// Of a sample call.
    #[must_use]
    pub fn of_sample(sample: &Sample, cwd: &Path) -> Self {
        let input = sample.raw_input.as_ref();
        let places =
            sample.locations.iter().flatten().filter_map(|place| place.as_str().or_else(|| path_of(place)));
        Self {
            tool_kind: sample.tool_kind.clone().unwrap_or_else(|| "other".to_owned()),
            title: sample.title.clone().unwrap_or_default(),
            command: input.and_then(command_of),
            paths: whole(places.chain(named(input)), cwd),
        }
    }
}

fn path_of(place: &Value) -> Option<&str> {
    place.get("path").and_then(Value::as_str)
}

/// Paths by the names that tools give them in their input.
fn named(input: Option<&Value>) -> impl Iterator<Item = &str> {
    ["path", "file_path", "filePath", "abs_path", "notebook_path"]
        .into_iter()
        .filter_map(move |name| input?.get(name)?.as_str())
}

fn whole<'a>(paths: impl Iterator<Item = &'a str>, cwd: &Path) -> Vec<PathBuf> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in paths.map(|path| normal(cwd, path)) {
        if !seen.contains(&path) {
            seen.push(path);
        }
    }
    seen
}

/// The path from `cwd`, `.` and `..` taken out by name.
#[must_use]
pub fn normal(cwd: &Path, path: &str) -> PathBuf {
    let mut out = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// The command line of a tool's input: text, or words; of `sh -c text` it is the text.
fn command_of(input: &Value) -> Option<String> {
    let command = input.get("command").or_else(|| input.get("cmd"))?;
    if let Some(text) = command.as_str() {
        return Some(text.trim().to_owned());
    }
    let words: Vec<&str> = command.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [shell, flag, text] if is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') => {
            Some(text.trim().to_owned())
        }
        words => Some(words.join(" ")),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "dash" | "zsh")
}

#[cfg(test)]
mod tests {
    use super::{Subject, normal};
    use serde_json::json;
    use std::path::{Path, PathBuf};

    #[test]
    fn everything_that_a_call_says() {
        let call = json!({
            "toolCallId": "1", "title": "write", "kind": "edit",
            "locations": [{"path": "src/../a.rs", "line": 3}],
            "content": [{"type": "diff", "path": "/w/a.rs", "newText": ""}, {"type": "terminal", "terminalId": "t"}],
            "rawInput": {"file_path": "../b", "command": ["bash", "-lc", " ls -l "]},
        });
        assert_eq!(
            Subject::of(&call, Path::new("/w")),
            Subject {
                tool_kind: "edit".into(),
                title: "write".into(),
                command: Some("ls -l".into()),
                paths: vec![PathBuf::from("/w/a.rs"), PathBuf::from("/b")],
            }
        );
    }

    #[test]
    fn a_call_that_says_nothing() {
        let nothing = Subject { tool_kind: "other".into(), ..Subject::default() };
        for odd in [json!({}), json!(null), json!({"locations": 3, "rawInput": {"command": [1]}})] {
            assert_eq!(Subject::of(&odd, Path::new("/w")), nothing);
        }
    }

    #[test]
    fn dots_cannot_climb_above_the_root() {
        assert_eq!(normal(Path::new("/w"), "../../../etc/./passwd"), PathBuf::from("/etc/passwd"));
    }
}
