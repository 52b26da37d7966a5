//! Policy documents of a wanted size, without a finding: what the benches read, check, compile and boot from.
//!
//! Every endpoint that takes paths and runs no program has a rule with as many allowed and denied globs as the size
//! needs; what runs programs is closed. The same size gives the same bytes on every machine.

use policy_lang::endpoint::{ENDPOINTS, EndpointDecl, Group, Key};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// 1 KB, 100 KB and 10 MB.
pub(crate) const SIZES: [usize; 3] = [1_000, 100_000, 10_000_000];

/// A document of about `bytes` bytes of JSON, about files beneath `base_dir`.
pub(crate) fn json(bytes: usize, base_dir: &str) -> String {
    serde_json::to_string(&document(bytes, base_dir)).unwrap_or_default()
}

/// The same document in YAML.
pub(crate) fn yaml(bytes: usize, base_dir: &str) -> String {
    serde_yaml::to_string(&document(bytes, base_dir)).unwrap_or_default()
}

#[derive(Serialize)]
struct Document<'a> {
    preset: &'static str,
    base_dir: &'a str,
    groups: BTreeMap<&'static str, bool>,
    endpoints: BTreeMap<&'static str, Rule>,
    auth: Auth,
}

#[derive(Serialize)]
struct Rule {
    enabled: bool,
    scopes: Vec<&'static str>,
    paths: Paths,
    limits: Limits,
}

#[derive(Serialize, Default)]
struct Paths {
    allow: Vec<String>,
    deny: Vec<String>,
}

#[derive(Serialize)]
struct Limits {
    max_concurrency: u32,
    rate_per_minute: u32,
}

#[derive(Serialize)]
struct Auth {
    tokens: [Token; 1],
}

#[derive(Serialize)]
struct Token {
    id: &'static str,
    token_env: &'static str,
    scopes: BTreeSet<&'static str>,
}

fn document(bytes: usize, base_dir: &str) -> Document<'_> {
    let ruled: Vec<&EndpointDecl> = ENDPOINTS.iter().filter(|decl| takes_paths_only(decl)).collect();
    let count = (bytes / 420).clamp(1, ruled.len());
    let patterns = ((bytes / count).saturating_sub(150) / 28).max(4);
    let mut random = Random(42);
    let ruled = ruled.get(..count).unwrap_or_default();
    // A scope that no token holds is a finding.
    let scopes = ruled.iter().flat_map(|decl| decl.scopes.iter().copied()).collect();
    let endpoints = ruled.iter().map(|decl| (decl.name, rule(decl, patterns, base_dir, &mut random)));
    Document {
        preset: "default",
        base_dir,
        groups: [Group::Process, Group::Terminal].map(|group| (group.as_str(), false)).into(),
        endpoints: endpoints.collect(),
        auth: Auth { tokens: [Token { id: "ci", token_env: "CI_TOKEN", scopes }] },
    }
}

/// Takes paths, and runs no program: every scope that lets a caller run one ends so.
fn takes_paths_only(decl: &EndpointDecl) -> bool {
    decl.accepts.contains(Key::PathsAllow) && !decl.scopes.iter().any(|scope| runs(scope))
}

fn runs(scope: &str) -> bool {
    scope.ends_with(":run") || scope.starts_with("terminal:")
}

fn rule(decl: &EndpointDecl, patterns: usize, base_dir: &str, random: &mut Random) -> Rule {
    let mut paths = Paths::default();
    for at in 0..patterns {
        let number = random.below(100_000);
        match at % 6 {
            0 => paths.allow.push(format!("{base_dir}/project_{number:05}/**")),
            1 => paths.allow.push(format!("{base_dir}/srv/{}/d{number:05}/**", decl.name)),
            2 => paths.deny.push(format!("**/private_{number:05}/**")),
            3 => paths.deny.push(format!("**/*.ext{number:05}")),
            4 => paths.allow.push(format!("{base_dir}/data/in/set_{number:05}/**")),
            _ => paths.deny.push(format!("**/secret_{number:05}.txt")),
        }
    }
    Rule {
        enabled: true,
        scopes: decl.scopes.to_vec(),
        paths,
        limits: Limits { max_concurrency: 5, rate_per_minute: 60 },
    }
}

/// A small xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % bound
    }
}
