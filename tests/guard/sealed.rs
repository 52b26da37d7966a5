//! What is sealed by what it is: under another name every operation answers as for its own.

use crate::table::OPERATIONS;
use crate::world::{World, word};
use runtime::files::list::{ListOptions, list};
use runtime::files::pattern::Pattern;
use runtime::files::search::{SearchOptions, Wanted, search};
use runtime::files::{delete, mkdir, read, relocate};
use runtime::guard::{Guard, GuardOptions, Op, Resolver, Symlinks};
use rustix::fd::OwnedFd;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A world with what is sealed by its path sealed by what it is as well.
fn world(resolver: Resolver) -> World {
    let world = World::new(resolver, Symlinks::Within);
    let (base, log) = (world.base(), world.base().join("audit.log"));
    let folder = Arc::new(OwnedFd::from(File::open(&base).unwrap()));
    let found = fs::metadata(&log).unwrap();
    let seal = || Ok::<_, ()>(((), (found.dev(), found.ino())));
    world.guard.seals().seal_log(&folder, seal).unwrap();
    world
}

/// What every operation answers.
fn answers(world: &World, asked: &str) -> Vec<(&'static str, String)> {
    let path = world.path(asked).unwrap();
    let answer = |(name, _, operation): &(&'static str, bool, crate::table::Operation)| {
        (*name, word(&operation(world, &path, &mut Vec::new())))
    };
    OPERATIONS.iter().map(answer).collect()
}

fn rename(world: &World, from: &str, to: &str) {
    fs::rename(world.base().join(from), world.base().join(to)).unwrap();
}

const RESOLVERS: [Resolver; 2] = [Resolver::Openat2, Resolver::Walk];

#[test]
fn another_name_of_a_sealed_file_is_refused_by_every_operation() {
    for resolver in RESOLVERS {
        let world = world(resolver);
        let right = ["audit.log", "audit.log/", "audit.log/below"].map(|asked| answers(&world, asked));
        assert!(right.iter().flatten().all(|(_, answer)| answer == "denied"), "{right:?}");
        rename(&world, "audit.log", "d/renamed.txt");
        fs::hard_link(world.base().join("d/renamed.txt"), world.base().join("second")).unwrap();
        symlink("d/renamed.txt", world.base().join("l_renamed")).unwrap();
        for name in ["d/renamed.txt", "second", "d/../second"] {
            let found = ["", "/", "/below"].map(|end| answers(&world, &format!("{name}{end}")));
            assert_eq!(found, right, "{name}");
        }
        let path = world.path("l_renamed").unwrap();
        let read = read::open(world.access(), &path, None).map(drop);
        assert_eq!(word(&read), "denied", "through a link");
        world.assert_outside_untouched("sealed");
    }
}

#[test]
fn trees_leave_it_out_and_are_not_taken_away_with_it() {
    for resolver in RESOLVERS {
        let world = world(resolver);
        fs::create_dir_all(world.base().join("e/f")).unwrap();
        rename(&world, "audit.log", "e/f/renamed.txt");
        fs::write(world.base().join("e/f/note.txt"), "inside").unwrap();
        let path = world.path("e").unwrap();
        let listing = list(world.access(), &path, ListOptions { max_depth: 9, limit: 99 }).unwrap();
        let names: Vec<_> = listing.entries.iter().map(|entry| entry.relative.as_slice()).collect();
        assert_eq!((names, listing.end.skipped), (vec![&b"f"[..], b"f/note.txt"], 1));
        // Without metadata nothing is looked at but the names.
        let options = SearchOptions {
            pattern: Pattern::search("*").unwrap(),
            wanted: Wanted::Any,
            limit: 99,
            metadata: false,
        };
        let hits = search(world.access(), &path, &options).unwrap();
        let names: Vec<_> = hits.results.iter().map(|hit| hit.relative.as_slice()).collect();
        assert_eq!((names, hits.end.skipped), (vec![&b"f"[..], b"f/note.txt"], 1));
        let gone = delete::delete(world.access(), &path, 99).map(drop);
        assert_eq!(word(&gone), "denied");
        assert!(world.base().join("e/f/note.txt").exists(), "nothing of it has gone");
    }
}

