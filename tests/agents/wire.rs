//! Each of the endpoints on the wire, from a file of steps: what it allows, what it refuses, what is malformed.
//!
//! `wire/<endpoint id>.yaml` is one story against a server of its own; `wire/<endpoint id>.txt` is what was answered, whole.
//! `UPDATE=1` writes what was answered; what a step `wants` is written by hand. A story that lacks one of the three sorts of
//! steps is a fault, and so is an error that the page of the endpoint lists and no step brings about.
//!
//! - `story`: how a story is written, and how it is played
//! - `shown`: an answer as it is shown: what differs from run to run has a name instead

mod shown;
mod story;

use crate::golden::Goldens;
use policy_lang::endpoint::{ENDPOINTS, Group};
use runtime::agents::log::Kind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use story::Story;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The endpoints of the group, by their ids. `WIRE=<id>` leaves one.
fn endpoints() -> Vec<&'static str> {
    let one = std::env::var("WIRE").ok();
    let all =
        ENDPOINTS.iter().filter(|endpoint| endpoint.group == Group::Agents).map(|endpoint| endpoint.name);
    all.filter(|name| one.as_deref().is_none_or(|one| one == *name)).collect()
}

fn story(name: &str) -> Result<Story, String> {
    let path = root().join(format!("tests/agents/wire/{name}.yaml"));
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: no story: {error}"))?;
    serde_yaml::from_str(&text).map_err(|error| format!("{name}: {error}"))
}

#[test]
fn every_endpoint_answers_as_its_story_says() {
    let names = endpoints();
    let (left, told) = (Mutex::new(names.clone()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(name) = left.lock().unwrap().pop() else { return };
                    // What never came to be must not keep the others from being told.
                    let played = || story(name).and_then(|story| story.play(name));
                    let outcome = std::panic::catch_unwind(played).unwrap_or_else(|panic| {
                        let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                        Err(format!("{name}: {said}"))
                    });
                    told.lock().unwrap().push((name, outcome));
                }
            });
        }
    });
    let mut told = told.into_inner().unwrap();
    told.sort_by_key(|(name, _)| *name);
    let owned: &[_] = if std::env::var_os("WIRE").is_some() { &[] } else { &[("tests/agents/wire", "txt")] };
    let mut goldens = Goldens::new("cargo test -p runtime --test agents wire", owned);
    let mut faults = Vec::new();
    for (name, outcome) in told {
        match outcome {
            Ok(text) => goldens.compare(format!("tests/agents/wire/{name}.txt"), &text),
            Err(fault) => faults.push(fault),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    goldens.finish();
}

#[test]
fn every_story_allows_refuses_and_is_given_what_is_malformed() {
    let mut faults = Vec::new();
    for name in endpoints() {
        match story(name) {
            Ok(story) => {
                faults.extend(story.lacks().into_iter().map(|what| format!("{name}: no step is {what}")))
            }
            Err(fault) => faults.push(fault),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What a page says: "404 `session_not_found`; 409 `session_busy`, `capability_missing` (with …)".
fn listed(name: &str) -> Vec<String> {
    let path = root().join(format!("runtime/src/handlers/agents/{name}.rs"));
    let text = std::fs::read_to_string(path).unwrap();
    let page = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let lines =
        page.skip_while(|line| *line != "# Errors").skip(1).take_while(|line| !line.starts_with("# "));
    let lines = lines.collect::<Vec<_>>().join(" ");
    let (mut codes, mut depth, mut status) = (Vec::new(), 0_u32, None);
    for word in lines.split_inclusive([' ', ',', ';', '(', ')']) {
        let plain = word.trim_matches([' ', ',', ';', ':', '(', ')', '.']);
        let code = plain.strip_prefix('`').and_then(|code| code.strip_suffix('`'));
        match (code, &status) {
            _ if depth > 0 || plain.is_empty() => {}
            (Some(code), Some(status)) => codes.push(format!("{status} {code}")),
            // A status holds for the codes behind it, until something else is said.
            _ => status = (plain.len() == 3 && plain.parse::<u16>().is_ok()).then(|| plain.to_owned()),
        }
        match word.chars().next_back() {
            Some('(') => depth += 1,
            Some(')') => depth -= 1,
            _ => {}
        }
    }
    codes
}

#[test]
fn every_error_of_a_page_is_brought_about() {
    let tests = tests();
    let mut faults = Vec::new();
    for name in endpoints() {
        let Ok(story) = story(name) else { continue };
        let wanted = listed(name);
        for error in &wanted {
            match story.elsewhere(error) {
                Some(test) if !tests.contains(&format!("fn {test}(")) => {
                    faults.push(format!(
                        "{name}: `{error}` is said to be held by `{test}`, which is not there"
                    ));
                }
                None if !story.wants(error) => faults.push(format!("{name}: nothing brings about `{error}`")),
                _ => {}
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_kind_of_event_is_read_on_the_wire() {
    let told = std::fs::read_to_string(root().join("tests/agents/wire/agents_events_list.txt")).unwrap();
    let missing = |kind: &&Kind| !told.contains(&format!("\"kind\": \"{}\"", kind.as_str()));
    let missing: Vec<&Kind> = Kind::ALL.iter().filter(missing).collect();
    assert_eq!(missing, Vec::<&Kind>::new());
}

/// The text of the tests of this folder.
fn tests() -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(root().join("tests/agents")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}
