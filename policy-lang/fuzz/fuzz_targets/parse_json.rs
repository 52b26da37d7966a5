//! Any bytes through the JSON reader: `cargo fuzz run parse_json`, or with a stable compiler `cargo fuzz run -s none parse_json`.
#![no_main]

#[path = "../invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::check(bytes, policy_lang::parse::Format::Json));
