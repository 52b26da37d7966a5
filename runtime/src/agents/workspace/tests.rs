//! A workspace kept, changed and put back, on a real file system.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::objects::Objects;
use super::restore::{self, Done, Plan};
use super::snapshot::{self, Caps, Snapshot, SnapshotError};
use super::tree;
use crate::files::{Access, Stop};
use crate::guard::{Guard, GuardOptions, Op, PathJudge, Refusal, RefusalKind, Symlinks};

/// Lets everything pass but what is called `secret`, and files below `frozen` to be changed.
struct Rules;

impl PathJudge for Rules {
    fn judge(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        let has = |part: &[u8]| path.split(|byte| *byte == b'/').any(|own| own == part);
        if has(b"secret") {
            return Err(Refusal::own(RefusalKind::Denied));
        }
        if op.changes() && has(b"frozen") {
            return Err(Refusal::own(RefusalKind::ReadOnly));
        }
        Ok(())
    }

    fn symlinks(&self) -> Symlinks {
        Symlinks::Within
    }
}

struct Scene {
    dir: tempfile::TempDir,
    guard: Guard,
    stop: Stop,
    objects: Objects,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        let options =
            GuardOptions { durable: false, ..GuardOptions::new(root.as_os_str().as_encoded_bytes()) };
        let guard = Guard::open(options, None).unwrap();
        let objects = Objects::open(dir.path().join("shadow")).unwrap();
        Self { dir, guard, stop: Stop::default(), objects }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("work")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn access(&self) -> Access<'_> {
        Access { guard: &self.guard, judge: &Rules, stop: &self.stop }
    }

    fn take(&self) -> Snapshot {
        self.take_with(&[])
    }

    fn take_with(&self, named: &[&str]) -> Snapshot {
        let named: Vec<Vec<u8>> = named.iter().map(|path| path.as_bytes().to_vec()).collect();
        let caps = Caps { files: 1000, bytes: 1 << 30 };
        snapshot::take(self.access(), &self.objects, &self.root(), &named, caps).unwrap()
    }

    fn back_to(&self, target: &Snapshot) -> (Plan, Done) {
        let now = self.take();
        let plan = restore::plan(&target.manifest, &now.manifest, &[], &BTreeSet::new());
        let done = restore::apply(self.access(), &self.root(), &self.objects, &plan).unwrap();
        (plan, done)
    }
}

