//! What a guarded open costs beside the bare `openat2` and `fstat` that it makes. Budget: twice.

use policy_lang::paths::{PathRules, PathSource, ReadOnlySource, Symlinks};
use policy_lang::policy::{ElementRef, Listed, Ruled};
use policy_lang::resolved::{List, RuleIx};
use runtime::guard::{Guard, GuardOptions, Last, NormalPath, Op, PathJudge, Refusal, RefusalKind, Resolver};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use std::hint::black_box;

fn main() {
    divan::main();
}

/// Compiled rules with ten denials, as the guard asks them.
struct Rules(PathRules);

impl PathJudge for Rules {
    fn judge(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        match self.0.judge(path, op).element() {
            None => Ok(()),
            Some(element) => Err(Refusal { kind: RefusalKind::Denied, element }),
        }
    }

    fn symlinks(&self) -> Symlinks {
        self.0.symlinks().value
    }
}

struct Scene {
    dir: tempfile::TempDir,
    base: String,
    rules: Rules,
}

fn scene() -> Option<Scene> {
    let dir = tempfile::tempdir_in(std::fs::canonicalize("/tmp").ok()?).ok()?;
    std::fs::create_dir_all(dir.path().join("src/deep")).ok()?;
    std::fs::write(dir.path().join("src/deep/main.rs"), "fn main() {}").ok()?;
    let base = dir.path().display().to_string();
    let deny = [
        "**/.git/**",
        "**/.env",
        "*.pem",
        "*.key",
        ".ssh",
        "node_modules",
        "secrets",
        "*.p12",
        "**/.aws/**",
        "id_rsa",
    ];
    let rules = PathRules::build(&PathSource {
        base_dir: &base,
        allow: None,
        allow_rule: ElementRef::BASE,
        deny: vec![Listed { list: &List::of(deny), origin: ElementRef::BASE }],
        read_only: ReadOnlySource::Nothing,
        symlinks: Ruled { value: Symlinks::Within, rule: RuleIx::BASE },
    });
    Some(Scene { rules: Rules(rules.ok()?), base, dir })
}

#[divan::bench]
fn bare_openat2_and_fstat(bencher: divan::Bencher<'_, '_>) {
    let Some(scene) = scene() else { return };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(root) = rustix::fs::openat(rustix::fs::CWD, scene.dir.path(), flags, Mode::empty()) else {
        return;
    };
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    bencher.bench_local(|| {
        let fd = rustix::fs::openat2(&root, black_box("src/deep/main.rs"), flags, Mode::empty(), how)?;
        rustix::fs::fstat(&fd)
    });
}

fn guarded(bencher: divan::Bencher<'_, '_>, resolver: Resolver) {
    let Some(scene) = scene() else { return };
    let options = GuardOptions { resolver, ..GuardOptions::new(scene.base.clone()) };
    let Ok(guard) = Guard::open(options, None) else { return };
    bencher.bench_local(|| {
        let path = NormalPath::new(guard.base_dir(), black_box(b"src/deep/main.rs"))?;
        guard.entry(&scene.rules, &path, Op::Read, Last::Itself).map(|opened| opened.stat)
    });
}

#[divan::bench]
fn guard_openat2(bencher: divan::Bencher<'_, '_>) {
    guarded(bencher, Resolver::Openat2);
}

#[divan::bench]
fn guard_walk(bencher: divan::Bencher<'_, '_>) {
    guarded(bencher, Resolver::Walk);
}
