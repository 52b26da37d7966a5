//! What an agent process has printed beside its messages: a ring of two files, so that it stays bounded and outlives the
//! process.
//!
//! Lines are numbered from 1 for the life of the process. Known secrets are taken out before a line is written.

use crate::agents::credentials::Masks;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of each of the two files.
const HALF: u64 = 2 << 20;

/// Longest line that is kept, in bytes.
const LINE: usize = 16 * 1024;

/// Bytes of standard error that are held for messages about a failure.
const TAIL: usize = 4096;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogSource {
    /// Standard error.
    Stderr,
    /// A line of standard output that is no message, or one that nobody waits for.
    StdoutNoise,
    /// A message of the agent.
    FrameIn,
    /// A message to the agent.
    FrameOut,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its number.
    pub n: u64,
    /// When, in seconds since 1970.
    pub ts: f64,
    /// Where it came from.
    pub stream: LogSource,
    /// What it says.
    pub text: String,
}

/// Lines as a reader gets them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogPage {
    /// In order.
    pub lines: Vec<LogLine>,
    /// The number to go on after.
    pub next_after: u64,
    /// Lines after the number asked for that are gone already.
    pub dropped: u64,
}

/// The log of one process.
#[derive(Debug)]
pub struct Logs {
    path: PathBuf,
    half: u64,
    masks: Arc<Masks>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    written: u64,
    lines: u64,
    tail: String,
}

impl Logs {
    /// Begins the log of a new process.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn begin(folder: &Path, process_id: &str, masks: Arc<Masks>) -> io::Result<Self> {
        Self::begin_sized(folder, process_id, masks, HALF)
    }

    fn begin_sized(folder: &Path, process_id: &str, masks: Arc<Masks>, half: u64) -> io::Result<Self> {
        let path = newer(folder, process_id);
        let state = State { file: create(&path)?, written: 0, lines: 0, tail: String::new() };
        Ok(Self { path, half, masks, state: Mutex::new(state) })
    }

    /// The known secrets, which stand in nothing that is kept or told of a process.
    #[must_use]
    pub fn masks(&self) -> &Masks {
        &self.masks
    }

    /// Writes a line down; yields what is kept of it.
    pub fn push(&self, stream: LogSource, text: &str) -> String {
        // Masked whole: a secret across the cut would lose its end and stay.
        let masked = self.masks.mask(text);
        let mut end = masked.len().min(LINE);
        while !masked.is_char_boundary(end) {
            end -= 1;
        }
        let shown = match masked.get(..end).filter(|cut| cut.len() < masked.len()) {
            Some(cut) => format!("{cut}… ({} bytes)", text.len()),
            None => masked.into_owned(),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.lines += 1;
        if stream == LogSource::Stderr {
            state.remember(&shown);
        }
        let line = LogLine { n: state.lines, ts: now(), stream, text: shown };
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        if state.written + bytes.len() as u64 > self.half && state.written > 0 {
            // Where the turn fails the file grows on; a full disk loses lines, never the agent.
            let turned = std::fs::rename(&self.path, self.path.with_extension("old"));
            if let Ok(file) = turned.and_then(|()| create(&self.path)) {
                state.file = file;
                state.written = 0;
            }
        }
        if state.file.write_all(&bytes).is_ok() {
            state.written += bytes.len() as u64;
        }
        line.text
    }

    /// The last of what was said on standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).tail.clone()
    }

    /// Lines after a number, at most `limit`, of a process that runs or ran. Reads files: call it off the async threads.
    ///
    /// # Errors
    /// There is no log of that process.
    pub fn read(folder: &Path, process_id: &str, after: u64, limit: usize) -> io::Result<LogPage> {
        // The older half first. A turn between the two opens moves the newer one there: then both are one file and lines
        // that occur twice are taken once.
        let newer = newer(folder, process_id);
        let files = [File::open(newer.with_extension("old")), File::open(&newer)];
        if let [Err(_), Err(error)] = files {
            return Err(error);
        }
        let (mut lines, mut first): (Vec<LogLine>, Option<u64>) = (Vec::new(), None);
        for file in files.into_iter().flatten() {
            for line in BufReader::new(file).split(b'\n') {
                // A line that is being written now is read the next time.
                let Ok(line) = serde_json::from_slice::<LogLine>(&line?) else { continue };
                first.get_or_insert(line.n);
                if line.n > after && lines.len() < limit && lines.last().is_none_or(|last| last.n < line.n) {
                    lines.push(line);
                }
            }
        }
        let next_after = lines.last().map_or(after, |line| line.n);
        let dropped = first.map_or(0, |first| first.saturating_sub(after + 1));
        Ok(LogPage { lines, next_after, dropped })
    }

    /// Deletes the log of a process.
    pub fn delete(folder: &Path, process_id: &str) {
        let newer = newer(folder, process_id);
        // What is gone already is as wanted.
        let _ = std::fs::remove_file(newer.with_extension("old"));
        let _ = std::fs::remove_file(newer);
    }
}

