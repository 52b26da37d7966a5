//! What is held for which paths, and what is followed on the way.

use super::*;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

fn bytes(path: impl AsRef<Path>) -> Vec<u8> {
    path.as_ref().as_os_str().as_bytes().to_vec()
}

/// What is held for `paths`, the same with either resolver.
fn open(paths: &[Vec<u8>], known: &[Arc<Root>]) -> Vec<Arc<Root>> {
    let paths: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    let [found, walked] =
        [Resolver::detect(), Resolver::Walk].map(|resolver| hold(&paths, known, resolver).unwrap());
    let places = |roots: &[Arc<Root>]| -> BTreeSet<_> {
        roots.iter().map(|root| (root.path.clone(), root.real().to_vec(), root.identity())).collect()
    };
    assert_eq!(places(&found), places(&walked));
    found
}

/// What is held for `paths`, each directory once.
fn held(paths: &[Vec<u8>]) -> BTreeSet<Vec<u8>> {
    open(paths, &[]).iter().map(|root| root.path.clone()).collect()
}

#[test]
fn what_is_looked_at_together_gives_the_roots_that_asking_for_each_gives() {
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| bytes(temp.path().join(name));
    std::fs::create_dir(temp.path().join("there")).unwrap();
    std::fs::create_dir(temp.path().join("there/inner")).unwrap();
    std::fs::write(temp.path().join("file"), "").unwrap();
    symlink("there", temp.path().join("link")).unwrap();
    symlink("nowhere", temp.path().join("dangling")).unwrap();
    symlink("loop", temp.path().join("loop")).unwrap();
    let absent: Vec<Vec<u8>> = (0..MANY).map(|n| at(&format!("absent-{n}"))).collect();
    let long = "x".repeat(300);
    let names = [
        "there",
        "file",
        "link",
        "dangling",
        "loop",
        "loop/below",
        "file/below",
        "link/inner",
        "absent-0/below",
        "there/inner",
        "there/none",
        "there-too/none",
        "absent-0/below/more",
        "there/inner/a/b/c",
        &long,
    ];
    let named = names.map(at);
    for most in [0, MANY] {
        let paths: Vec<Vec<u8>> =
            named.iter().chain(absent.iter().take(most)).cloned().chain([b"/".to_vec()]).collect();
        let each = paths.iter().flat_map(|path| held(std::slice::from_ref(path))).collect();
        assert_eq!(held(&paths), each, "{most} more");
        let wanted = [at("there"), at("link"), at("link/inner"), at("there/inner"), b"/".to_vec()];
        assert_eq!(each, wanted.into_iter().chain([bytes(temp.path())]).collect());
    }
}

#[test]
fn a_directory_that_holds_more_is_not_listed() {
    let temp = tempfile::tempdir().unwrap();
    for name in 0..3 {
        std::fs::write(temp.path().join(name.to_string()), "").unwrap();
    }
    let dir = std::fs::File::open(temp.path()).unwrap();
    // Three files, and the two names of the directory and of the one above.
    assert_eq!(names(&dir, 5).map(|names| names.len()), Some(5));
    assert_eq!(names(&dir, 4), None);
}

/// A base directory held, and a directory outside.
fn base_and_outside() -> (tempfile::TempDir, [Arc<Root>; 1]) {
    let temp = tempfile::tempdir().unwrap();
    for dir in ["base/work", "outside/inner"] {
        std::fs::create_dir_all(temp.path().join(dir)).unwrap();
    }
    let (base, links) = base(&bytes(temp.path().join("base")), &[], Resolver::detect()).unwrap();
    assert_eq!(links, [] as [Vec<u8>; 0]);
    (temp, [base])
}

#[test]
fn below_what_is_held_no_link_is_followed() {
    let (temp, known) = base_and_outside();
    symlink("../outside", temp.path().join("base/out")).unwrap();
    // By another way to the same directory as well.
    symlink("base", temp.path().join("way")).unwrap();
    symlink("base/out", temp.path().join("through")).unwrap();
    let at = |name: &str| bytes(temp.path().join(name));
    let asked = ["base/out", "base/out/inner", "base/work", "way/work", "way/out/inner", "through"].map(at);
    let real: BTreeSet<Vec<u8>> = open(&asked, &known).iter().map(|root| root.real().to_vec()).collect();
    assert_eq!(real, BTreeSet::from([at("base"), at("base/work"), bytes(temp.path())]));
    // Nor is it one that the policy itself makes such a directory.
    std::fs::create_dir(temp.path().join("z")).unwrap();
    symlink("../outside", temp.path().join("z/planted")).unwrap();
    symlink("z/planted", temp.path().join("a")).unwrap();
    let real: BTreeSet<Vec<u8>> =
        open(&["a", "z"].map(at), &[]).iter().map(|root| root.real().to_vec()).collect();
    assert_eq!(real, BTreeSet::from([bytes(temp.path()), at("z")]));
}

