//! What a writer leaves when it fails, or is killed, at each of its steps.

use crate::world::World;
use runtime::files::FilesError;
use runtime::files::write::{Seam, Step, WriteOptions, Writer, Written};
use runtime::guard::{Resolver, Symlinks};
use rustix::io::Errno;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

const STEPS: [Step; 6] =
    [Step::Create, Step::Write, Step::SyncFile, Step::Mode, Step::Rename, Step::SyncDirectory];

/// Remembers the steps; fails one of them, once.
#[derive(Default)]
struct Recorder {
    seen: Mutex<Vec<Step>>,
    fails: Option<(Step, Errno)>,
}

impl Seam for Recorder {
    fn before(&self, step: Step) -> Result<(), Errno> {
        let mut seen = self.seen.lock().unwrap();
        seen.push(step);
        match self.fails {
            Some((failing, errno))
                if failing == step && seen.iter().filter(|one| **one == step).count() == 1 =>
            {
                Err(errno)
            }
            _ => Ok(()),
        }
    }
}

fn write(world: &World, seam: &dyn Seam, overwrite: bool) -> Result<Written, FilesError> {
    let options = WriteOptions { overwrite, seam, ..WriteOptions::default() };
    let mut writer = Writer::begin(world.access(), &world.path("a.txt").unwrap(), options)?;
    writer.write(b"new content")?;
    writer.finish()
}

fn leftovers(dir: &Path) -> Vec<String> {
    let names =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".part")).collect()
}

/// Case 166, the order: nothing is said to be written before file and directory are synced.
#[test]
fn the_steps_come_in_the_order_that_survives_a_power_cut() {
    let world = World::new(Resolver::detect(), Symlinks::Within);
    let recorder = Recorder::default();
    write(&world, &recorder, true).unwrap();
    assert_eq!(*recorder.seen.lock().unwrap(), STEPS);
}

/// Case 167: a sync that fails is an error; it is neither tried again nor passed over.
#[test]
fn a_failing_step_is_an_error_and_leaves_the_old_file() {
    for errno in [Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::ROFS] {
        for step in STEPS {
            let world = World::new(Resolver::detect(), Symlinks::Within);
            let recorder = Recorder { fails: Some((step, errno)), ..Recorder::default() };
            let error = write(&world, &recorder, true).unwrap_err();
            let wanted = match errno {
                Errno::IO => FilesError::Io(Errno::IO),
                Errno::ROFS => FilesError::ReadOnlySystem,
                _ => FilesError::NoSpace,
            };
            assert_eq!(error, wanted, "{step:?}");
            let seen = recorder.seen.lock().unwrap();
            assert_eq!(seen.iter().filter(|one| **one == step).count(), 1, "{step:?} was tried again");
            let content = fs::read_to_string(world.base().join("a.txt")).unwrap();
            let wanted = if step == Step::SyncDirectory { "new content" } else { "inside a" };
            assert_eq!(content, wanted, "{step:?}");
            assert_eq!(leftovers(&world.base()), Vec::<String>::new(), "{step:?}");
        }
    }
}

/// A seam that ends the process, as a power cut would.
struct Kill(Step);

impl Seam for Kill {
    fn before(&self, step: Step) -> Result<(), Errno> {
        if step == self.0 {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL)?;
        }
        Ok(())
    }
}

/// Case 166: killed before each step, the name holds the old content or the new, never a mixture.
#[test]
fn a_killed_writer_leaves_the_old_file_or_the_new_one() {
    if let (Ok(dir), Ok(step)) = (std::env::var("GUARD_KILL_DIR"), std::env::var("GUARD_KILL_STEP")) {
        let options = runtime::guard::GuardOptions::new(dir.into_bytes());
        let guard = runtime::guard::Guard::open(options, None).unwrap();
        let rules = crate::world::Rules {
            allow: guard.base_dir().to_vec(),
            deny: vec![],
            read_only: b"/nowhere".to_vec(),
            symlinks: Symlinks::Within,
        };
        let stop = runtime::files::Stop::default();
        let access = runtime::files::Access { guard: &guard, judge: &rules, stop: &stop };
        let kill = Kill(STEPS[step.parse::<usize>().unwrap()]);
        let path = runtime::guard::NormalPath::new(guard.base_dir(), b"a.txt").unwrap();
        let options = WriteOptions { seam: &kill, ..WriteOptions::default() };
        let mut writer = Writer::begin(access, &path, options).unwrap();
        writer.write(b"new content").unwrap();
        writer.finish().unwrap();
        return;
    }
    for (number, step) in STEPS.into_iter().enumerate() {
        let world = World::new(Resolver::detect(), Symlinks::Within);
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "durable::a_killed_writer_leaves_the_old_file_or_the_new_one"])
            .env("GUARD_KILL_DIR", world.base())
            .env("GUARD_KILL_STEP", number.to_string())
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(!status.success(), "{step:?}");
        let content = fs::read_to_string(world.base().join("a.txt")).unwrap();
        let wanted = if step == Step::SyncDirectory { "new content" } else { "inside a" };
        assert_eq!(content, wanted, "{step:?}");
    }
}