impl State {
    fn remember(&mut self, line: &str) {
        self.tail.push_str(line);
        self.tail.push('\n');
        let mut cut = self.tail.len().saturating_sub(TAIL);
        while !self.tail.is_char_boundary(cut) {
            cut += 1;
        }
        self.tail.drain(..cut);
    }
}

fn newer(folder: &Path, process_id: &str) -> PathBuf {
    folder.join(format!("{process_id}.log"))
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::{LogPage, LogSource, Logs, Masks};
    use std::sync::Arc;

    fn texts(page: &LogPage) -> Vec<(u64, &str)> {
        page.lines.iter().map(|line| (line.n, line.text.as_str())).collect()
    }

    #[test]
    fn lines_are_numbered_and_read_on_from_any_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let logs = Logs::begin(folder.path(), "prc_1", Arc::default()).unwrap();
        for text in ["one", "two", "three"] {
            logs.push(LogSource::Stderr, text);
        }
        let page = Logs::read(folder.path(), "prc_1", 1, 1).unwrap();
        assert_eq!((texts(&page), page.next_after, page.dropped), (vec![(2, "two")], 2, 0));
        let page = Logs::read(folder.path(), "prc_1", 3, 9).unwrap();
        assert_eq!((texts(&page), page.next_after, page.dropped), (vec![], 3, 0));
        assert_eq!(logs.stderr_tail(), "one\ntwo\nthree\n");
        Logs::delete(folder.path(), "prc_1");
        assert!(Logs::read(folder.path(), "prc_1", 0, 9).is_err());
    }

    #[test]
    fn old_lines_make_room_and_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let logs = Logs::begin_sized(folder.path(), "prc_1", Arc::default(), 400).unwrap();
        for number in 1..=100 {
            logs.push(LogSource::StdoutNoise, &format!("line {number}"));
        }
        let page = Logs::read(folder.path(), "prc_1", 10, 1000).unwrap();
        let first = page.lines[0].n;
        assert!(first > 80 && page.lines.last().unwrap().n == 100);
        assert_eq!(page.dropped, first - 11);
        assert_eq!(page.lines.len() as u64, 101 - first);
        let bytes: u64 =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes <= 800, "{bytes}");
        assert!(logs.stderr_tail().is_empty());
    }

    #[test]
    fn secrets_and_very_long_lines_are_cut_out() {
        let folder = tempfile::tempdir().unwrap();
        let masks = Arc::new(Masks::default());
        masks.add("canary-value");
        let logs = Logs::begin(folder.path(), "prc_1", masks).unwrap();
        logs.push(LogSource::Stderr, "key canary-value");
        logs.push(LogSource::FrameIn, &format!("{}canary-value", "ü".repeat(super::LINE / 2 - 3)));
        let page = Logs::read(folder.path(), "prc_1", 0, 9).unwrap();
        assert_eq!(page.lines[0].text, "key ***");
        assert!(!page.lines[1].text.contains("can") && page.lines[1].text.len() < super::LINE + 40);
    }
}