#[test]
fn a_link_of_the_operators_is_followed_and_told() {
    let (temp, known) = base_and_outside();
    let at = |name: &str| bytes(temp.path().join(name));
    symlink("outside/./inner/..", temp.path().join("way")).unwrap();
    symlink(temp.path().join("way"), temp.path().join("way2")).unwrap();
    symlink("/dev", temp.path().join("machine")).unwrap();
    let mut found: Vec<(Vec<u8>, Vec<u8>)> = open(&["way2/inner", "machine/shm", "way2"].map(at), &known)
        .iter()
        .map(|root| (root.path.clone(), root.real().to_vec()))
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            (bytes(temp.path()), bytes(temp.path())),
            (at("way2"), at("outside")),
            (at("way2/inner"), at("outside/inner"))
        ]
    );
}

#[test]
fn a_link_that_somebody_else_can_have_put_there_is_left_alone() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt as _, lchown};
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    for dir in ["outside", "a/b"] {
        std::fs::create_dir_all(at(dir)).unwrap();
    }
    symlink(at("outside"), at("a/b/link")).unwrap();
    let reached = || open(&[bytes(at("a/b/link"))], &[])[0].real() == bytes(at("outside"));
    let mode = |name: &str, mode| set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
    assert!(reached());
    // Moved there, even where only owners take away.
    for open in [0o777, 0o1777] {
        mode("a/b", open);
        assert!(!reached(), "{open:o}");
    }
    mode("a/b", 0o775);
    mode("a", 0o777);
    assert!(!reached());
    mode("a", 0o1777);
    assert!(reached());
    if rustix::process::geteuid().is_root() {
        for name in ["a/b/link", "a/b", "a"] {
            lchown(at(name), Some(65534), None).unwrap();
            assert!(!reached(), "{name}");
            lchown(at(name), Some(0), None).unwrap();
        }
        assert!(reached());
    }
}

#[test]
fn the_base_directory_is_reached_through_links_but_below_what_is_held() {
    let (temp, known) = base_and_outside();
    let at = |name: &str| bytes(temp.path().join(name));
    symlink("outside", temp.path().join("way")).unwrap();
    symlink("../outside", temp.path().join("base/planted")).unwrap();
    let (found, links) = base(&at("way/inner"), &known, Resolver::detect()).unwrap();
    assert_eq!((found.real(), links), (&*at("outside/inner"), vec![at("way")]));
    assert_eq!(base(&at("base/planted"), &known, Resolver::detect()).unwrap_err(), Errno::LOOP);
    assert_eq!(base(&at("none"), &known, Resolver::detect()).unwrap_err(), Errno::NOENT);
    assert!(Arc::ptr_eq(&base(&at("base"), &known, Resolver::detect()).unwrap().0, &known[0]));
}

#[test]
fn what_is_held_is_kept_whatever_has_become_of_its_name() {
    let (temp, known) = base_and_outside();
    let at = |name: &str| bytes(temp.path().join(name));
    for dir in ["base/a/work/in", "base/c/work"] {
        std::fs::create_dir_all(temp.path().join(dir)).unwrap();
    }
    let mut earlier = open(&["base/work", "base/a/work", "base/c/work"].map(at), &known);
    earlier.extend(known);
    for (name, moved) in [("base/work", "base/moved"), ("base/a", "base/b"), ("base/c/work", "base/c/moved")]
    {
        std::fs::rename(temp.path().join(name), temp.path().join(moved)).unwrap();
    }
    let absent = (0..2 * MANY).map(|n| at(&format!("base/absent-{n}")));
    let asked: Vec<Vec<u8>> = ["base/work", "base/c/work", "base/a/work", "base/a/work/in", "base/a/other"]
        .map(at)
        .into_iter()
        .chain(absent)
        .collect();
    let once = open(&asked, &earlier);
    let paths: BTreeSet<Vec<u8>> = once.iter().map(|root| root.path.clone()).collect();
    assert_eq!(
        paths,
        BTreeSet::from(["base", "base/work", "base/a/work", "base/a/work/in", "base/c/work"].map(at))
    );
    for kept in &earlier {
        assert!(once.iter().any(|root| Arc::ptr_eq(root, kept)), "{}", String::from_utf8_lossy(&kept.path));
    }
}

/// As long as a policy may be: absent, and each path as many parts as fit. Where each part cost its whole path, it took minutes.
#[test]
fn long_paths_cost_no_more_than_their_text() {
    let temp = tempfile::tempdir().unwrap();
    let parts = "x/".repeat(2_000);
    let paths: Vec<Vec<u8>> = (0..200).map(|n| bytes(temp.path().join(format!("{n}/{parts}y")))).collect();
    assert_eq!(held(&paths), BTreeSet::from([bytes(temp.path())]));
    let one = bytes(temp.path().join("x/".repeat(300_000)));
    let one = one.strip_suffix(b"/").unwrap().to_vec();
    assert_eq!(held(&[one]), BTreeSet::from([bytes(temp.path())]));
}

#[test]
fn a_path_follows_the_one_it_lies_below() {
    let mut paths = ["/a/c", "/a-b/x", "/a", "/a/b/c", "/b", "/a-b", "/a/b", "/", "/a/b-"];
    paths.sort_by(|one, other| in_order(one.as_bytes(), other.as_bytes()));
    assert_eq!(paths, ["/", "/a", "/a/b", "/a/b/c", "/a/b-", "/a/c", "/a-b", "/a-b/x", "/b"]);
}
