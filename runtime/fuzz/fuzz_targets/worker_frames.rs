//! Messages of the commands worker: `cargo fuzz run worker_frames`, or with a stable compiler `cargo fuzz run -s none worker_frames`.
#![no_main]

#[path = "../parsers.rs"]
#[expect(dead_code, reason = "each target asks one of them")]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::worker(bytes));
