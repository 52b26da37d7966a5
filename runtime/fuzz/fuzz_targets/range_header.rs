//! Range headers and names of downloads: `cargo fuzz run range_header`, or with a stable compiler `cargo fuzz run -s none range_header`.
#![no_main]

#[path = "../parsers.rs"]
#[expect(dead_code, reason = "each target asks one of them")]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::range(bytes));
