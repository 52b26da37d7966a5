//! Trees, rules and paths: `cargo fuzz run guard`, or with a stable compiler `cargo fuzz run -s none guard`.
#![no_main]

#[path = "../worlds.rs"]
#[expect(dead_code, reason = "each target asks one of them")]
mod worlds;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| worlds::guard(bytes));
