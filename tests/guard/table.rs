//! One table of paths over both resolvers, both link modes and every operation.
//!
//! A row of `table.txt` is a path and, for each link mode, the outcome of every operation in the order of
//! [`OPERATIONS`]. A new row is a path alone; `UPDATE=1 cargo test -p runtime --test guard` fills in the rest.

use crate::rows;
use crate::world::{CANARY, World, word};
use runtime::files::archive::{ArchiveOptions, Format, archive};
use runtime::files::list::{ListOptions, list};
use runtime::files::search::{SearchOptions, Wanted, search};
use runtime::files::write::{WriteOptions, Writer};
use runtime::files::{FilesError, delete, grep, mkdir, pattern, read, relocate, stat};
use runtime::guard::{GuardError, NormalPath, Resolver, Symlinks};
use std::io::Read as _;
use std::path::PathBuf;

pub(crate) type Operation = fn(&World, &NormalPath, &mut Vec<u8>) -> Result<(), FilesError>;

/// Name, whether it may change the world, what it does. Whatever it answers goes into the last argument.
pub(crate) const OPERATIONS: [(&str, bool, Operation); 11] = [
    ("read", false, |world, path, answer| {
        let mut file = read::open(world.access(), path, None)?;
        answer.extend_from_slice(&file.path);
        Ok(file.read_to_end(answer).map(drop)?)
    }),
    ("stat", false, |world, path, _| match stat::stat(world.access(), path)? {
        Some(_) => Ok(()),
        None => Err(GuardError::NotFound.into()),
    }),
    ("list", false, |world, path, answer| {
        let listing = list(world.access(), path, ListOptions { max_depth: 9, limit: 10_000 })?;
        for entry in listing.entries {
            answer.extend_from_slice(&entry.relative);
        }
        Ok(())
    }),
    ("search", false, |world, path, answer| {
        let options = SearchOptions {
            pattern: pattern::Pattern::search("*").unwrap(),
            wanted: Wanted::Any,
            limit: 10_000,
            metadata: true,
        };
        for hit in search(world.access(), path, &options)?.results {
            answer.extend_from_slice(&hit.relative);
        }
        Ok(())
    }),
    ("grep", false, |world, path, answer| {
        let options =
            grep::GrepOptions { needle: b"a".to_vec(), files: None, limit: 10_000, max_bytes: 1 << 20 };
        for line in grep::grep(world.access(), path, &options)?.matches {
            answer.extend_from_slice(&line.text);
        }
        Ok(())
    }),
    ("archive", false, |world, path, answer| {
        let options = ArchiveOptions { format: Format::TarGz, max_bytes: 1 << 20, max_entries: 1000 };
        let packed = archive(world.access(), std::slice::from_ref(path), options)?;
        Ok(flate2::read::GzDecoder::new(packed.content.into_reader()?).read_to_end(answer).map(drop)?)
    }),
    ("mkdir", true, |world, path, _| mkdir::mkdir(world.access(), path).map(drop)),
    ("write", true, |world, path, _| {
        let mut writer = Writer::begin(world.access(), path, WriteOptions::default())?;
        writer.write(b"new")?;
        writer.finish().map(drop)
    }),
    ("delete", true, |world, path, _| delete::delete(world.access(), path, 1000).map(drop)),
    ("from", true, |world, path, _| {
        let to = world.path("empty/moved").unwrap();
        relocate::relocate(world.access(), path, &to, true).map(drop).map_err(|(error, _)| error)
    }),
    ("to", true, |world, path, _| {
        let from = world.path("d/sub/deep.txt").unwrap();
        relocate::relocate(world.access(), &from, path, true).map(drop).map_err(|(error, _)| error)
    }),
];

#[test]
fn every_path_by_every_operation_in_every_mode_with_every_resolver() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/guard/table.txt");
    let text = std::fs::read_to_string(&file).unwrap();
    let combinations: Vec<(Resolver, Symlinks)> = [Resolver::Openat2, Resolver::Walk]
        .into_iter()
        .flat_map(|resolver| [Symlinks::Within, Symlinks::Deny].map(|links| (resolver, links)))
        .collect();
    let paths: Vec<&str> = text.lines().filter_map(rows::path_of).collect();
    let memory = tempfile::tempdir().unwrap();
    // Two thousand trees are made: on a disk that takes a while.
    let _mount = crate::mounts::Mount::new("tmpfs", "size=64m", memory.path());
    let columns: Vec<Vec<String>> = std::thread::scope(|scope| {
        let run = |(resolver, links)| {
            let (paths, memory) = (&paths, memory.path());
            scope.spawn(move || {
                let mut world = World::within(memory, resolver, links);
                let row = |path: &&str| {
                    OPERATIONS
                        .iter()
                        .map(|operation| run(&mut world, operation, path))
                        .collect::<Vec<_>>()
                        .join(" ")
                };
                paths.iter().map(row).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = combinations.into_iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut out = String::new();
    let mut row = 0;
    for line in text.lines() {
        match rows::path_of(line) {
            None => out.push_str(&format!("{line}\n")),
            Some(path) => {
                assert_eq!(
                    columns[0][row], columns[2][row],
                    "the resolvers differ on {path}, links followed"
                );
                assert_eq!(columns[1][row], columns[3][row], "the resolvers differ on {path}, links denied");
                out.push_str(&format!("{path} | {} | {}\n", columns[0][row], columns[1][row]));
                row += 1;
            }
        }
    }
    println!("{row} rows, {} checks", row * columns.len() * OPERATIONS.len());
    assert!(row >= 300, "{row} rows");
    let mut goldens =
        crate::golden::Goldens::new("cargo test -p runtime --test guard", &[("tests/guard", "txt")]);
    goldens.compare("tests/guard/table.txt", &out);
    goldens.finish();
}

fn run(world: &mut World, (name, changes, run): &(&str, bool, Operation), row: &str) -> String {
    let asked = rows::unescape(row, world.top.path());
    let mut answer = Vec::new();
    let outcome = match world.path(asked) {
        Ok(path) => run(world, &path, &mut answer),
        Err(error) => Err(error.into()),
    };
    let what = format!("{name} {row} {:?} {:?}", world.guard.resolver(), world.rules.symlinks);
    world.assert_outside_untouched(&what);
    assert!(
        !answer.windows(CANARY.len()).any(|window| window == CANARY),
        "{what} answered what lies outside"
    );
    if *changes && outcome.is_ok() {
        assert!(world.base().join(".env").exists() && world.base().join("ro/f.txt").exists(), "{what}");
        let memory = world.top.path().parent().unwrap();
        *world = World::within(memory, world.guard.resolver(), world.rules.symlinks);
    }
    word(&outcome)
}
