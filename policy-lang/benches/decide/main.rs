//! The decision beside the bound: what one would write by hand for just this policy (an index, a bit set of scopes and
//! two precompiled glob sets an endpoint). Both decide the same 4,096 requests and must agree on every one.
//!
//! `cargo bench -p policy-lang --bench decide`

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench that meets something odd should stop"
)]

#[path = "../../../tests/policy/said.rs"]
mod said;
mod workload;

use divan::{Bencher, black_box, counter::ItemsCount};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use policy_lang::compile::{Options, compile};
use policy_lang::decide::{Decision, Op, PathQuery, Query, decide};
use policy_lang::endpoint::{ENDPOINTS, Scope};
use policy_lang::policy::CompiledPolicy;
use policy_lang::scope::ScopeSet;
use workload::Request;

const REQUESTS: usize = 4096;
const GROWTH: [usize; 4] = [10, 100, 1_000, 10_000];

fn main() {
    for count in GROWTH {
        let (policy, bound, holders) = (workload::policy(count), Bound::new(count), workload::holders());
        for request in workload::requests(REQUESTS) {
            let ours = ours(&policy, &holders, &request);
            assert_eq!(ours, bound.decide(&request), "{} {}", request.endpoint.0, request.path);
        }
    }
    divan::main();
}

fn ours(policy: &CompiledPolicy, holders: &[ScopeSet], request: &Request) -> bool {
    let path = [PathQuery { role: "path", path: request.path.as_bytes(), op: Op::Read }];
    let takes_paths = policy.endpoint(request.endpoint).is_some_and(|endpoint| endpoint.paths.is_some());
    let query = Query {
        scopes: Some(&holders[request.holder]),
        paths: if takes_paths { &path } else { &[] },
        ..Query::of(request.endpoint)
    };
    matches!(decide(policy, &query), Decision::Allow)
}

/// Whether it answers, the scopes it needs, and what it allows and denies.
type BoundEndpoint = (bool, u64, Option<(GlobSet, GlobSet)>);

/// The hand-written bound.
struct Bound {
    endpoints: Vec<BoundEndpoint>,
    holders: Vec<u64>,
}

impl Bound {
    fn new(count: usize) -> Self {
        let set = |patterns: &[String]| {
            let mut builder = GlobSetBuilder::new();
            for pattern in patterns {
                builder.add(GlobBuilder::new(pattern).literal_separator(true).build().unwrap());
            }
            builder.build().unwrap()
        };
        let bits = |holder: &ScopeSet| {
            let held = Scope::ALL.into_iter().filter(|scope| holder.holds(*scope));
            held.fold(0, |bits, scope| bits | 1 << scope.index())
        };
        let endpoints = ENDPOINTS.iter().map(|decl| {
            let need =
                decl.scopes.iter().fold(0, |bits, name| bits | 1 << Scope::from_name(name).unwrap().index());
            let ruled = workload::ruled().any(|ruled| ruled.id == decl.id);
            let paths = ruled.then(|| workload::patterns(decl, count));
            let others = decl.accepts.contains(policy_lang::endpoint::Key::PathsAllow) && !ruled;
            let paths = paths.map(|patterns| (set(&patterns.allow), set(&patterns.deny)));
            let base = others.then(|| (set(&["/home/user/**".to_owned()]), set(&[])));
            (decl.group.as_str() != "browser", need, paths.or(base))
        });
        let mut holders: Vec<u64> = workload::holders().iter().map(bits).collect();
        // Whoever runs every command runs the named one.
        for bits in &mut holders {
            if *bits & 1 << Scope::CommandsRun.index() != 0 {
                *bits |= 1 << Scope::CommandsRunName.index();
            }
        }
        Self { endpoints: endpoints.collect(), holders }
    }

    fn decide(&self, request: &Request) -> bool {
        let (enabled, need, paths) = &self.endpoints[usize::from(request.endpoint.0)];
        *enabled
            && self.holders[request.holder] & need == *need
            && paths
                .as_ref()
                .is_none_or(|(allow, deny)| allow.is_match(&request.path) && !deny.is_match(&request.path))
    }
}

#[divan::bench(args = GROWTH)]
fn decision(bencher: Bencher<'_, '_>, count: usize) {
    let (policy, holders, requests) =
        (workload::policy(count), workload::holders(), workload::requests(REQUESTS));
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        requests.iter().filter(|request| ours(black_box(&policy), &holders, request)).count()
    });
}

#[divan::bench(args = GROWTH)]
fn bound(bencher: Bencher<'_, '_>, count: usize) {
    let (bound, requests) = (Bound::new(count), workload::requests(REQUESTS));
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .bench_local(|| requests.iter().filter(|request| black_box(&bound).decide(request)).count());
}

#[divan::bench(args = GROWTH)]
fn build(bencher: Bencher<'_, '_>, count: usize) {
    let options = Options { base_dir: "/home/user", ..Options::default() };
    bencher.with_inputs(|| workload::resolved(count)).bench_local_values(|resolved| {
        let policy = compile(resolved, &options).unwrap();
        // What a server does beside: the first decision would have to.
        policy.prepare().unwrap();
        policy
    });
}
