//! From text to a policy that decides, and from a compiled set to the same: 1 KB, 100 KB, 10 MB.
//!
//! `cargo bench -p policy-lang --bench stages`. Loading should cost a fifth of compiling at most, and every stage should
//! grow as the size does.

use std::fmt::Write as _;

use divan::{Bencher, black_box};
use policy_lang::check::{Context, Facts, check};
use policy_lang::diag::Levels;
use policy_lang::endpoint::{Catalogue, ENDPOINTS, Key};
use policy_lang::layer::{Layer, LayerKind};
use policy_lang::parse::{Format, parse};
use policy_lang::source::SourceMap;
use policy_lang::{Document, Inputs, Outcome, compile_document, form, load_compiled, lower, merge};

const SIZES: [usize; 3] = [1_000, 100_000, 10_000_000];

fn main() {
    divan::main();
}

/// A policy of about `bytes`, in YAML: a rule for each endpoint that takes paths, half allows and half denies.
fn yaml(bytes: usize) -> String {
    let takers: Vec<_> = ENDPOINTS.iter().filter(|decl| decl.accepts.contains(Key::PathsAllow)).collect();
    let each = (bytes / takers.len()).saturating_sub(40) / 34;
    let mut text = String::from("endpoints:\n");
    for decl in takers {
        let _ = write!(text, "  {}:\n    paths:\n      allow:\n        - /home/user/out\n", decl.name);
        for at in 0..each / 2 {
            let _ = writeln!(text, "        - /home/user/{at:06}/src/**");
        }
        text.push_str("      deny:\n        - \"**/.git/**\"\n");
        for at in 0..each / 2 {
            let _ = writeln!(text, "        - /home/user/{at:06}/src/.env");
        }
        if text.len() >= bytes {
            break;
        }
    }
    text
}

fn json(bytes: usize) -> String {
    let value: serde_json::Value = serde_yaml::from_str(&yaml(bytes)).unwrap_or_default();
    value.to_string()
}

fn with_inputs<T>(run: impl FnOnce(&Inputs<'_>) -> T) -> T {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    run(&Inputs::new(&catalogue, &levels))
}

fn compiled(text: &str, format: Format) -> Outcome {
    let document = Document { name: "policy", bytes: text.as_bytes(), format };
    let outcome = with_inputs(|inputs| compile_document(Some(document), inputs));
    assert!(outcome.policy.is_some());
    outcome
}

#[divan::bench(args = SIZES)]
fn compile_yaml(bencher: Bencher<'_, '_>, size: usize) {
    let text = yaml(size);
    bencher.bench_local(|| compiled(&text, Format::Yaml));
}

#[divan::bench(args = SIZES)]
fn compile_json(bencher: Bencher<'_, '_>, size: usize) {
    let text = json(size);
    bencher.bench_local(|| compiled(&text, Format::Json));
}

#[divan::bench(args = SIZES)]
fn load(bencher: Bencher<'_, '_>, size: usize) {
    let outcome = compiled(&yaml(size), Format::Yaml);
    let Some(resolved) = outcome.resolved() else { return };
    let set = form::write(resolved);
    bencher
        .with_inputs(|| set.clone())
        .bench_local_values(|set| with_inputs(|inputs| load_compiled(black_box(set).into(), inputs).is_ok()));
}

#[divan::bench(args = SIZES)]
fn read_the_set_alone(bencher: Bencher<'_, '_>, size: usize) {
    let outcome = compiled(&yaml(size), Format::Yaml);
    let Some(resolved) = outcome.resolved() else { return };
    let set = form::write(resolved);
    let catalogue = Catalogue::builtin();
    bencher
        .with_inputs(|| set.clone())
        .bench_local_values(|set| form::read(black_box(set).into(), &catalogue));
}

#[divan::bench(args = SIZES)]
fn write(bencher: Bencher<'_, '_>, size: usize) {
    let outcome = compiled(&yaml(size), Format::Yaml);
    let Some(resolved) = outcome.resolved() else { return };
    bencher.bench_local(|| form::write(black_box(resolved)));
}

fn layers(size: usize) -> (SourceMap, Vec<Layer>) {
    let mut sources = SourceMap::default();
    let source = sources.add("policy.yaml", yaml(size));
    let (Some(root), _) = parse(&sources, source, Format::Yaml) else { return (sources, Vec::new()) };
    let (layer, _) = lower::document(&sources, source, root, &Catalogue::builtin(), LayerKind::Policy);
    (sources, vec![layer])
}

#[divan::bench(args = SIZES)]
fn merge_alone(bencher: Bencher<'_, '_>, size: usize) {
    let (sources, layers) = layers(size);
    let catalogue = Catalogue::builtin();
    bencher.bench_local(|| black_box(merge::merge(&layers, &sources, &catalogue)).1.len());
}

#[divan::bench(args = SIZES)]
fn check_alone(bencher: Bencher<'_, '_>, size: usize) {
    let (sources, layers) = layers(size);
    let catalogue = Catalogue::builtin();
    let (merged, _) = merge::merge(&layers, &sources, &catalogue);
    let context = Context {
        merged: &merged,
        layers: &layers,
        catalogue: &catalogue,
        base_dir: "/home/user",
        facts: Facts::default(),
        sources: &sources,
        tree: std::cell::OnceCell::new(),
    };
    bencher.bench_local(|| check(black_box(&context)).len());
}
