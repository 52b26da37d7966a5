//! Command lines, terminal frames, kernel tables and porcelain: `cargo fuzz run texts`, or with a stable compiler `cargo fuzz run -s none texts`.
#![no_main]

#[path = "../parsers.rs"]
#[expect(dead_code, reason = "each target asks one of them")]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::texts(bytes));
