//! Single cases of the file services.

use crate::world::{CANARY, World, word};
use runtime::files::archive::{ArchiveOptions, Format, archive};
use runtime::files::grep::{GrepOptions, grep};
use runtime::files::list::{ListOptions, list};
use runtime::files::pattern::Pattern;
use runtime::files::relocate::{End, relocate};
use runtime::files::search::{SearchOptions, Wanted, search};
use runtime::files::write::{Seam, Step, WriteOptions, Writer};
use runtime::files::{Access, FilesError, Stop, delete, mkdir, read};
use runtime::guard::{GuardError, Resolver, Symlinks};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

fn world() -> World {
    World::new(Resolver::detect(), Symlinks::Within)
}

fn put(world: &World, path: &str, content: &[u8], options: WriteOptions<'_>) -> Result<u64, FilesError> {
    let mut writer = Writer::begin(world.access(), &world.path(path)?, options)?;
    writer.write(content)?;
    Ok(writer.finish()?.bytes)
}

/// Case 22: a write replaces the name, never the shared inode.
#[test]
fn a_hard_link_to_an_outside_file_is_replaced_not_written_through() {
    let world = World::new(Resolver::detect(), Symlinks::Within);
    let outside = world.top.path().join("outside/a.txt");
    fs::hard_link(&outside, world.base().join("h")).unwrap();
    let before = fs::metadata(&outside).unwrap().mtime_nsec();
    let mut file = read::open(world.access(), &world.path("h").unwrap(), None).unwrap();
    assert_eq!(file.links, 2);
    let mut content = Vec::new();
    file.read_to_end(&mut content).unwrap();
    assert_eq!(content, CANARY, "a hard link is a name of the file like any other");
    put(&world, "h", b"new", WriteOptions::default()).unwrap();
    assert_eq!(fs::read(&outside).unwrap(), CANARY);
    assert_eq!(fs::metadata(&outside).unwrap().mtime_nsec(), before);
    assert_eq!(fs::read(world.base().join("h")).unwrap(), b"new");
}

/// Case 23: nothing waits for the other end of a FIFO.
#[test]
fn special_files_are_refused_at_once() {
    let world = world();
    let begun = Instant::now();
    for name in ["fifo", "sock", "null"] {
        let path = world.path(name).unwrap();
        let read = read::open(world.access(), &path, None).map(drop);
        assert_eq!(word(&read), "no-file", "{name}");
        let written = put(&world, name, b"x", WriteOptions::default());
        assert_eq!(written, Err(GuardError::NotARegularFile.into()), "{name}");
    }
    let options = GrepOptions { needle: b"inside".to_vec(), files: None, limit: 1000, max_bytes: 1 << 20 };
    assert!(!grep(world.access(), &world.path(".").unwrap(), &options).unwrap().matches.is_empty());
    let options = ArchiveOptions { format: Format::Zip, max_bytes: 1 << 20, max_entries: 1000 };
    archive(world.access(), &[world.path(".").unwrap()], options).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}

