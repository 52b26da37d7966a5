//! Archives of any tree within any caps: `cargo fuzz run archive`, or with a stable compiler `cargo fuzz run -s none archive`.
#![no_main]

#[path = "../worlds.rs"]
#[expect(dead_code, reason = "each target asks one of them")]
mod worlds;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| worlds::pack(bytes));
