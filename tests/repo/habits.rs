//! Each habit, and the files that break it, all at once.

use policy_lang::endpoint::ENDPOINTS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of a source file that is no test.
const MOST_LINES: usize = 500;

/// What the file of an endpoint says of it, in this order.
const HEADINGS: [&str; 5] = ["# Request", "# Response", "# Limits", "# Errors", "# Policy"];

/// Folders that hold nothing written by hand.
const SKIPPED: [&str; 5] = [".git", "target", "corpus", "artifacts", "expected"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust file, as a path from the root.
fn sources() -> BTreeSet<String> {
    let (root, mut found, mut folders) = (root(), BTreeSet::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let (name, kind) = (entry.file_name().into_string().unwrap(), entry.file_type().unwrap());
            let path = folder.join(&name);
            if kind.is_dir() && !SKIPPED.contains(&&*name) {
                folders.push(path);
            } else if kind.is_file()
                && Path::new(&name).extension().is_some_and(|extension| extension == "rs")
            {
                found.insert(path.into_os_string().into_string().unwrap());
            }
        }
    }
    assert!(found.len() > 300, "too few files: {}", found.len());
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Fails with every fault at once.
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let silent = sources().into_iter().filter(|path| !read(path).starts_with("//! "));
    none(&silent.map(|path| format!("{path} does not open with `//!`")).collect::<Vec<_>>());
}

#[test]
fn no_source_file_is_long() {
    let is_test =
        |path: &str| path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "fuzz"));
    let counted =
        sources().into_iter().filter(|path| !is_test(path)).map(|path| (read(&path).lines().count(), path));
    let long = counted.filter(|(lines, _)| *lines > MOST_LINES);
    none(
        &long
            .map(|(lines, path)| format!("{path} has {lines} lines, {MOST_LINES} at most"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn there_are_no_mod_files() {
    let named = sources().into_iter().filter(|path| path.ends_with("/mod.rs"));
    none(&named.map(|path| format!("{path}: write `foo.rs` beside `foo/`")).collect::<Vec<_>>());
}

#[test]
fn the_file_of_an_endpoint_has_its_summary_and_the_headings() {
    let not_built = read("tests/endpoints/not_built.txt");
    let mut faults = Vec::new();
    for endpoint in &ENDPOINTS {
        let id = endpoint.id.as_str();
        let path = format!("runtime/src/handlers/{}/{id}.rs", endpoint.group.as_str());
        let is_there = root().join(&path).is_file();
        if !is_there {
            let waits = not_built.lines().any(|line| line.split_whitespace().next() == Some(id));
            faults
                .extend((!waits).then(|| format!("{path} is not there, nor is `{id}` waiting to be built")));
            continue;
        }
        let text = read(&path);
        let page: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let first = format!("{}.", endpoint.summary);
        if page.first() != Some(&first.as_str()) {
            faults.push(format!("{path}: the first line is not the summary, `{first}`"));
        }
        let headings: Vec<_> = page.iter().filter(|line| line.starts_with("# ")).collect();
        if !headings.iter().copied().eq(&HEADINGS) {
            faults.push(format!("{path}: the headings are {headings:?}, not {HEADINGS:?}"));
        }
        if !page.contains(&"```sh") {
            faults.push(format!("{path}: there is no example in `sh`"));
        }
    }
    none(&faults);
}

#[test]
fn every_path_that_a_page_names_is_there() {
    let mut faults = Vec::new();
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "tests/README.md"] {
        let text = read(page);
        let base = root().join(Path::new(page).parent().unwrap());
        let named = text.split('`').skip(1).step_by(2).filter(|word| is_path(word));
        for word in named {
            // What is to be filled in ends the part that can be looked for.
            let fixed = word.split(['<', '*', '{']).next().unwrap_or_default();
            let fixed =
                if fixed == word { word } else { fixed.rsplit_once('/').map_or("", |(folder, _)| folder) };
            let places = [base.join(fixed), root().join(fixed)];
            if !places.iter().any(|place| place.exists()) {
                faults.push(format!("{page} names `{word}`, which is not there"));
            }
        }
    }
    none(&faults);
}

/// Whether a word in backticks is a path of this repository.
fn is_path(word: &str) -> bool {
    const TOP: [&str; 11] = [
        ".ci",
        "codegen",
        "docs",
        "examples",
        "policy",
        "policy-lang",
        "presets",
        "runtime",
        "schemas",
        "tests",
        "..",
    ];
    let page = word.ends_with(".md") || matches!(word, "endpoints.toml" | "Cargo.toml" | "clippy.toml");
    let plain = !word.contains([' ', '\n', '=', '"', ':']);
    plain && (page || word.split_once('/').is_some_and(|(top, _)| TOP.contains(&top)))
}
