//! Kernels and file systems that can do less: what is exclusive stays exclusive, and a read-only one is told as such.

use crate::mounts::Mount;
use crate::world::World;
use runtime::files::relocate::{End, relocate};
use runtime::files::write::{WriteOptions, Writer};
use runtime::files::{FilesError, delete};
use runtime::guard::{Resolver, Symlinks};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

/// Renames know no flags any more, as on file systems over a network.
fn without_flags() -> BpfProgram {
    let flags =
        SeccompCondition::new(4, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0).map(|flags| vec![flags]);
    let rule = SeccompRule::new(flags.unwrap()).unwrap();
    let filter = SeccompFilter::new(
        BTreeMap::from([(libc::SYS_renameat2, vec![rule])]),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EINVAL.cast_unsigned()),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    filter.unwrap().try_into().unwrap()
}

fn names(world: &World, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(world.base().join(dir)).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn what_is_exclusive_stays_so_where_a_rename_knows_no_flags() {
    let run = || {
        apply_filter(&without_flags()).unwrap();
        let world = World::new(Resolver::detect(), Symlinks::Within);
        let base = world.base();
        fs::create_dir_all(base.join("from/full")).unwrap();
        fs::write(base.join("from/full/f"), "inside").unwrap();
        fs::write(base.join("from/f"), "inside").unwrap();
        symlink("f", base.join("from/l")).unwrap();
        fs::create_dir_all(base.join("to/taken")).unwrap();
        let take = |from: &str, to: &str| {
            relocate(world.access(), &world.path(from).unwrap(), &world.path(to).unwrap(), false).map(drop)
        };
        for name in ["f", "l", "full"] {
            for taken in ["a.txt", "to/taken", "l_dangling"] {
                let refused = Err((FilesError::AlreadyExists, End::Destination));
                assert_eq!(take(&format!("from/{name}"), taken), refused, "{name} to {taken}");
            }
        }
        let itself = take("from", "from/full/below").unwrap_err();
        assert!(matches!(itself.0, FilesError::Conflict(_)), "{itself:?}");
        assert_eq!(names(&world, "from/full"), ["f"]);
        for name in ["f", "l", "full"] {
            assert_eq!(take(&format!("from/{name}"), &format!("to/{name}")), Ok(()));
        }
        assert_eq!((names(&world, "from").len(), names(&world, "to").len()), (0, 4));
        assert_eq!(fs::read_to_string(base.join("to/full/f")).unwrap(), "inside");
        assert_eq!(fs::read_link(base.join("to/l")).unwrap().to_str(), Some("f"));
        let options = WriteOptions { overwrite: false, ..WriteOptions::default() };
        let put = |path: &str| {
            let mut writer = Writer::begin(world.access(), &world.path(path).unwrap(), options)?;
            writer.write(b"new")?;
            // Taken while it was being written.
            let _ = fs::write(base.join("late"), "inside");
            writer.finish().map(drop)
        };
        assert_eq!((put("to/new"), put("late")), (Ok(()), Err(FilesError::AlreadyExists)));
        assert_eq!(fs::read_to_string(base.join("late")).unwrap(), "inside");
        assert_eq!(fs::read_to_string(base.join("to/new")).unwrap(), "new");
        assert!(!names(&world, ".").iter().chain(&names(&world, "to")).any(|name| name.ends_with(".part")));
        world.assert_outside_untouched("renames without flags");
    };
    // A filter holds for the thread that asks for it.
    std::thread::spawn(run).join().unwrap();
}

#[test]
fn a_deletion_on_a_read_only_file_system_says_so() {
    let world = World::new(Resolver::detect(), Symlinks::Within);
    let other = world.base().join("other");
    let Some(_mount) = Mount::new("tmpfs", "size=1m", &other) else { return };
    fs::create_dir_all(other.join("tree/sub")).unwrap();
    fs::write(other.join("tree/sub/f"), "inside").unwrap();
    let status = std::process::Command::new("mount").args(["-o", "remount,ro"]).arg(&other).status();
    assert!(status.unwrap().success());
    for path in ["other/tree", "other/tree/sub/f"] {
        let done = delete::delete(world.access(), &world.path(path).unwrap(), 1000);
        assert_eq!(done, Err(FilesError::ReadOnlySystem), "{path}");
        let to = world.path("taken").unwrap();
        let moved = relocate(world.access(), &world.path(path).unwrap(), &to, true);
        assert!(moved.is_err() && !world.base().join("taken").exists(), "{path}: {moved:?}");
    }
    assert_eq!(fs::read_to_string(other.join("tree/sub/f")).unwrap(), "inside");
}
