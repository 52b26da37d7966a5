//! Kernel file systems and small disks mounted inside the base. Only root can mount: elsewhere these say so and pass.

use crate::world::{World, word};
use runtime::files::list::{ListOptions, list};
use runtime::files::pattern::Pattern;
use runtime::files::search::{SearchOptions, Wanted, search};
use runtime::files::write::{WriteOptions, Writer};
use runtime::files::{FilesError, delete, mkdir, read, relocate, stat};
use runtime::guard::{Resolver, Symlinks};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mount that goes with its test.
pub(crate) struct Mount(PathBuf);

impl Mount {
    pub(crate) fn new(kind: &str, options: &str, at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let status = Command::new("mount")
            .args(["-t", kind, "-o", options, kind])
            .arg(at)
            .stderr(Stdio::null())
            .status();
        if status.is_ok_and(|status| status.success()) {
            return Some(Self(at.to_path_buf()));
        }
        println!("{kind} cannot be mounted here: not tested");
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Case 10.
#[test]
fn a_kernel_file_system_inside_the_base_is_refused_by_what_was_opened() {
    for (kind, inside) in [
        ("proc", "1/environ"),
        ("sysfs", "kernel/uevent_seqnum"),
        ("devpts", "ptmx"),
        ("cgroup2", "cgroup.procs"),
    ] {
        for resolver in [Resolver::Openat2, Resolver::Walk] {
            let world = World::new(resolver, Symlinks::Within);
            let Some(_mount) = Mount::new(kind, "ro", &world.base().join("p")) else { continue };
            std::os::unix::fs::symlink("p", world.base().join("l_p")).unwrap();
            for below in ["", "/", &format!("/{inside}"), "/absent", "/absent/deeper"] {
                let asked = format!("p{below}");
                for asked in [asked.clone(), format!("l_{asked}")] {
                    let path = world.path(&asked).unwrap();
                    let access = world.access();
                    let read = read::open(access, &path, None).map(drop);
                    assert_eq!(word(&read), "not-allowed", "read {asked} of {kind}");
                    if asked != "l_p" {
                        let seen = stat::stat(access, &path).map(drop);
                        assert_eq!(word(&seen), "not-allowed", "stat {asked} of {kind}");
                    }
                    let listed = list(access, &path, ListOptions { max_depth: 1, limit: 9 }).map(drop);
                    assert_eq!(word(&listed), "not-allowed", "list {asked} of {kind}");
                }
            }
            let written =
                Writer::begin(world.access(), &world.path("p/new").unwrap(), WriteOptions::default());
            assert_eq!(word(&written.map(drop)), "not-allowed", "write to {kind}");
            assert_eq!(
                word(&mkdir::mkdir(world.access(), &world.path("p/new/dir").unwrap()).map(drop)),
                "not-allowed"
            );
            let options = SearchOptions {
                pattern: Pattern::search("*").unwrap(),
                wanted: Wanted::Any,
                limit: 100_000,
                metadata: false,
            };
            let found = search(world.access(), &world.path(".").unwrap(), &options).unwrap();
            assert!(
                !found.results.iter().any(|hit| hit.relative.starts_with(b"p/")),
                "search entered {kind}"
            );
        }
    }
}

/// Case 131.
#[test]
fn a_full_disk_is_told_and_leaves_nothing_behind() {
    let world = World::new(Resolver::detect(), Symlinks::Within);
    let small = world.base().join("small");
    let Some(_mount) = Mount::new("tmpfs", "size=1m", &small) else { return };
    fs::write(small.join("old"), "old").unwrap();
    let result = Writer::begin(world.access(), &world.path("small/old").unwrap(), WriteOptions::default())
        .and_then(|mut writer| {
            (0..80).try_for_each(|_| writer.write(&[7; 65_536])).and_then(|()| writer.finish())
        });
    assert_eq!(result, Err(FilesError::NoSpace));
    assert_eq!(fs::read_to_string(small.join("old")).unwrap(), "old");
    assert_eq!(fs::read_dir(&small).unwrap().count(), 1);
    fs::write(world.base().join("large"), vec![7; 3 << 20]).unwrap();
    let large = world.path("large").unwrap();
    let moved = relocate::relocate(world.access(), &large, &world.path("small/large").unwrap(), true);
    assert_eq!(moved.map_err(|(error, _)| error), Err(FilesError::NoSpace));
    assert_eq!(fs::metadata(world.base().join("large")).unwrap().len(), 3 << 20);
    assert_eq!(fs::read_dir(&small).unwrap().count(), 1);
}

/// A file moves between file systems whole; a read-only one says so.
#[test]
fn a_move_between_file_systems_copies() {
    let world = World::new(Resolver::detect(), Symlinks::Within);
    let Some(_mount) = Mount::new("tmpfs", "size=1m", &world.base().join("other")) else { return };
    let (from, to) = (world.path("a.txt").unwrap(), world.path("other/a.txt").unwrap());
    relocate::relocate(world.access(), &from, &to, false).unwrap();
    assert_eq!(fs::read_to_string(world.base().join("other/a.txt")).unwrap(), "inside a");
    assert!(!world.base().join("a.txt").exists());
    let status =
        Command::new("mount").args(["-o", "remount,ro"]).arg(world.base().join("other")).status().unwrap();
    assert!(status.success());
    let written = Writer::begin(world.access(), &to, WriteOptions::default()).map(drop);
    assert_eq!(written, Err(FilesError::ReadOnlySystem));
    assert_eq!(
        mkdir::mkdir(world.access(), &world.path("other/dir").unwrap()),
        Err(FilesError::ReadOnlySystem)
    );
}

/// Case 170.
#[test]
fn a_delete_that_stops_half_way_counts_and_can_go_on() {
    let world = World::new(Resolver::detect(), Symlinks::Within);
    let tree = world.base().join("tree");
    fs::create_dir_all(tree.join("b")).unwrap();
    for name in ["a", "b/x", "c"] {
        fs::write(tree.join(name), "inside").unwrap();
    }
    let path = world.path("tree").unwrap();
    {
        let Some(_mount) = Mount::new("tmpfs", "size=1m", &tree.join("busy")) else { return };
        let error = delete::delete(world.access(), &path, 1000).unwrap_err();
        assert!(matches!(error, FilesError::Incomplete { .. }), "{error:?}");
        assert!(tree.join("busy").exists());
    }
    delete::delete(world.access(), &path, 1000).unwrap();
    assert!(!tree.exists());
    world.assert_outside_untouched("partial delete");
}
