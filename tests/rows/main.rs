//! Which test holds each known fault: the tables `policy.txt`, `security.txt` and `runtime-bugs.txt`.
//!
//! A line is `id | what may go wrong | holder; holder`. A holder is
//!
//! - `path :: name`: a file from the root of the repository, and in it a test function of that name, or for another file
//!   the text of its row; a `path` alone is a case of its own;
//! - `waits endpoint ID`, `waits command NAME`, `waits option --NAME`: it cannot be held before that is built;
//! - `none: WHY`: nothing here could have the fault;
//! - `open: WHAT`: the part that no test holds yet.

#![expect(clippy::panic, reason = "a test program: what goes wrong is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The tables, with the rows that each has.
const TABLES: [(&str, usize); 3] = [("policy", 61), ("security", 119), ("runtime-bugs", 39)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What is wrong with a holder, if anything.
fn fault(holder: &str) -> Option<String> {
    let built = |what: &str| Some(format!("{what} is built: name the test that holds the row"));
    if let Some(id) = holder.strip_prefix("waits endpoint ") {
        let waiting = read("tests/endpoints/not_built.txt").lines().any(|line| line == id);
        return (!waiting).then(|| built(id)).flatten();
    }
    if let Some(command) = holder.strip_prefix("waits command ") {
        let help = read("tests/cli/help/agent-sandbox-server.txt");
        let known = help.lines().any(|line| line.split_whitespace().next() == Some(command));
        return known.then(|| built(command)).flatten();
    }
    if let Some(option) = holder.strip_prefix("waits option ") {
        let pages =
            ["check-config", "serve", "compile"].map(|page| read(&format!("tests/cli/help/{page}.txt")));
        let known = pages.iter().any(|page| page.split_whitespace().any(|word| word == option));
        return known.then(|| built(option)).flatten();
    }
    if holder.starts_with("none: ") || holder.starts_with("open: ") {
        return None;
    }
    let (path, name) = holder.split_once(" :: ").map_or((holder, None), |(path, name)| (path, Some(name)));
    let Ok(text) = fs::read_to_string(root().join(path)) else {
        return Some(format!("there is no file {path}"));
    };
    let wanted = match name {
        None => return None,
        Some(name) if path.ends_with(".rs") => format!("fn {name}("),
        Some(name) => name.to_owned(),
    };
    (!text.contains(&wanted)).then(|| format!("{path} has no `{wanted}`"))
}

#[test]
fn every_row_is_held_or_waits_for_what_is_not_built() {
    let mut faults = Vec::new();
    for (table, count) in TABLES {
        let text = read(&format!("tests/rows/{table}.txt"));
        let mut seen = BTreeSet::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
            let [id, words, holders] = *cells else {
                faults.push(format!("{table}: three cells are wanted: {line}"));
                continue;
            };
            if !seen.insert(id.to_owned()) || words.is_empty() {
                faults.push(format!("{table} {id}: stands twice, or says nothing"));
            }
            let wrong = holders.split("; ").filter_map(fault);
            faults.extend(wrong.map(|fault| format!("{table} {id}: {fault}")));
        }
        if seen.len() != count {
            faults.push(format!("{table}: {} rows where {count} are wanted", seen.len()));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}
