//! The readers of YAML and JSON: what holds whatever they are given, and that both read the same.
//!
//! The long run: `PROPTEST_CASES=100000 cargo test --release -p policy-lang --test reader`.

#[cfg(test)]
mod agree;
#[path = "../../policy-lang/fuzz/invariants.rs"]
#[cfg(test)]
mod invariants;

#[cfg(test)]
mod any_input {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use policy_lang::parse::Format;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::invariants::check;

    /// Every file that fuzzing starts from.
    fn corpus() -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
        let targets = fs::read_dir(folder).unwrap().map(|target| target.unwrap().path());
        let files = targets.flat_map(|target| fs::read_dir(target).unwrap());
        files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
    }

    fn both(bytes: &[u8]) {
        check(bytes, Format::Yaml);
        check(bytes, Format::Json);
        check(bytes, Format::Auto);
    }

    #[test]
    fn the_corpus_of_the_fuzz_targets() {
        let corpus = corpus();
        assert!(corpus.len() > 40, "the corpus is there");
        corpus.iter().for_each(|bytes| both(bytes));
    }

    const PIECES: &[&str] = &[
        "a", "server", ": ", ":", "\n", "  ", "    ", "- ", "{", "}", "[", "]", ",", "&x ", "*x", "<<: ",
        "\"", "'", "|\n", ">-\n", " #c", "端", "é", "😀", "\t", "\r\n", "\r", "\u{FEFF}", "---\n", "...\n",
        "060", "1e999", "!!str ", "!x ", "@d", "*:", "%", "~", "? ", "\\", "\\ud83d", "null", "\u{0}",
        "\u{85}", "\u{2028}",
    ];

    proptest! {
        #[test]
        fn any_bytes(bytes in vec(any::<u8>(), 0..200)) {
            both(&bytes);
        }

        #[test]
        fn pieces_of_documents(pieces in vec(select(PIECES), 0..60)) {
            both(pieces.concat().as_bytes());
        }

        #[test]
        fn mutilated_documents(which in any::<Index>(), cuts in vec((any::<Index>(), any::<Index>(), select(PIECES)), 1..6)) {
            let corpus = corpus();
            let mut bytes = which.get(&corpus).clone();
            for (from, length, piece) in cuts {
                let from = from.index(bytes.len() + 1);
                let to = (from + length.index(8)).min(bytes.len());
                bytes.splice(from..to, piece.bytes());
            }
            both(&bytes);
        }
    }

    /// Inputs that make careless readers slow, deep or large.
    #[test]
    fn hostile_inputs_end_soon() {
        let size = if cfg!(debug_assertions) { 1 << 16 } else { 4 << 20 };
        for piece in [
            "[",
            "{",
            "{\"a\":",
            "[{",
            "- ",
            "? ",
            "a: ",
            "\"",
            "'",
            "*",
            "&a ",
            "!",
            "|",
            "#",
            "\n",
            "\r",
            "\t",
            "a\n",
            "a:\n",
            "- a\n",
            "[],",
            "a: 1\n",
            "\\",
            "端",
            "@",
            "%",
            "{}: ",
            "<<: ",
            "<<: *a\n",
            ": ",
            "---\n",
            "\"a\": \"b\\u",
        ] {
            let text = piece.repeat(size / piece.len());
            for text in [format!("a: {text}"), format!("{{\"a\": [{text}"), text] {
                let started = Instant::now();
                both(text.as_bytes());
                let took = started.elapsed();
                assert!(took < Duration::from_secs(60), "{piece:?} took {took:?}");
            }
        }
    }
}
