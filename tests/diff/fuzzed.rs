//! What the fuzz target of the comparison asks, over its corpus and over documents that are cut and mixed.

#[path = "../../policy-lang/fuzz/pairs.rs"]
mod pairs;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::fs;
use std::path::Path;

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/diff");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn the_corpus_of_the_fuzz_target() {
    let corpus = corpus();
    assert!(corpus.len() >= 10, "the corpus is there");
    assert!(corpus.iter().all(|pair| pairs::pair(pair.as_bytes())), "a pair of the corpus does not compile");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sides_of_different_pairs(one in any::<Index>(), other in any::<Index>()) {
        let corpus = corpus();
        let sides: Vec<&str> = corpus.iter().flat_map(|pair| pair.split("\n---\n")).collect();
        let pair = format!("{}\n---\n{}", one.get(&sides), other.get(&sides));
        prop_assert!(pairs::pair(pair.as_bytes()));
    }

    #[test]
    fn entries_of_all_kinds(
        old in prop::collection::vec(entry(), 0..4),
        new in prop::collection::vec(entry(), 0..4),
        key in select(vec!["paths.allow", "paths.deny", "paths.read_only"]),
    ) {
        let document = |list: &[String]| {
            let (family, key) = key.split_once('.').unwrap();
            serde_json::json!({"endpoints": {"upload": {family: {key: list}}}}).to_string()
        };
        pairs::pair(format!("{}\n---\n{}", document(&old), document(&new)).as_bytes());
    }
}

fn entry() -> impl Strategy<Value = String> {
    let parts =
        ["a", "A", "É", "e\u{301}", ".x", "", "*", "**", "*a", "a*", "?", "[a-c]", "[!é]", "{a,b}", "\\a"];
    let start = select(vec!["/", "", "**/", "/home/user/"]);
    (start, prop::collection::vec(select(parts.to_vec()), 1..4))
        .prop_map(|(start, parts)| start.to_owned() + &parts.join("/"))
}
