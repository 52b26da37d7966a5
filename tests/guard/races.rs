//! The ground moves while it is walked on. `FULL_COUNTS=1` runs the long counts.
//!
//! Whatever happens, nothing from outside is answered and nothing outside changes.

use crate::world::{CANARY, World};
use runtime::files::archive::{ArchiveOptions, Format, archive};
use runtime::files::grep::{GrepOptions, grep};
use runtime::files::pattern::Pattern;
use runtime::files::search::{SearchOptions, Wanted, search};
use runtime::files::write::{WriteOptions, Writer};
use runtime::files::{FilesError, delete, read};
use runtime::guard::{GuardError, Resolver, Symlinks};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const RESOLVERS: [Resolver; 2] = [Resolver::Openat2, Resolver::Walk];

fn rounds(short: u64, full: u64) -> u64 {
    if std::env::var_os("FULL_COUNTS").is_some_and(|value| value == "1") { full } else { short }
}

/// Exchanges two names over and over while `work` runs; tells how often. `work` is given a way to wait for the next
/// exchange.
fn while_exchanging(one: &Path, other: &Path, threads: usize, work: impl FnOnce(&dyn Fn())) -> u64 {
    /// Ends the exchanges whichever way the work ends.
    struct Done<'a>(&'a AtomicBool);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let done = AtomicBool::new(false);
    let exchanges = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let _done = Done(&done);
        for _ in 0..threads {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
                        exchanges.fetch_add(1, Ordering::Relaxed);
                    }
                    std::thread::yield_now();
                }
            });
        }
        work(&|| {
            let seen = exchanges.load(Ordering::Relaxed);
            while exchanges.load(Ordering::Relaxed) == seen {
                std::thread::yield_now();
            }
        });
    });
    exchanges.into_inner()
}

fn harmless(error: &FilesError) -> bool {
    matches!(
        error,
        FilesError::Guard(
            GuardError::Refused(_)
                | GuardError::NotFound
                | GuardError::NotADirectory
                | GuardError::NotARegularFile
        )
    )
}

/// How many reads were refused, for whatever reason.
fn met(refused: &std::collections::BTreeMap<String, u64>) -> u64 {
    refused.values().sum()
}

/// Case 5.
#[test]
fn a_directory_swapped_for_a_link_leaks_nothing_and_takes_nothing() {
    let rounds = rounds(2000, 20_000);
    for resolver in RESOLVERS {
        for links in [Symlinks::Within, Symlinks::Deny] {
            let world = World::new(resolver, links);
            let (base, path) = (world.base(), world.path("d/f.txt").unwrap());
            symlink(world.top.path().join("outside/dir"), base.join("swap")).unwrap();
            let (mut inside, mut refused) = (0, std::collections::BTreeMap::<String, u64>::new());
            let exchanges = while_exchanging(&base.join("d"), &base.join("swap"), 16, |turn| {
                // On past the count while one of the two sides was hardly met: how often is the scheduler's choice.
                let (mut round, until) = (0, Instant::now() + Duration::from_secs(120));
                while round < rounds || (inside.min(met(&refused)) <= rounds / 50 && Instant::now() < until) {
                    round += 1;
                    let read = read::open(world.access(), &path, None).and_then(|mut file| {
                        let mut content = Vec::new();
                        file.read_to_end(&mut content)?;
                        Ok(content)
                    });
                    match read {
                        Ok(content) => {
                            assert!(content.starts_with(b"inside"), "{}", String::from_utf8_lossy(&content));
                            inside += 1;
                        }
                        Err(error) => {
                            assert!(harmless(&error), "{error:?}");
                            *refused.entry(crate::world::word(&Err(error))).or_default() += 1;
                            // A link is refused so fast that it would be met over and over before the next exchange.
                            turn();
                        }
                    }
                    let written = Writer::begin(world.access(), &path, WriteOptions::default()).and_then(
                        |mut writer| {
                            writer.write(format!("inside {round}").as_bytes())?;
                            writer.finish()
                        },
                    );
                    assert!(written.as_ref().err().is_none_or(harmless), "{written:?}");
                }
            });
            world.assert_outside_untouched("swapped directory");
            let met_links = met(&refused);
            assert!(inside > rounds / 50 && met_links > rounds / 50, "{inside} inside, {met_links} links");
            println!(
                "{resolver:?} {links:?}: {exchanges} exchanges, {inside} read inside, refused {refused:?}, 0 leaks"
            );
        }
    }
}

/// Case 7.
#[test]
fn a_recursive_delete_never_leaves_the_tree() {
    let rounds = rounds(500, 5000);
    for resolver in RESOLVERS {
        let world = World::new(resolver, Symlinks::Within);
        let base = world.base();
        let mut whole = 0;
        let mut exchanges = 0;
        for _ in 0..rounds {
            let tree = base.join("tree");
            let _ = fs::remove_dir_all(&tree);
            let _ = fs::remove_dir_all(base.join("swap"));
            let _ = fs::remove_file(base.join("swap"));
            fs::create_dir_all(tree.join("sub/deep")).unwrap();
            fs::write(tree.join("sub/deep/f"), "inside").unwrap();
            fs::write(tree.join("sub/g"), "inside").unwrap();
            symlink(world.top.path().join("outside"), base.join("swap")).unwrap();
            let path = world.path("tree").unwrap();
            exchanges +=
                while_exchanging(&tree.join("sub"), &base.join("swap"), 1, |_| {
                    match delete::delete(world.access(), &path, 1000) {
                        Ok(_) => whole += 1,
                        Err(error) => assert!(
                            harmless(&error) || matches!(error, FilesError::Incomplete { .. }),
                            "{error:?}"
                        ),
                    }
                });
        }
        world.assert_outside_untouched("recursive delete");
        println!(
            "{resolver:?}: {rounds} rounds, {exchanges} exchanges, {whole} whole deletions, 0 losses outside"
        );
    }
}

