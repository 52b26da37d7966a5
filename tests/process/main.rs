//! The process engine on real processes. Each test names the published fault that it is about: `runtime` rows are
//! those of servers like ours, `security` rows those of attacks. Full counts: `FULL_COUNTS=1 cargo test -p runtime --test process`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail by panicking")]

mod life;
mod output;
mod start;
mod terminal;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runtime::process::{
    Cursor, Engine, Environment, Exit, FindError, Full, Job, Kind, Launch, Programs, Screen, Setup,
    SpawnError, Stdin, Stream,
};

/// How long anything that must happen is waited for: a busy machine may stand still for many seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// Held by tests that start background processes: their bound is one for all.
static BACKGROUND: Mutex<()> = Mutex::new(());

fn background() -> MutexGuard<'static, ()> {
    // Another test that failed has left nothing half done.
    BACKGROUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a program of the test. A child does it: a file that this process holds open for writing, and so any child that
/// another test forks at that moment, could not be executed.
fn program(path: &Path, text: &str) {
    let script = ["sh", "-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"", path.to_str().unwrap(), text];
    assert_eq!(LAB.run(&script, |_| {}).exit.exit_code(), 0);
}

/// Copies one likewise.
fn copied(from: &str, to: &Path) {
    assert_eq!(LAB.run(&["cp", from, to.to_str().unwrap()], |_| {}).exit.exit_code(), 0);
}

/// One engine for all tests of this program, as a server has one: it waits for every child of the process.
static LAB: LazyLock<Lab> = LazyLock::new(Lab::new);

struct Lab {
    runtime: tokio::runtime::Runtime,
    engine: Arc<Engine>,
}

/// How many rounds a test runs: few in a plain run, as many as the fault asks for with `FULL_COUNTS=1`.
fn rounds(short: usize, full: usize) -> usize {
    if std::env::var_os("FULL_COUNTS").is_some() { full } else { short }
}

/// A directory handle.
fn directory(path: &Path) -> OwnedFd {
    std::fs::File::open(path).unwrap().into()
}

/// What a command printed and how it ended.
#[derive(Debug)]
struct Done {
    stdout: String,
    stderr: String,
    exit: Exit,
    took: Duration,
}

impl Lab {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let own = [
            ("PATH", path),
            ("HOME", "/tmp"),
            ("ABX_SERVER_TOKEN", "canary-of-the-server"),
            ("CI_TOKEN", "canary-of-a-token"),
            ("COPY", "canary-of-a-token"),
        ];
        let environment = Environment::new(
            own.map(|(n, v)| (n.to_owned(), v.to_owned())),
            vec!["ABX_SERVER_TOKEN".to_owned(), "CI_TOKEN".to_owned()],
        );
        let engine = Engine::new(Setup {
            programs: Programs::from_path(path.as_ref()),
            environment,
            identity: None,
            max_processes: 100,
            forward: None,
        })
        .unwrap();
        runtime.block_on(async { engine.adopt_orphans().unwrap() });
        Self { runtime, engine }
    }

    /// A launch of these words, to be adjusted.
    fn launch(&self, words: &[&str]) -> Result<Launch, FindError> {
        let directory = directory(Path::new("/tmp"));
        let program = self.engine.programs.find(words[0], std::os::fd::AsFd::as_fd(&directory))?;
        Ok(Launch {
            program,
            arguments: words.iter().map(|w| (*w).to_owned()).collect(),
            environment: self.engine.environment.block(&BTreeMap::new(), |_| false).unwrap(),
            directory,
            input: Stdin::Empty,
            screen: Screen::Pipes,
            keep: 1 << 20,
            full: Full::KeepHead,
            lifetime: Some(Duration::from_secs(300)),
            kind: Kind::Call,
            owner: "tester".into(),
            title: words.join(" "),
        })
    }

    fn spawn(&self, words: &[&str], adjust: impl FnOnce(&mut Launch)) -> Arc<Job> {
        self.try_spawn(words, adjust).unwrap()
    }

    fn try_spawn(&self, words: &[&str], adjust: impl FnOnce(&mut Launch)) -> Result<Arc<Job>, SpawnError> {
        let mut launch = self.launch(words).unwrap();
        adjust(&mut launch);
        self.runtime.block_on(async { self.engine.spawn(launch) })
    }

    fn run(&self, words: &[&str], adjust: impl FnOnce(&mut Launch)) -> Done {
        let started = std::time::Instant::now();
        let job = self.spawn(words, adjust);
        let exit = self.runtime.block_on(job.ended());
        let text = |stream| String::from_utf8_lossy(&job.log().slice(stream, 0, usize::MAX).1).into_owned();
        Done { stdout: text(Stream::Stdout), stderr: text(Stream::Stderr), exit, took: started.elapsed() }
    }

    /// Reads a job's output to its end, acknowledging as it goes.
    fn follow(&self, job: &Job) -> ([Vec<u8>; 2], Exit) {
        self.runtime.block_on(async {
            let (mut cursor, mut seen) = (Cursor::default(), [Vec::new(), Vec::new()]);
            let mut changes = job.changes();
            loop {
                let progress = job.progress(&mut cursor, 64 * 1024);
                for segment in &progress.segments {
                    seen[segment.stream as usize].extend_from_slice(&segment.data);
                }
                job.acknowledge(cursor.offsets);
                if let Some(exit) = progress.exit {
                    return (seen, exit);
                }
                if progress.segments.is_empty() {
                    changes.changed().await.unwrap();
                }
            }
        })
    }
}

/// Whether a process of that number lives, zombies not counted.
fn lives(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

/// Waits until the condition holds; false when it does not within the time.
fn within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = std::time::Instant::now();
    while begun.elapsed() < time {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    holds()
}

/// The number in a file that a command writes.
fn pid_in(file: &Path) -> i32 {
    let mut pid = None;
    assert!(within(PATIENCE, || {
        pid = std::fs::read_to_string(file)
            .ok()
            .filter(|t| t.ends_with('\n'))
            .and_then(|t| t.trim().parse().ok());
        pid.is_some()
    }));
    pid.unwrap()
}
