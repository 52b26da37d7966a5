//! Work that would never end by itself: it ends when its time is up, and when nobody waits for it.

use crate::world::World;
use runtime::files::archive::{ArchiveOptions, Format, archive};
use runtime::files::grep::{GrepOptions, grep};
use runtime::files::{Access, FilesError, Stop};
use runtime::guard::{Resolver, Symlinks};
use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// More than any machine reads in the time: one line that fills a file with a hole in it.
fn endless(world: &World) {
    let mut file = File::create(world.base().join("d/endless")).unwrap();
    file.write_all(&[b'x'; 16 << 10]).unwrap();
    file.set_len(1 << 40).unwrap();
}

/// Cases 40 and 128, in the middle of the work.
#[test]
fn a_file_that_never_ends_holds_nobody_up() {
    let world = World::new(Resolver::detect(), Symlinks::Within);
    endless(&world);
    let path = world.path("d").unwrap();
    let begun = Instant::now();
    let soon = || Stop::at(Instant::now().checked_add(Duration::from_millis(300)));
    let options = GrepOptions { needle: b"nowhere".to_vec(), files: None, limit: 9, max_bytes: 1 << 20 };
    let stop = soon();
    let found = grep(Access { stop: &stop, ..world.access() }, &path, &options).unwrap();
    assert!(found.end.timed_out && found.truncated && found.matches.is_empty(), "{found:?}");
    for format in [Format::TarGz, Format::Zip] {
        let options = ArchiveOptions { format, max_bytes: u64::MAX, max_entries: 1000 };
        let stop = soon();
        let access = Access { stop: &stop, ..world.access() };
        let packed = archive(access, std::slice::from_ref(&path), options).map(drop);
        assert_eq!(packed, Err(FilesError::TimedOut), "{format:?}");
        let stop = Stop::default();
        let access = Access { stop: &stop, ..world.access() };
        std::thread::scope(|scope| {
            let work = scope.spawn(|| archive(access, std::slice::from_ref(&path), options).map(drop));
            std::thread::sleep(Duration::from_millis(50));
            stop.cancel();
            assert_eq!(work.join().unwrap(), Err(FilesError::Cancelled), "{format:?}");
        });
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