/// Cases 8 and 32.
#[test]
fn walks_meet_links_where_directories_were() {
    let rounds = rounds(200, 10_000);
    for resolver in RESOLVERS {
        walks(resolver, rounds);
    }
}

fn walks(resolver: Resolver, rounds: u64) {
    let world = World::new(resolver, Symlinks::Within);
    let base = world.base();
    for number in 0..20 {
        let dir = base.join(format!("deep/{number}/a/b"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("f.txt"), "inside\n").unwrap();
    }
    symlink(world.top.path().join("outside"), base.join("swap")).unwrap();
    let path = world.path("deep").unwrap();
    let exchanges = while_exchanging(&base.join("deep/7/a"), &base.join("swap"), 1, |_| {
        for _ in 0..rounds {
            let options = SearchOptions {
                pattern: Pattern::search("*").unwrap(),
                wanted: Wanted::Any,
                limit: 10_000,
                metadata: true,
            };
            for hit in search(world.access(), &path, &options).unwrap().results {
                let name = String::from_utf8(hit.relative).unwrap();
                assert!(!name.contains("secret") && !name.contains("into"), "{name}");
            }
            let options = GrepOptions { needle: CANARY.to_vec(), files: None, limit: 10, max_bytes: 1 << 20 };
            assert_eq!(grep(world.access(), &path, &options).unwrap().matches, vec![]);
            let options = ArchiveOptions { format: Format::TarGz, max_bytes: 1 << 20, max_entries: 1000 };
            let packed = archive(world.access(), std::slice::from_ref(&path), options).unwrap();
            let mut content = Vec::new();
            let reader = packed.content.into_reader().unwrap();
            flate2::read::GzDecoder::new(reader).read_to_end(&mut content).unwrap();
            assert!(!content.windows(CANARY.len()).any(|window| window == CANARY));
        }
    });
    world.assert_outside_untouched("walks");
    println!("{resolver:?}: {rounds} rounds of search, grep and archive, {exchanges} exchanges, 0 leaks");
}

/// A rename anywhere makes the kernel doubt `..` and links: opening goes on all the same.
#[test]
fn a_rename_storm_elsewhere_fails_no_request() {
    let rounds = rounds(5000, 50_000);
    for resolver in RESOLVERS {
        let world = World::new(resolver, Symlinks::Within);
        let base = world.base();
        fs::create_dir_all(base.join("storm/one/x")).unwrap();
        fs::create_dir_all(base.join("storm/two/y")).unwrap();
        let paths = ["d/sub/deep.txt", "l_dir/sub/deep.txt", "d/l_self/l_self/sub/deep.txt"]
            .map(|path| world.path(path).unwrap());
        let exchanges = while_exchanging(&base.join("storm/one"), &base.join("storm/two"), 2, |_| {
            for round in 0..rounds {
                let path = &paths[usize::try_from(round).unwrap() % paths.len()];
                assert!(read::open(world.access(), path, None).is_ok(), "{path:?}");
            }
        });
        println!("{resolver:?}: {rounds} opens, {exchanges} exchanges, 0 failures");
    }
}

/// Case 28.
#[test]
fn a_root_replaced_after_start_is_still_the_one_opened_at_start() {
    for resolver in RESOLVERS {
        let world = World::new(resolver, Symlinks::Within);
        let moved = world.top.path().join("moved-base");
        fs::rename(world.base(), &moved).unwrap();
        symlink(world.top.path().join("outside"), world.base()).unwrap();
        let mut content = String::new();
        let path = world.path("a.txt").unwrap();
        read::open(world.access(), &path, None).unwrap().read_to_string(&mut content).unwrap();
        assert_eq!(content, "inside a");
        let secret = world.path("secret").unwrap();
        assert!(read::open(world.access(), &secret, None).is_err());
        let mut writer =
            Writer::begin(world.access(), &world.path("new").unwrap(), WriteOptions::default()).unwrap();
        writer.write(b"new").unwrap();
        writer.finish().unwrap();
        assert_eq!(fs::read(moved.join("new")).unwrap(), b"new");
        // A reload keeps the handle as well.
        let options = runtime::guard::GuardOptions::new(world.guard.base_dir().to_vec());
        let again = runtime::guard::Guard::open(options, Some(&world.guard)).unwrap();
        let access = runtime::files::Access { guard: &again, ..world.access() };
        assert!(read::open(access, &path, None).is_ok() && read::open(access, &secret, None).is_err());
        fs::remove_file(world.base()).unwrap();
        world.assert_outside_untouched("replaced root");
    }
}
