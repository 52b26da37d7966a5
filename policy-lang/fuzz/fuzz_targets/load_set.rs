//! Any bytes as a compiled set: `cargo fuzz run load_set`, or with a stable compiler `cargo fuzz run -s none load_set`.
#![no_main]

#[path = "../stages.rs"]
#[expect(dead_code, reason = "each target takes its half")]
mod stages;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    stages::load(bytes);
});
