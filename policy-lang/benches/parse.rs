//! Reading a policy: 1 KB to 10 MB, JSON and YAML, against `serde_json` into a plain value as the floor.
//!
//! `cargo bench -p policy-lang --bench parse`. The growth from 100 KB to 10 MB should be that of the size.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use policy_lang::parse::{Format, parse};
use policy_lang::source::{SourceMap, Span};

#[path = "support/policies.rs"]
mod policies;

use policies::{SIZES, json, yaml};

const BASE: &str = "/home/user";

fn main() {
    divan::main();
}

fn read(bencher: Bencher<'_, '_>, name: &str, text: String) {
    let bytes = BytesCount::of_str(&text);
    let mut sources = SourceMap::new();
    let id = sources.add(name, text);
    bencher.counter(bytes).bench_local(|| {
        let (root, findings) = parse(&sources, id, Format::Auto);
        assert!(root.is_some() && findings.is_empty());
    });
}

#[divan::bench(args = SIZES)]
fn json_to_tree(bencher: Bencher<'_, '_>, size: usize) {
    read(bencher, "policy.json", json(size, BASE));
}

#[divan::bench(args = SIZES)]
fn yaml_to_tree(bencher: Bencher<'_, '_>, size: usize) {
    read(bencher, "policy.yaml", yaml(size, BASE));
}

#[divan::bench(args = SIZES)]
fn json_to_serde_value(bencher: Bencher<'_, '_>, size: usize) {
    let text = json(size, BASE);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| serde_json::from_str::<serde_json::Value>(black_box(&text)).is_ok());
}

/// 10,000 places of a text on one line that is not ASCII.
#[divan::bench(args = SIZES)]
fn places(bencher: Bencher<'_, '_>, size: usize) {
    let text = "端".repeat(size / 3);
    let len = u32::try_from(text.len()).unwrap_or(0);
    let mut sources = SourceMap::new();
    let source = sources.add("one-line.json", text);
    bencher.bench_local(|| {
        for at in (0..len).step_by((len as usize / 10_000).max(1)) {
            black_box(sources.place(Span { source, start: at, end: len }));
        }
    });
}
