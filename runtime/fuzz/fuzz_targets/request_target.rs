//! Any bytes as a request target: `cargo fuzz run request_target`, or with a stable compiler
//! `cargo fuzz run -s none request_target`.
#![no_main]

#[path = "../invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::check(bytes));
