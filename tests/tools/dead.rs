//! Dead rules against their definition: each rule of random documents is deleted, and what the policy says is compared.

use crate::random::{Random, document};
use policy_lang::check::dead::dead;
use policy_lang::check::{Context, Facts};
use policy_lang::diag::{Code, Levels};
use policy_lang::endpoint::{Catalogue, Group};
use policy_lang::layer::{Layer, LayerKind};
use policy_lang::layers::{default, preset};
use policy_lang::lower;
use policy_lang::merge::merge;
use policy_lang::parse::{self, Format};
use policy_lang::source::SourceMap;
use policy_lang::variant::{Effect, Stack};
use policy_lang::{Document, Inputs, compile_document};
use std::collections::BTreeSet;

/// The blocks of the document that are dead, by position.
fn judged(text: &str, preset_name: Option<&str>) -> Option<BTreeSet<usize>> {
    let catalogue = Catalogue::builtin();
    let mut sources = SourceMap::new();
    let id = sources.add("policy.yaml", text);
    let (root, found) = parse::parse(&sources, id, Format::Yaml);
    assert_eq!(found, []);
    let (policy, found) = lower::document(&sources, id, root?, &catalogue, LayerKind::Policy);
    if found.iter().any(|finding| finding.severity == policy_lang::diag::Severity::Error) {
        return None;
    }
    let mut layers = vec![default::layer(), policy];
    if let Some(name) = preset_name {
        layers.push(preset::layer(name, &mut sources, &catalogue)?.0);
    }
    let (merged, conflicts) = merge(&layers, &sources, &catalogue);
    if !conflicts.is_empty() {
        return None;
    }
    let first = merged.resolved.rules.iter().position(|rule| rule.layer == LayerKind::Policy)?;
    let context = Context {
        merged: &merged,
        layers: &layers,
        catalogue: &catalogue,
        base_dir: merged.resolved.base_dir.as_ref().map_or("/home/user", |(dir, _)| dir),
        facts: Facts::default(),
        sources: &sources,
        tree: std::cell::OnceCell::new(),
    };
    Some(dead(&context).keys().map(|rule| rule.0 as usize - first).collect())
}

#[test]
fn a_rule_is_dead_exactly_where_deleting_it_changes_nothing() {
    let catalogue = Catalogue::builtin();
    let levels = Levels::default();
    // The environment may open a group, and a close that holds against it is alive.
    let groups: Vec<&str> =
        Group::ALL.into_iter().map(Group::as_str).filter(|name| *name != "core").collect();
    let everything = groups.join(",");
    let (mut rules, mut gone) = (0, 0);
    for seed in 0..crate::count(250, 10_000) {
        let mut random = Random::new(seed);
        let document = document(&mut random);
        let preset_name = document["preset"].as_str().map(str::to_owned);
        let text = serde_json::to_string(&document).unwrap();
        let Some(judged) = judged(&text, preset_name.as_deref()) else { continue };
        let written = Document { name: "policy.yaml", bytes: text.as_bytes(), format: Format::Yaml };
        let deaths: Vec<BTreeSet<usize>> = [None, Some(everything.as_str())]
            .into_iter()
            .map(|enabled_groups| {
                let inputs = Inputs { enabled_groups, ..Inputs::new(&catalogue, &levels) };
                let outcome = compile_document(Some(written), &inputs);
                let stack = Stack::new(Some(written), &outcome, &inputs).unwrap();
                let says = |layer: &Layer| {
                    stack.compile(layer.clone()).map(|policy| Effect::of(&policy, &catalogue))
                };
                let before = says(&stack.document);
                let without = |at: usize| {
                    let mut layer = stack.document.clone();
                    layer.blocks.remove(at);
                    layer
                };
                (0..stack.document.blocks.len())
                    .filter(|at| !stack.document.blocks[*at].statements.is_empty())
                    .filter(|at| says(&without(*at)) == before)
                    .collect()
            })
            .collect();
        // Dead as it stands, and dead whatever the environment opens.
        let by_deleting: BTreeSet<usize> = deaths[0].intersection(&deaths[1]).copied().collect();
        rules += document["endpoints"].as_object().map_or(0, serde_json::Map::len);
        gone += by_deleting.len();
        assert_eq!(judged, by_deleting, "seed {seed}\n{}", serde_json::to_string_pretty(&document).unwrap());
    }
    assert!(rules > 400 && gone > 50, "{rules} rules, {gone} dead");
}

#[test]
fn a_reported_rule_is_dead() {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    for seed in 0..crate::count(100, 2_000) {
        let document = document(&mut Random::new(seed));
        let text = serde_json::to_string(&document).unwrap();
        let preset_name = document["preset"].as_str().map(str::to_owned);
        let written = Document { name: "policy.yaml", bytes: text.as_bytes(), format: Format::Yaml };
        let outcome = compile_document(Some(written), &Inputs::new(&catalogue, &levels));
        let reported = outcome.diagnostics.iter().filter(|finding| finding.code == Code::DeadRule).count();
        let judged = judged(&text, preset_name.as_deref()).map_or(0, |judged| judged.len());
        assert!(reported <= judged, "seed {seed}");
    }
}
