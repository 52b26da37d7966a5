//! `format/<slug>.yaml` (or `.json`, as `.input`) and what it becomes, `<slug>.out`. Of any layout the result says the same, has
//! the same comments, and is left alone the second time.

use crate::golden::Goldens;
use crate::layouts;
use crate::random::{Random, document};
use policy_lang::fmt::format;
use policy_lang::parse::{self, Format};
use policy_lang::source::SourceMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

#[test]
fn every_case_is_formatted_as_written_down() {
    let mut goldens =
        Goldens::new("cargo test -p policy-lang --test tools", &[("tests/tools/format", "out")]);
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root().join("tests/tools/format")).unwrap().map(|case| case.unwrap().path()).collect();
    cases.retain(|case| case.extension().is_some_and(|its| its == "yaml" || its == "input"));
    cases.sort();
    for case in cases {
        let text = fs::read_to_string(&case).unwrap();
        let formatted = format("case", &text, Format::Auto).unwrap_or_else(|why| panic!("{case:?}: {why:?}"));
        let again =
            format("case", &formatted, Format::Auto).unwrap_or_else(|why| panic!("{case:?}: {why:?}"));
        assert_eq!(again, formatted, "{case:?}: the second time");
        let slug = Path::new("tests/tools/format").join(case.file_stem().unwrap());
        goldens.compare(slug.with_extension("out"), &formatted);
    }
    goldens.finish();
}

#[test]
fn presets_and_examples_are_formatted() {
    let mut unformatted = Vec::new();
    for pattern in ["presets", "examples"] {
        let mut folders = vec![root().join(pattern)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if pattern == "presets" || path.file_name().is_some_and(|name| name == "template.yaml")
                {
                    let text = fs::read_to_string(&path).unwrap();
                    let formatted = format("example", &text, Format::Yaml);
                    if formatted.is_ok_and(|formatted| formatted != text) {
                        unformatted.push(path);
                    }
                }
            }
        }
    }
    assert!(unformatted.is_empty(), "agent-sandbox-server fmt {unformatted:?}");
}

#[test]
fn whatever_the_layout_the_result_says_the_same_and_stays() {
    for seed in 0..crate::count(2_000, 100_000) {
        let mut random = Random::new(seed);
        let document = document(&mut random);
        let text = layouts::write(&mut random, &document);
        let formatted = format("random", &text, Format::Yaml)
            .unwrap_or_else(|why| panic!("seed {seed}: {why:?}\n{text}"));
        let again =
            format("random", &formatted, Format::Yaml).unwrap_or_else(|why| panic!("seed {seed}: {why:?}"));
        assert_eq!(again, formatted, "seed {seed}: the second time, of\n{text}");
        assert_eq!(says(&text), says(&formatted), "seed {seed}");
        assert!(
            !formatted.lines().any(|line| line.ends_with(' ')) || text.contains('\r'),
            "seed {seed}\n{formatted}"
        );
    }
}

/// What a text says, by the other reader.
fn says(text: &str) -> serde_json::Value {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn every_document_of_the_other_cases_is_formatted_or_refused() {
    let mut folders = vec![root().join("tests/policy")];
    let (mut done, mut refused) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if !path.extension().is_some_and(|its| its == "yaml" || its == "input") {
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            if text.len() > 200_000 {
                continue;
            }
            match format("case", &text, Format::Auto) {
                Ok(formatted) => {
                    done += 1;
                    let again = format("case", &formatted, Format::Auto);
                    assert!(
                        again.is_ok_and(|again| again == formatted),
                        "{path:?}: the second time\n{formatted}"
                    );
                }
                Err(policy_lang::fmt::Unformatted::Faulty(..)) => refused += 1,
                Err(policy_lang::fmt::Unformatted::Different) => {
                    let mut sources = SourceMap::new();
                    let id = sources.add("case", text.as_str());
                    panic!(
                        "{path:?} would be read otherwise: {:?}",
                        parse::parse(&sources, id, Format::Auto).1
                    );
                }
            }
        }
    }
    assert!(done > 100 && refused > 20, "{done} {refused}");
}
