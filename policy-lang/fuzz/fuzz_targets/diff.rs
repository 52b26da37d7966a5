//! Two documents with `---` between them, compared: `cargo fuzz run diff`, or with a stable compiler
//! `cargo fuzz run -s none diff`.
#![no_main]

#[path = "../pairs.rs"]
mod pairs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    pairs::pair(bytes);
});
