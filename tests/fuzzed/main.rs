//! What the fuzz targets of `runtime/fuzz` assert, asked of random input, and of inputs that once were trouble.
//!
//! The long run: `PROPTEST_CASES=1000000 cargo test --release -p runtime --test fuzzed`.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test program")]

#[path = "../../runtime/fuzz/parsers.rs"]
mod parsers;
#[path = "../../runtime/fuzz/worlds.rs"]
mod worlds;

use proptest::collection::vec;
use proptest::prelude::*;
use std::path::Path;

/// What a target asks of some bytes.
type Ask = fn(&[u8]);

/// The targets with a corpus.
const CORPORA: [(&str, Ask); 6] = [
    ("range_header", parsers::range),
    ("multipart", parsers::multipart),
    ("worker_frames", parsers::worker),
    ("texts", parsers::texts),
    ("guard", worlds::guard),
    ("archive", worlds::pack),
];

#[test]
fn the_corpora_of_the_fuzz_targets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (target, ask) in CORPORA {
        // What the two read is text that is known: samples of it are there, and what was found of the others.
        let files: Vec<_> = std::fs::read_dir(folder.join(target))
            .into_iter()
            .flatten()
            .map(|file| file.unwrap().path())
            .collect();
        assert!(
            files.len() > 10 || !["texts", "worker_frames"].contains(&target),
            "the samples of {target} are there"
        );
        for file in files {
            println!("{}", file.display());
            ask(&std::fs::read(&file).unwrap());
        }
    }
}

/// Any bytes, and among them pieces that mean something to one of the parsers.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"bytes=",
        b"-",
        b"0",
        b"18446744073709551616",
        b"--xx",
        b"\r\n",
        b"\r\n\r\n",
        b"name=\"file\"",
        b"\0\0\0\x02{}",
        b"\0\0\0\x01",
        b"'",
        b"\"",
        b"\\",
        b" ",
        b"{\"type\":\"resize\",\"cols\":1,\"rows\":1}",
        b"sl  local_address",
        b"0A",
        b"# branch.head main\0",
        b"2 R. N... 100644 100644 100644 a b R100 x\0y\0",
        b"? \xff\0",
    ];
    let piece = prop::sample::select(pieces).prop_map(<[u8]>::to_vec);
    vec(prop_oneof![3 => piece, 2 => vec(any::<u8>(), 0..12)], 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn range_headers(bytes in bytes()) {
        parsers::range(&bytes);
    }

    #[test]
    fn multipart_bodies(bytes in bytes()) {
        parsers::multipart(&bytes);
    }

    #[test]
    fn worker_frames(bytes in bytes()) {
        parsers::worker(&bytes);
    }

    #[test]
    fn texts(bytes in bytes()) {
        parsers::texts(&bytes);
    }

    #[test]
    fn guard(bytes in vec(any::<u8>(), 0..120)) {
        worlds::guard(&bytes);
    }

    #[test]
    fn archive(bytes in vec(any::<u8>(), 0..120)) {
        worlds::pack(&bytes);
    }
}
