//! Search and grep of 100,000 files beside the `ignore` walker, in one run. Budget: 1.3 times.
//!
//! `SEARCH_FILES` sets another number of files.

use ignore::{WalkBuilder, WalkState};
use memchr::memmem::Finder;
use runtime::files::grep::{GrepOptions, grep};
use runtime::files::pattern::Pattern;
use runtime::files::search::{SearchOptions, Wanted, search};
use runtime::files::{Access, Stop};
use runtime::guard::{Guard, GuardOptions, NormalPath, Op, PathJudge, Refusal, Symlinks, is_below};
use std::hint::black_box;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

fn main() {
    divan::main();
}

/// Everything below the base; judged for each entry, as under a policy that denies something.
struct Base(Vec<u8>);

impl PathJudge for Base {
    fn judge(&self, path: &[u8], _: Op) -> Result<(), Refusal> {
        if is_below(&self.0, path) {
            Ok(())
        } else {
            Err(Refusal::own(runtime::guard::RefusalKind::NotAllowed))
        }
    }

    fn symlinks(&self) -> Symlinks {
        Symlinks::Within
    }
}

static TREE: LazyLock<Option<tempfile::TempDir>> = LazyLock::new(|| {
    let files = std::env::var("SEARCH_FILES").ok().and_then(|files| files.parse().ok()).unwrap_or(100_000);
    let tree = tempfile::tempdir_in(std::fs::canonicalize("/tmp").ok()?).ok()?;
    let text = "let value = compute(input);\n".repeat(60);
    for number in 0..files {
        let dir = tree.path().join(format!("{:02}/{:02}", number / 1000 % 100, number / 100 % 10));
        if number % 100 == 0 {
            std::fs::create_dir_all(&dir).ok()?;
        }
        let ending = ["rs", "py", "txt", "md", "json"].get(number % 5).copied().unwrap_or("rs");
        let rare = if number % 500 == 0 { "needle\n" } else { "" };
        std::fs::write(dir.join(format!("file{number}.{ending}")), format!("{text}{rare}")).ok()?;
    }
    Some(tree)
});

fn walker(root: &Path) -> ignore::WalkParallel {
    WalkBuilder::new(root).standard_filters(false).threads(2).build_parallel()
}

#[divan::bench(sample_count = 7, sample_size = 1)]
fn glob_ignore_walker() -> usize {
    let Some(tree) = TREE.as_ref() else { return 0 };
    let found = AtomicUsize::new(0);
    walker(tree.path()).run(|| {
        Box::new(|entry| {
            if entry.is_ok_and(|entry| entry.path().extension().is_some_and(|ending| ending == "rs")) {
                found.fetch_add(1, Ordering::Relaxed);
            }
            WalkState::Continue
        })
    });
    found.into_inner()
}

#[divan::bench(sample_count = 7, sample_size = 1)]
fn grep_ignore_walker() -> usize {
    let Some(tree) = TREE.as_ref() else { return 0 };
    let (found, finder) = (AtomicUsize::new(0), Finder::new("needle"));
    walker(tree.path()).run(|| {
        Box::new(|entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
                && std::fs::read(entry.path()).is_ok_and(|content| finder.find(&content).is_some())
            {
                found.fetch_add(1, Ordering::Relaxed);
            }
            WalkState::Continue
        })
    });
    found.into_inner()
}

fn with_access(work: impl Fn(Access<'_>, &NormalPath) -> usize) -> usize {
    let Some(tree) = TREE.as_ref() else { return 0 };
    let base = tree.path().display().to_string().into_bytes();
    let Ok(guard) = Guard::open(GuardOptions::new(base.clone()), None) else { return 0 };
    let (rules, stop) = (Base(base), Stop::default());
    let Ok(path) = NormalPath::new(guard.base_dir(), b".") else { return 0 };
    work(Access { guard: &guard, judge: &rules, stop: &stop }, &path)
}

#[divan::bench(sample_count = 7, sample_size = 1)]
fn glob_guarded() -> usize {
    with_access(|access, path| {
        let Ok(pattern) = Pattern::search("*.rs") else { return 0 };
        let options = SearchOptions { pattern, wanted: Wanted::Any, limit: 100_000, metadata: false };
        search(access, path, black_box(&options)).map_or(0, |found| found.results.len())
    })
}

#[divan::bench(sample_count = 7, sample_size = 1)]
fn grep_guarded() -> usize {
    with_access(|access, path| {
        let options =
            GrepOptions { needle: b"needle".to_vec(), files: None, limit: 100_000, max_bytes: 1 << 30 };
        grep(access, path, black_box(&options)).map_or(0, |found| found.matches.len())
    })
}
