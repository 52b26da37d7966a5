//! Multipart bodies: `cargo fuzz run multipart`, or with a stable compiler `cargo fuzz run -s none multipart`.
#![no_main]

#[path = "../parsers.rs"]
#[expect(dead_code, reason = "each target asks one of them")]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::multipart(bytes));