fn paths(snapshot: &Snapshot) -> Vec<String> {
    snapshot.manifest.keys().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

/// Every path below `dir` with what lies there.
fn listing(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(here) = left.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(dir).unwrap().display().to_string();
            if meta.is_symlink() {
                found.push(format!("{name} -> {}", fs::read_link(&path).unwrap().display()));
            } else if meta.is_dir() {
                found.push(format!("{name}/"));
                left.push(path);
            } else {
                let executable = if meta.permissions().mode() & 0o100 == 0 { "" } else { "*" };
                found.push(format!("{name}{executable} {}", fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_workspace_comes_back_whatever_became_of_it() {
    let scene = Scene::new();
    scene.write("a.txt", "one");
    scene.write("dir/b.txt", "two");
    scene.write("dir/deep/c.sh", "#!");
    fs::set_permissions(scene.root().join("dir/deep/c.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    scene.write("turns", "file");
    symlink("a.txt", scene.root().join("link")).unwrap();
    let before = listing(&scene.root());
    let kept = scene.take();
    assert_eq!(paths(&kept), ["a.txt", "dir/b.txt", "dir/deep/c.sh", "link", "turns"]);

    scene.write("a.txt", "changed");
    fs::remove_dir_all(scene.root().join("dir")).unwrap();
    // What was a directory leads elsewhere now, what was a file is a directory, what was a link is a file.
    symlink(scene.dir.path(), scene.root().join("dir")).unwrap();
    fs::remove_file(scene.root().join("turns")).unwrap();
    scene.write("turns/into/one", "x");
    fs::remove_file(scene.root().join("link")).unwrap();
    scene.write("link", "no link");
    scene.write("made/by/bash", "new");
    let broken = listing(&scene.root());
    let safety = scene.take();

    let (_, done) = scene.back_to(&kept);
    assert_eq!(done.skipped, []);
    assert_eq!(listing(&scene.root()), before);
    assert_eq!(scene.take().tree, kept.tree);
    assert!(!scene.dir.path().join("b.txt").exists(), "nothing was written through the link");

    let (_, done) = scene.back_to(&safety);
    assert_eq!(done.skipped, []);
    assert_eq!(listing(&scene.root()), broken, "and forth again");
    assert_eq!(tree::read(&scene.objects, safety.tree).unwrap(), safety.manifest);
}

#[test]
fn repositories_ignored_files_and_what_the_rules_deny_are_no_part_of_it() {
    let scene = Scene::new();
    scene.write(".gitignore", "*.log\n/build/\n!keep.log\n");
    for path in ["x.log", "keep.log", "build/out", "sub/build/in", ".git/config", "secret", "sub/secret/x"] {
        scene.write(path, "x");
    }
    // A repository inside: its own rules hold, those above end at it, and its data is left alone.
    scene.write("inner/.git/HEAD", "x");
    scene.write("inner/y.log", "x");
    assert_eq!(paths(&scene.take()), [".gitignore", "inner/y.log", "keep.log", "sub/build/in"]);
    let named = scene.take_with(&["build", ".git/config", "sub/secret"]);
    assert_eq!(paths(&named), [".gitignore", "build/out", "inner/y.log", "keep.log", "sub/build/in"]);
    // What was kept once stays kept, whatever is ignored since.
    scene.write(".gitignore", "*\n");
    scene.write("fresh", "x");
    assert_eq!(paths(&scene.take()), paths(&named));
}

#[test]
fn unchanged_files_are_not_read_again_and_changed_ones_are() {
    let scene = Scene::new();
    scene.write("a", "1");
    scene.write("b", "1");
    let first = scene.take();
    // Same size, same name, and perhaps the same tick of the clock.
    scene.write("a", "2");
    let second = scene.take();
    assert_ne!(first.manifest[b"a".as_slice()], second.manifest[b"a".as_slice()]);
    assert_eq!(first.manifest[b"b".as_slice()], second.manifest[b"b".as_slice()]);
    std::thread::sleep(std::time::Duration::from_millis(120));
    assert_eq!(scene.take().tree, second.tree);
    // Once its marks are trusted a file is not opened at all: what cannot be read any more is still known.
    fs::set_permissions(scene.root().join("a"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(scene.take().tree, second.tree);
}

#[test]
fn what_is_refused_or_in_the_way_is_left_and_told() {
    let scene = Scene::new();
    scene.write("frozen/f", "1");
    scene.write("taken", "1");
    scene.write("dir/x", "1");
    let kept = scene.take();
    scene.write("frozen/f", "2");
    fs::remove_file(scene.root().join("taken")).unwrap();
    fs::remove_dir_all(scene.root().join("dir")).unwrap();
    scene.write("dir/secret", "not ours");
    let now = scene.take();
    let plan = restore::plan(&kept.manifest, &now.manifest, &[], &BTreeSet::new());
    // Somebody is quicker than the restore.
    scene.write("taken", "by another");
    let done = restore::apply(scene.access(), &scene.root(), &scene.objects, &plan).unwrap();
    let skipped: Vec<_> = done.skipped.iter().map(|one| (one.path.as_str(), one.why.as_str())).collect();
    assert_eq!(skipped, [("frozen/f", "read_only"), ("taken", "in_the_way")]);
    assert_eq!(fs::read_to_string(scene.root().join("taken")).unwrap(), "by another");
    assert_eq!(fs::read_to_string(scene.root().join("dir/x")).unwrap(), "1");
    assert_eq!(fs::read_to_string(scene.root().join("dir/secret")).unwrap(), "not ours");
}

#[test]
fn scope_and_conflicts_bound_a_plan() {
    let scene = Scene::new();
    for path in ["a/1", "a/2", "ab/3"] {
        scene.write(path, "1");
    }
    let kept = scene.take();
    for path in ["a/1", "ab/3", "a/new"] {
        scene.write(path, "2");
    }
    let now = scene.take();
    let foreign = BTreeSet::from([b"a/1".to_vec(), b"ab/3".to_vec()]);
    let mut plan = restore::plan(&kept.manifest, &now.manifest, &[b"a".to_vec()], &foreign);
    let touched: Vec<_> = plan.touched().cloned().collect();
    assert_eq!(
        (touched, &plan.conflicts),
        (vec![b"a/1".to_vec(), b"a/new".to_vec()], &vec![b"a/1".to_vec()])
    );
    let left = plan.leave_out(|path| (path == b"a/1").then(|| "conflict".to_owned()));
    assert_eq!((left[0].path.as_str(), plan.write.len(), plan.delete.len()), ("a/1", 0, 1));
}

#[test]
fn a_workspace_that_is_too_large_costs_a_listing_and_no_more() {
    let scene = Scene::new();
    for n in 0..20 {
        scene.write(&format!("f{n}"), "0123456789");
    }
    let take = |files, bytes| {
        let caps = Caps { files, bytes };
        snapshot::take(scene.access(), &scene.objects, &scene.root(), &[], caps)
    };
    for (files, bytes) in [(10, 1000), (1000, 100)] {
        assert!(matches!(take(files, bytes), Err(SnapshotError::TooLarge { .. })));
    }
    assert_eq!(fs::read_dir(scene.dir.path().join("shadow/objects")).unwrap().count(), 0);
    assert_eq!(take(20, 200).unwrap().bytes, 200);
}
