//! Any bytes through the whole compiler: `cargo fuzz run compile`, or with a stable compiler `cargo fuzz run -s none compile`.
#![no_main]

#[path = "../stages.rs"]
#[expect(dead_code, reason = "each target takes its half")]
mod stages;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stages::compile(bytes));
