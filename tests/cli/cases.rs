//! Walks `cases/`.

use crate::golden::Goldens;
use crate::run::{folder, run};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What it shows; for the reader.
    #[serde(rename = "note")]
    _note: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    stdin: String,
    args: Vec<String>,
    exit: i32,
}

#[test]
fn every_call_prints_what_it_should_and_ends_as_it_should() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli/cases");
    let mut goldens = Goldens::new(
        "cargo test -p runtime --test cli",
        &[("tests/cli/cases", "stdout"), ("tests/cli/cases", "stderr")],
    );
    let mut faults = Vec::new();
    let mut files: Vec<_> = fs::read_dir(cases).expect("the cases are there").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in
        files.iter().map(std::fs::DirEntry::path).filter(|path| path.extension() == Some("yaml".as_ref()))
    {
        let slug = file.file_stem().and_then(|stem| stem.to_str()).expect("a plain name").to_owned();
        let text = fs::read_to_string(&file).expect("a case can be read");
        let case: Case = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{slug}: {error}"));
        let dir = folder(&case.files);
        let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
        let ran = run(dir.path(), &args, &case.env, &case.stdin);
        if ran.exit != case.exit {
            faults.push(format!(
                "{slug}: exit {} where {} was wanted\n{}{}",
                ran.exit, case.exit, ran.stdout, ran.stderr
            ));
        }
        for (stream, printed) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
            if !printed.is_empty() {
                goldens.compare(format!("tests/cli/cases/{slug}.{stream}"), printed);
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    goldens.finish();
}
