//! Any bytes through the YAML reader: `cargo fuzz run parse_yaml`, or with a stable compiler `cargo fuzz run -s none parse_yaml`.
#![no_main]

#[path = "../invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::check(bytes, policy_lang::parse::Format::Yaml));
