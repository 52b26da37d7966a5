//! The seeded workload: every endpoint of the catalogue, path rules on all that take paths (5 allow and 5 deny globs, or as many as
//! asked), a scope check, and a mix of requests of which about half are allowed.

use crate::said::{Said, list};
use policy_lang::compile::{Options, compile};
use policy_lang::endpoint::{ENDPOINTS, EndpointDecl, EndpointId, Key};
use policy_lang::policy::{CompiledPolicy, EndpointIx};
use policy_lang::resolved::{Resolved, ResolvedValue};
use policy_lang::scope::ScopeSet;

/// A request of the mix.
pub(crate) struct Request {
    pub(crate) endpoint: EndpointIx,
    pub(crate) holder: usize,
    pub(crate) path: String,
}

/// Path patterns of one endpoint: what is allowed, what is denied.
pub(crate) struct Patterns {
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
}

/// Endpoints that carry path rules.
pub(crate) fn ruled() -> impl Iterator<Item = &'static EndpointDecl> {
    ENDPOINTS.iter().filter(|decl| decl.accepts.contains(Key::PathsAllow)).take(20)
}

/// `count` patterns for an endpoint, at least ten.
pub(crate) fn patterns(decl: &EndpointDecl, count: usize) -> Patterns {
    let mut random = Random(7);
    let id = decl.name;
    let mut allow: Vec<String> =
        ["/home/user/**", "/workspace/**", "/tmp/agent/**"].map(str::to_owned).into();
    allow.extend([format!("/srv/{id}/**"), format!("/data/{id}/**")]);
    let mut deny: Vec<String> =
        ["**/.git/**", "**/.ssh/**", "**/*.pem", "**/.env", "**/secrets/**"].map(str::to_owned).into();
    for at in 10..count {
        let name = random.below(1_000_000);
        match at % 4 {
            0 => allow.push(format!("/srv/p{name:06}/**")),
            1 => deny.push(format!("**/private_{name:06}/**")),
            2 => deny.push(format!("**/*.x{name:06}")),
            _ => deny.push(format!("**/secret_{name:06}.txt")),
        }
    }
    Patterns { allow, deny }
}

/// The policy with `count` patterns an endpoint, before it is compiled.
pub(crate) fn resolved(count: usize) -> Resolved {
    let mut said = Said::default();
    for decl in ENDPOINTS.iter() {
        let rule = said.rule(decl.id);
        said.say(decl.id, rule, Key::Enabled, ResolvedValue::Bool(decl.group.as_str() != "browser"));
    }
    for decl in ruled() {
        let rule = said.rule(decl.id);
        let patterns = patterns(decl, count);
        said.say(decl.id, rule, Key::PathsAllow, list(patterns.allow));
        said.say(decl.id, rule, Key::PathsDeny, list(patterns.deny));
    }
    said.resolved()
}

/// The compiled policy.
pub(crate) fn policy(count: usize) -> CompiledPolicy {
    compile(resolved(count), &Options { base_dir: "/home/user", ..Options::default() }).unwrap()
}

/// Three callers: one that reads, one that works, one that may do everything.
pub(crate) fn holders() -> [ScopeSet; 3] {
    let reads = ["core:read", "files:read"];
    let works = [
        "files:read",
        "files:write",
        "process:run",
        "process:manage",
        "devtools:run",
        "agents:read",
        "commands:run",
    ];
    [ScopeSet::parse(reads).unwrap(), ScopeSet::parse(works).unwrap(), ScopeSet::all()]
}

/// The request mix.
pub(crate) fn requests(count: usize) -> Vec<Request> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let ruled: Vec<EndpointId> = ruled().map(|decl| decl.id).collect();
    let directories = ["src", "lib", "pkg", "tests", "docs", "build", "data", "out"];
    let endings = ["rs", "py", "txt", "json", "md", "go"];
    let one = |random: &mut Random| {
        let id = if random.below(10) < 8 {
            *random.pick(&ruled)
        } else {
            EndpointId::ALL[random.below(EndpointId::COUNT)]
        };
        let holder = [0, 1, 1, 1, 1, 2, 2, 2][random.below(8)];
        let mut path = match random.below(10) {
            0..=5 => "/home/user".to_owned(),
            6 => "/workspace".to_owned(),
            7 => format!("/data/{}", id.as_str()),
            8 => "/etc".to_owned(),
            _ => "/var/lib/other".to_owned(),
        };
        for _ in 0..=random.below(4) {
            path.push('/');
            let part: &&str = random.pick(&directories);
            path.push_str(part);
        }
        match random.below(20) {
            0 => path.push_str("/.git/config"),
            1 => path.push_str("/key.pem"),
            2 => path.push_str("/.env"),
            3 => path.push_str("/secrets/token.txt"),
            _ => path.push_str(&format!("/module_{}.{}", random.below(1000), random.pick(&endings))),
        }
        Request { endpoint: EndpointIx(u16::try_from(id.index()).unwrap()), holder, path }
    };
    (0..count).map(|_| one(&mut random)).collect()
}

/// A small xorshift generator: the same mix on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
