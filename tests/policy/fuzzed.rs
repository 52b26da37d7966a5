//! What the fuzz targets of compiling and loading ask, over their corpus and over documents that are cut and mixed.
//!
//! The long run: `PROPTEST_CASES=100000 cargo test --release -p policy-lang --test policy fuzzed`.

#[path = "../../policy-lang/fuzz/stages.rs"]
pub(crate) mod stages;

use crate::golden::Goldens;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::fs;
use std::path::Path;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn the_corpus_of_the_fuzz_targets() {
    for target in ["compile", "parse_yaml"] {
        let corpus = corpus(target);
        assert!(corpus.len() >= 15, "{target}: the corpus is there");
        corpus.iter().for_each(|bytes| stages::compile(bytes));
    }
    let sets = corpus("load_set");
    assert!(sets.len() >= 4, "the corpus is there");
    assert!(sets.iter().all(|set| stages::load(set)), "a set of the corpus no longer loads");
}

/// The corpus of sets is compiled from merge cases, anew whenever the form or the endpoint table changes.
#[test]
fn the_sets_of_the_corpus_are_those_of_this_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut goldens = Goldens::new("cargo test -p policy-lang --test policy fuzzed", &[]);
    for slug in [
        "b8-inherited-denies",
        "b9-one-limit-of-many",
        "groups-and-globs",
        "transfer-only-with-a-narrow-rule",
    ] {
        let template = fs::read(root.join("tests/policy/merge").join(slug).join("template.yaml")).unwrap();
        goldens.compare(format!("policy-lang/fuzz/corpus/load_set/{slug}.json"), &stages::set(&template));
    }
    goldens.finish();
}

const PIECES: &[&str] = &[
    "\"*\"",
    "files_*",
    "group:file_ops",
    "@defaults",
    "shell",
    "health",
    "enabled: false",
    "enabled: true",
    "paths:",
    "deny:",
    "allow:",
    "read_only: true",
    "[**/.git/**]",
    "[/]",
    "/home/user",
    "..",
    "limits:",
    "max_bytes: 5MB",
    "0",
    "preset: locked",
    "auth:",
    "tokens:",
    "scopes: [\"*\"]",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "\n",
    "  ",
    ", ",
    "\"",
    "{a,b}",
    "null",
    "true",
    "1e9",
    "\\u0000",
    "😀",
    "&x ",
    "*x",
    "<<: ",
];

fn mixed(target: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let cut = (any::<Index>(), any::<Index>(), select(PIECES));
    (any::<Index>(), vec(cut, 1..5)).prop_map(move |(which, cuts)| {
        let mut bytes = which.get(&corpus(target)).clone();
        for (from, length, piece) in cuts {
            let from = from.index(bytes.len() + 1);
            let to = (from + length.index(12)).min(bytes.len());
            bytes.splice(from..to, piece.bytes());
        }
        bytes
    })
}

proptest! {
    #[test]
    fn mixed_documents_compile_or_are_refused(bytes in mixed("compile")) {
        stages::compile(&bytes);
    }

    #[test]
    fn mixed_sets_load_or_are_refused(bytes in mixed("load_set")) {
        stages::load(&bytes);
    }
}
