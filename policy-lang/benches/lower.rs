//! Lowering a tree into a layer, 1 KB to 10 MB, and what every start pays: the catalogue and the presets.
//!
//! `cargo bench -p policy-lang --bench lower`. The growth from 100 KB to 10 MB should be that of the size.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use policy_lang::endpoint::Catalogue;
use policy_lang::layer::LayerKind;
use policy_lang::lower::{self, presets};
use policy_lang::parse::{Format, parse};
use policy_lang::source::SourceMap;

#[path = "support/policies.rs"]
mod policies;

use policies::{SIZES, json, yaml};

const BASE: &str = "/home/user";

fn main() {
    divan::main();
}

/// Lowering alone: the tree is made anew outside of the measured time.
fn lowering(bencher: Bencher<'_, '_>, name: &str, text: String) {
    let bytes = BytesCount::of_str(&text);
    let mut sources = SourceMap::new();
    let id = sources.add(name, text);
    let catalogue = Catalogue::builtin();
    bencher.counter(bytes).with_inputs(|| parse(&sources, id, Format::Auto).0).bench_local_values(|root| {
        root.map(|root| lower::document(&sources, id, root, &catalogue, LayerKind::Policy))
    });
}

#[divan::bench(args = SIZES)]
fn json_tree_to_layer(bencher: Bencher<'_, '_>, size: usize) {
    lowering(bencher, "policy.json", json(size, BASE));
}

#[divan::bench(args = SIZES)]
fn yaml_tree_to_layer(bencher: Bencher<'_, '_>, size: usize) {
    lowering(bencher, "policy.yaml", yaml(size, BASE));
}

#[divan::bench]
fn catalogue() -> Catalogue {
    black_box(Catalogue::builtin())
}

/// From its text to a layer.
#[divan::bench(args = ["default", "hardened", "read-only", "transfer-only", "locked"])]
fn preset(bencher: Bencher<'_, '_>, name: &str) {
    let catalogue = Catalogue::builtin();
    bencher.bench_local(|| {
        let mut sources = SourceMap::new();
        let preset = presets::get(name)?;
        let id = sources.add(preset.file, preset.text);
        let root = parse(&sources, id, Format::Yaml).0?;
        Some(lower::document(&sources, id, root, &catalogue, LayerKind::Preset))
    });
}
