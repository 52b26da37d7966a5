//! Request targets, whatever they are: the corpus of the fuzz target, and targets made of awkward pieces.
//!
//! The long run: `PROPTEST_CASES=1000000 cargo test --release -p runtime --test target`.

#[path = "../../runtime/fuzz/invariants.rs"]
#[cfg(test)]
mod invariants;

#[cfg(test)]
mod any_target {
    use super::invariants::check;
    use policy_lang::endpoint::ENDPOINTS;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_corpus_of_the_fuzz_target() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/request_target");
        let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(files.len() > 20, "the corpus is there");
        files.iter().for_each(|file| check(&fs::read(file).unwrap()));
    }

    #[test]
    fn every_door() {
        for door in ENDPOINTS.iter().flat_map(|decl| decl.doors) {
            check(door.path.replace(['{', '}'], "x").as_bytes());
            check(format!("{}/?path=%2e%2e%2f", door.path.replace(['{', '}'], "")).as_bytes());
        }
    }

    const PIECES: &[&str] = &[
        "/",
        "//",
        ".",
        "..",
        "/..",
        "/.",
        "%",
        "%2",
        "%2f",
        "%2F",
        "%2e",
        "%5c",
        "%00",
        "%25",
        "%ff",
        "\\",
        ";",
        "?",
        "&",
        "=",
        "#",
        "+",
        "a",
        "path",
        "health",
        "files",
        "list",
        "process",
        "12",
        "api",
        "v2",
        "sandboxes",
        "é",
        " ",
        "\0",
        "\n",
        "@",
        ":",
        "[",
        "]",
        "*",
        "~",
        "http:",
    ];

    proptest! {
        #[test]
        fn any_bytes(bytes in vec(any::<u8>(), 0..80)) {
            check(&bytes);
        }

        #[test]
        fn pieces_of_targets(pieces in vec(select(PIECES), 0..24)) {
            check(pieces.concat().as_bytes());
        }

        #[test]
        fn doors_that_are_cut(door in any::<Index>(), at in any::<Index>(), piece in select(PIECES), more in vec(select(PIECES), 0..6)) {
            let paths: Vec<_> = ENDPOINTS.iter().flat_map(|decl| decl.doors).map(|door| door.path).collect();
            let mut bytes = door.get(&paths).replace(['{', '}'], "").into_bytes();
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..at, piece.bytes());
            bytes.extend(more.concat().bytes());
            check(&bytes);
        }
    }
}