/// A world with a sealed directory that has been renamed to `e/renamed`. Where the guard knows that it belongs below the base,
/// it looks at every directory on the way.
fn renamed_directory(resolver: Resolver, within: bool) -> World {
    let mut world = world(resolver);
    let base = world.base();
    let state = base.join("state");
    for dir in [&state.join("inner"), &base.join("e")] {
        fs::create_dir_all(dir).unwrap();
    }
    fs::write(state.join("inner/kept.txt"), "inside").unwrap();
    let sealed = vec![state.as_os_str().as_bytes().to_vec()];
    let options = GuardOptions {
        resolver,
        durable: false,
        sealed_dirs: if within { sealed.clone() } else { Vec::new() },
        sealed,
        ..GuardOptions::new(base.as_os_str().as_bytes())
    };
    world.guard = Guard::open(options, None).unwrap();
    world.guard.seals().hold_state(&state);
    rename(&world, "state", "e/renamed");
    world
}

#[test]
fn a_sealed_directory_is_refused_with_what_lies_in_it() {
    for (resolver, within) in RESOLVERS.into_iter().flat_map(|one| [(one, true), (one, false)]) {
        let world = renamed_directory(resolver, within);
        let mut names = vec!["e/renamed", "e/renamed/"];
        symlink("e/renamed", world.base().join("l_state")).unwrap();
        if within {
            let below =
                ["e/renamed/inner", "e/renamed/inner/kept.txt", "e/renamed/new", "e/renamed/new/below"];
            names.extend(below);
        }
        names.push("l_state");
        for name in names {
            let found = answers(&world, name);
            let itself = name == "l_state";
            let denied = found.iter().filter(|(operation, _)| {
                // A link is looked at, removed and moved itself.
                !(itself && ["stat", "delete", "from", "to"].contains(operation))
            });
            let open: Vec<_> = denied.filter(|(_, answer)| answer != "denied").collect();
            assert!(open.is_empty(), "{name}: {open:?}");
        }
        for name in ["e/renamed/new", "e/renamed/new/below"] {
            let made = mkdir::mkdir(world.access(), &world.path(name).unwrap()).map(drop);
            assert_eq!(word(&made), "denied", "{name}");
        }
        let directory = world.path("e/renamed").unwrap();
        let opened = world.guard.directory(&world.rules, &directory, Op::Run).map(drop);
        assert_eq!(word(&opened.map_err(Into::into)), "denied", "as a working directory");
        let (from, to) = (world.path("e").unwrap(), world.path("taken").unwrap());
        let (moved, end) = relocate::relocate(world.access(), &from, &to, false).unwrap_err();
        assert_eq!((word(&Err(moved)).as_str(), end), ("denied", relocate::End::Source));
        let gone = delete::delete(world.access(), &from, 99).map(drop);
        assert_eq!(word(&gone), "denied");
        let listing = list(world.access(), &from, ListOptions { max_depth: 9, limit: 99 }).unwrap();
        assert_eq!((listing.entries.len(), listing.end.skipped), (0, 1));
        assert!(world.base().join("e/renamed/inner/kept.txt").exists());
    }
}

/// What is checked is the handle, not the name: there is no moment in which it is open under either.
#[test]
fn a_name_that_comes_and_goes_is_never_read() {
    for resolver in RESOLVERS {
        let world = world(resolver);
        let (mine, other) = (world.base().join("a.txt"), world.base().join("kept"));
        let log = world.base().join("second");
        rename(&world, "audit.log", "second");
        let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).unwrap();
        let (right, mut read) = (BTreeSet::from([identity(&mine)]), BTreeSet::new());
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let swap = |one: &Path, two: &Path| fs::rename(one, two).unwrap();
                while !over.load(Ordering::Relaxed) {
                    swap(&mine, &other);
                    swap(&log, &mine);
                    swap(&mine, &log);
                    swap(&other, &mine);
                }
            });
            for _ in 0..3000 {
                for name in ["a.txt", "second", "kept"] {
                    let path = world.path(name).unwrap();
                    read.extend(read::open(world.access(), &path, None).map(|file| file.identity));
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(read, right);
    }
}