/// Case 25: one of many wins, and a link planted meanwhile is not followed.
#[test]
fn an_exclusive_upload_has_one_winner() {
    for resolver in [Resolver::Openat2, Resolver::Walk] {
        let world = World::new(resolver, Symlinks::Within);
        let options = WriteOptions { overwrite: false, ..WriteOptions::default() };
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..64)
                .map(|n| {
                    scope.spawn({
                        let world = &world;
                        move || put(world, "new/once", format!("inside {n}").as_bytes(), options)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        assert!(
            outcomes.iter().all(|outcome| matches!(outcome, Ok(_) | Err(FilesError::AlreadyExists))),
            "{outcomes:?}"
        );
        for link in ["l_dangling", "l_dangling_out", "l_file", "l_out_file"] {
            assert_eq!(put(&world, link, b"x", options), Err(FilesError::AlreadyExists), "{link}");
        }
        world.assert_outside_untouched("exclusive upload");
    }
}

/// Case 26.
#[test]
fn a_temporary_file_is_private_unguessable_and_beside_its_target() {
    struct Look(std::path::PathBuf, std::sync::Mutex<Vec<(String, u32)>>);
    impl Seam for Look {
        fn before(&self, step: Step) -> Result<(), rustix::io::Errno> {
            if step == Step::Write {
                for entry in fs::read_dir(&self.0).unwrap().map(Result::unwrap) {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    if name.ends_with(".part") {
                        self.1.lock().unwrap().push((name, entry.metadata().unwrap().mode() & 0o7777));
                    }
                }
            }
            Ok(())
        }
    }
    let world = world();
    let look = Look(world.base().join("d"), std::sync::Mutex::default());
    for _ in 0..2 {
        put(&world, "d/f.txt", b"new", WriteOptions { seam: &look, ..WriteOptions::default() }).unwrap();
    }
    let seen = look.1.into_inner().unwrap();
    assert_eq!(seen.len(), 2);
    assert_ne!(seen[0].0, seen[1].0);
    for (name, mode) in seen {
        let random = name.strip_prefix(".upload-").and_then(|name| name.strip_suffix(".part")).unwrap();
        assert!(random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
        assert_eq!(mode, 0o600, "{name}");
    }
}

#[test]
fn owner_and_mode_of_a_replaced_file_stay_and_set_id_goes() {
    let world = world();
    let file = world.base().join("b.txt");
    let owned = std::os::unix::fs::chown(&file, Some(12), Some(34)).is_ok();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o4751)).unwrap();
    put(&world, "b.txt", b"new", WriteOptions::default()).unwrap();
    let meta = fs::metadata(&file).unwrap();
    assert_eq!(meta.mode() & 0o7777, 0o751);
    if owned {
        assert_eq!((meta.uid(), meta.gid()), (12, 34));
    }
}

/// Case 35 of the runtime: what was answered is there, whole.
#[test]
fn uploads_of_awkward_sizes_arrive() {
    let world = world();
    for size in [0_usize, 1, 17 << 10, 19 << 10, 70 << 10, 70 << 20] {
        let content: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        assert_eq!(put(&world, "missing/parents/file", &content, WriteOptions::default()), Ok(size as u64));
        assert!(fs::read(world.base().join("missing/parents/file")).unwrap() == content, "{size}");
    }
    let limit = WriteOptions { limit: Some(10), ..WriteOptions::default() };
    assert_eq!(put(&world, "a.txt", &[0; 11], limit), Err(FilesError::FileTooLarge { limit: 10 }));
    assert_eq!(fs::read_to_string(world.base().join("a.txt")).unwrap(), "inside a");
}

/// Cases 13 and 14.
#[test]
fn deny_and_read_only_reach_up_through_recursion() {
    let world = world();
    for path in ["proj", "d", "."] {
        let done = delete::delete(world.access(), &world.path(path).unwrap(), 1000).map(drop);
        assert!(["denied", "base"].contains(&word(&done).as_str()), "{path}: {done:?}");
    }
    let moved =
        relocate(world.access(), &world.path("proj").unwrap(), &world.path("elsewhere").unwrap(), true);
    let (error, end) = moved.unwrap_err();
    assert_eq!((word(&Err(error)).as_str(), end), ("denied", End::Source));
    fs::create_dir_all(world.base().join("up")).unwrap();
    assert_eq!(fs::read_dir(world.base().join("proj/.git")).unwrap().count(), 1);
    let done = delete::delete(world.access(), &world.path("ro").unwrap(), 1000).map(drop);
    assert_eq!(word(&done), "read-only");
}

/// Case 169.
#[test]
fn a_move_without_overwrite_has_one_winner() {
    let world = world();
    for number in 0..32 {
        fs::write(world.base().join(format!("from{number}")), "inside").unwrap();
    }
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..32)
            .map(|number| {
                let world = &world;
                scope.spawn(move || {
                    let from = world.path(format!("from{number}")).unwrap();
                    relocate(world.access(), &from, &world.path("target").unwrap(), false)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(
        outcomes.iter().all(|one| matches!(one, Ok(_) | Err((FilesError::AlreadyExists, End::Destination))))
    );
}

fn members(world: &World, paths: &[&str], options: ArchiveOptions) -> (BTreeMap<Vec<u8>, Vec<u8>>, u64) {
    let paths: Vec<_> = paths.iter().map(|path| world.path(path).unwrap()).collect();
    let packed = archive(world.access(), &paths, options).unwrap();
    let skipped = packed.skipped;
    let mut bytes = Vec::new();
    packed.content.into_reader().unwrap().read_to_end(&mut bytes).unwrap();
    (unpack(options.format, &bytes), skipped)
}

/// What an archive holds, by name.
pub(crate) fn unpack(format: Format, bytes: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut members = BTreeMap::new();
    match format {
        Format::TarGz => {
            let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
            for entry in tar.entries().unwrap() {
                let mut entry = entry.unwrap();
                assert_eq!(entry.header().mode().unwrap() & !0o777, 0);
                assert_eq!(entry.header().uid().unwrap(), 0);
                let mut content = Vec::new();
                entry.read_to_end(&mut content).unwrap();
                members.insert(entry.path_bytes().into_owned(), content);
            }
        }
        Format::Zip => {
            let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
            for at in 0..zip.len() {
                let mut entry = zip.by_index(at).unwrap();
                let mut content = Vec::new();
                entry.read_to_end(&mut content).unwrap();
                members.insert(entry.name_raw().to_vec(), content);
            }
        }
    }
    members
}

/// Cases 13, 31 and 41.
#[test]
fn an_archive_holds_what_the_rules_allow_and_nothing_behind_a_link() {
    let world = world();
    fs::set_permissions(world.base().join("d/f.txt"), fs::Permissions::from_mode(0o6755)).unwrap();
    for format in [Format::TarGz, Format::Zip] {
        let options = ArchiveOptions { format, max_bytes: 1 << 20, max_entries: 1000 };
        let (found, skipped) = members(&world, &["d", "proj", "a.txt"], options);
        let names: Vec<_> = found.keys().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        assert_eq!(
            names,
            ["a.txt", "d/", "d/f.txt", "d/sub/", "d/sub/deep.txt", "proj/", "proj/src/", "proj/src/main.rs"]
        );
        assert_eq!(found[&b"d/f.txt"[..]], b"inside f");
        // d/.Env, d/l_up, d/l_up_out, d/l_self and proj/.git
        assert_eq!(skipped, 5);
    }
    let options = ArchiveOptions { format: Format::TarGz, max_bytes: 1 << 20, max_entries: 1000 };
    let (found, _) = members(&world, &["."], options);
    assert!(found.contains_key(&b"bad-\xff"[..]), "a tar keeps names as bytes");
    // A zip has text for names: what is no text is written out, and two names do not become one.
    fs::write(world.base().join(OsStr::from_bytes(b"d/\xfe")), "inside").unwrap();
    fs::write(world.base().join(OsStr::from_bytes(b"d/\xff")), "inside").unwrap();
    fs::write(world.base().join("d/%FF"), "inside").unwrap();
    let options = ArchiveOptions { format: Format::Zip, ..options };
    let (found, skipped) = members(&world, &["d", "d/f.txt"], options);
    assert!(found.contains_key(&b"d/%FE"[..]) && found.contains_key(&b"d/%FF"[..]), "{found:?}");
    assert_eq!(skipped, 5, "one of two that are called the same, and what is left out of `d` anyway");
}

/// Case 40.
#[test]
fn an_archive_ends_at_its_caps_and_when_nobody_waits_for_it() {
    let world = world();
    let noise: Vec<u8> =
        (0..2_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    fs::write(world.base().join("noise"), noise).unwrap();
    let paths = [world.path("noise").unwrap(), world.path("d").unwrap()];
    for format in [Format::TarGz, Format::Zip] {
        let options = ArchiveOptions { format, max_bytes: 100_000, max_entries: 1000 };
        let error = archive(world.access(), &paths, options).unwrap_err();
        assert_eq!(error, FilesError::ArchiveTooLarge { limit: 100_000, unit: "bytes" });
        let options = ArchiveOptions { max_bytes: 1 << 30, max_entries: 2, ..options };
        let error = archive(world.access(), &paths, options).unwrap_err();
        assert_eq!(error, FilesError::ArchiveTooLarge { limit: 2, unit: "entries" });
        let stop = Stop::default();
        let access = Access { stop: &stop, ..world.access() };
        let options = ArchiveOptions { max_entries: 1000, ..options };
        let begun = std::thread::scope(|scope| {
            let work = scope.spawn(|| archive(access, &paths, options).map(drop));
            std::thread::sleep(Duration::from_millis(20));
            stop.cancel();
            let begun = Instant::now();
            let done = work.join().unwrap();
            assert!(matches!(done, Ok(()) | Err(FilesError::Cancelled)), "{done:?}");
            begun
        });
        assert!(begun.elapsed() < Duration::from_secs(40));
    }
    assert!(
        fs::read_dir(world.base()).unwrap().all(|entry| !entry
            .unwrap()
            .file_name()
            .as_bytes()
            .ends_with(b".part"))
    );
}

/// Case 128: a costly pattern, link loops and a long line stay within the time.
#[test]
fn searches_end_at_their_deadline() {
    let world = world();
    let mut dir = world.base().join("wide");
    for _ in 0..40 {
        dir.push("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        fs::create_dir_all(&dir).unwrap();
        for name in 0..50 {
            fs::write(dir.join(format!("abcabcabc{name}")), "x").unwrap();
        }
    }
    let begun = Instant::now();
    let options = SearchOptions {
        pattern: Pattern::search("**/**/**/*a*b*c*d*").unwrap(),
        wanted: Wanted::Any,
        limit: 1000,
        metadata: false,
    };
    let found = search(world.access(), &world.path(".").unwrap(), &options).unwrap();
    assert!(!found.end.timed_out && found.results.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let past = Stop::at(Some(Instant::now()));
    let access = Access { stop: &past, ..world.access() };
    let found = search(access, &world.path(".").unwrap(), &options).unwrap();
    assert!(found.end.timed_out && found.truncated);
    let options = GrepOptions { needle: b"a".to_vec(), files: None, limit: 1000, max_bytes: 1 << 20 };
    let found = grep(access, &world.path(".").unwrap(), &options).unwrap();
    assert!(found.end.timed_out && found.truncated);
}

#[test]
fn search_and_list_are_sorted_bounded_and_leave_out_what_is_refused() {
    let world = world();
    let path = world.path(".").unwrap();
    let options = SearchOptions {
        pattern: Pattern::search("*").unwrap(),
        wanted: Wanted::Any,
        limit: 10_000,
        metadata: true,
    };
    let all = search(world.access(), &path, &options).unwrap();
    let names: Vec<_> = all.results.iter().map(|hit| hit.relative.clone()).collect();
    assert!(names.is_sorted());
    for absent in [
        &b".env"[..],
        b"proj/.git",
        b"proj/.git/config",
        b"audit.log",
        b"l_out_dir",
        b"l_dangling_out",
        b"l_denied",
    ] {
        assert!(!names.contains(&absent.to_vec()), "{}", String::from_utf8_lossy(absent));
    }
    for present in [&b"bad-\xff"[..], b"l_dir", b"l_file", b"proj/src/main.rs"] {
        assert!(names.contains(&present.to_vec()), "{}", String::from_utf8_lossy(present));
    }
    let first = search(world.access(), &path, &SearchOptions { limit: 7, ..options }).unwrap();
    assert!(first.truncated);
    assert_eq!(first.results.iter().map(|hit| hit.relative.clone()).collect::<Vec<_>>(), names[..7]);
    let flat = list(world.access(), &path, ListOptions { max_depth: 1, limit: 10_000 }).unwrap();
    assert!(flat.entries.iter().all(|entry| !entry.relative.contains(&b'/')));
    let deny = World::new(Resolver::detect(), Symlinks::Deny);
    let flat =
        list(deny.access(), &deny.path(".").unwrap(), ListOptions { max_depth: 1, limit: 10_000 }).unwrap();
    assert!(flat.entries.iter().all(|entry| !entry.link));
}

/// Case 40 of the runtime: a name that is no UTF-8 goes through every service.
#[test]
fn names_are_bytes() {
    let world = world();
    let name = b"d\xe9\xff/\xfe.txt";
    mkdir::mkdir(world.access(), &world.path(b"d\xe9\xff").unwrap()).unwrap();
    let mut writer =
        Writer::begin(world.access(), &world.path(name).unwrap(), WriteOptions::default()).unwrap();
    writer.write(b"inside").unwrap();
    let written = writer.finish().unwrap();
    assert!(written.path.ends_with(name));
    assert_eq!(fs::read(world.base().join(OsStr::from_bytes(name))).unwrap(), b"inside");
    let moved =
        relocate(world.access(), &world.path(name).unwrap(), &world.path(b"\xff\xfe").unwrap(), false)
            .unwrap();
    assert!(moved.destination.ends_with(b"\xff\xfe"));
    delete::delete(world.access(), &world.path(b"\xff\xfe").unwrap(), 1).unwrap();
    symlink("a.txt", world.base().join(OsStr::from_bytes(b"l\xff"))).unwrap();
    assert!(read::open(world.access(), &world.path(b"l\xff").unwrap(), None).is_ok());
}
