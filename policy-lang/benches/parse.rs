//! Reading a policy: 1 KB to 10 MB, JSON and YAML, against `serde_json` into a plain value as the floor.
//!
//! `cargo bench -p policy-lang --bench parse`. The growth from 100 KB to 10 MB should be that of the size.

use std::fmt::Write as _;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use policy_lang::endpoint::ENDPOINTS;
use policy_lang::parse::{Format, parse};
use policy_lang::source::{SourceMap, Span};

const SIZES: [usize; 3] = [1_000, 100_000, 10_000_000];

fn main() {
    divan::main();
}

/// A policy of about `bytes`: every endpoint with a rule, and as many denied paths as it takes.
fn json(bytes: usize) -> String {
    let patterns = (bytes / ENDPOINTS.len()).saturating_sub(90) / 26;
    let mut text = String::from("{\"preset\": \"hardened\", \"endpoints\": {");
    for (at, endpoint) in ENDPOINTS.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\"{}\":{{\"enabled\":true,\"paths\":{{\"deny\":[\"**/.git/**\"",
            endpoint.name
        );
        for pattern in 0..patterns {
            let _ = write!(text, ",\"/home/user/{pattern:08}/**\"");
        }
        text.push_str("]},\"limits\":{\"max_bytes\":\"5MB\",\"rate_per_minute\":60}}");
        if text.len() >= bytes {
            break;
        }
    }
    text.push_str("}}");
    text
}

fn yaml(bytes: usize) -> String {
    let value: serde_json::Value = serde_json::from_str(&json(bytes)).unwrap_or_default();
    serde_yaml::to_string(&value).unwrap_or_default()
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
    read(bencher, "policy.json", json(size));
}

#[divan::bench(args = SIZES)]
fn yaml_to_tree(bencher: Bencher<'_, '_>, size: usize) {
    read(bencher, "policy.yaml", yaml(size));
}

#[divan::bench(args = SIZES)]
fn json_to_serde_value(bencher: Bencher<'_, '_>, size: usize) {
    let text = json(size);
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
