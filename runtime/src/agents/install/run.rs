//! A tool of an install, run to its end, its output told line by line.

use super::{InstallError, Report, Wanted, failed};
use crate::agents::acp::{Line, Lines};
use crate::agents::process::{StartError, Workplace};
use crate::error::{ApiError, ErrorCode};
use crate::process::{Cursor, EndOnDrop, Engine, Full, Kind, Launch, Owner, Program, Screen, Stdin, Stream};
use rustix::fs::{Mode, OFlags};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

/// Bytes of output that are kept for the caller of [`run`].
const KEEP: usize = 1 << 20;

/// Bytes of standard error in a message about a failure; the first lines say what is wrong.
const TOLD: usize = 600;

/// Longest line that is told.
const LINE: usize = 16 * 1024;

/// Opens a folder of an install as a working directory.
pub(super) fn place(folder: &Path) -> Result<Workplace, InstallError> {
    let handle = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    Ok(Workplace { handle: handle.map_err(failed)?, path: folder.to_string_lossy().into_owned() })
}

/// Finds a tool and asks the policy about it.
///
/// # Errors
/// 403 `command_not_allowed`, 409 `runtime_missing`.
pub(super) fn tool(
    engine: &Engine,
    wanted: &Wanted,
    name: &str,
    place: &Workplace,
) -> Result<Program, InstallError> {
    wanted.judge.program(engine, name, place).map_err(|error| {
        InstallError::Refused(match error {
            StartError::NotInstalled(_) => missing(name, name, None),
            error => error.into(),
        })
    })
}

/// 409: the machine lacks a runtime, or has another version.
pub(super) fn missing(runtime: &str, need: &str, have: Option<&str>) -> ApiError {
    ApiError::new(ErrorCode::RuntimeMissing, format!("The agent needs {need}, which is not here"))
        .with("runtime", runtime)
        .with("need", need)
        .with("have", json!(have))
}

/// Runs a tool; yields its standard output. Its lines are told where there is a report.
///
/// # Errors
/// It did not start, or gave another status than 0; the text holds what it said first.
pub(super) async fn run(
    engine: &Arc<Engine>,
    wanted: &Wanted,
    words: &[&str],
    variables: &[(&str, &str)],
    folder: &Path,
    report: Option<&Report>,
) -> Result<String, InstallError> {
    let place = place(folder)?;
    let name = words.first().copied().unwrap_or_default();
    let program = tool(engine, wanted, name, &place)?;
    let environment = environment(engine, wanted, variables)?;
    let job = engine
        .spawn(Launch {
            program,
            title: name.to_owned(),
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            environment,
            directory: place.handle,
            input: Stdin::Empty,
            screen: Screen::Pipes,
            keep: KEEP,
            full: Full::Pause,
            lifetime: Some(wanted.time),
            kind: Kind::Call,
            owner: Owner::from("agents"),
        })
        .map_err(failed)?;
    let _end = EndOnDrop(Arc::clone(&job));
    let (mut changes, mut cursor) = (job.changes(), Cursor::default());
    let mut lines = [Lines::with_limit(LINE), Lines::with_limit(LINE)];
    let (mut output, mut said) = (Vec::new(), String::new());
    loop {
        changes.mark_unchanged();
        let progress = job.progress(&mut cursor, KEEP);
        let [out, err] = &mut lines;
        let mut told = |stream: &'static str, line: Line| {
            if let Line::Whole(line) = line {
                let text = String::from_utf8_lossy(&line);
                report.into_iter().for_each(|report| report.line(stream, &text));
                if stream == "stderr" && said.len() < TOLD {
                    said = format!("{said}\n{text}");
                }
            }
        };
        for segment in &progress.segments {
            match segment.stream {
                Stream::Stdout => {
                    let room = KEEP.saturating_sub(output.len()).min(segment.data.len());
                    output.extend_from_slice(segment.data.get(..room).unwrap_or_default());
                    out.push(&segment.data, |line| told("stdout", line));
                }
                Stream::Stderr => err.push(&segment.data, |line| told("stderr", line)),
            }
        }
        job.acknowledge(cursor.offsets);
        if let Some(exit) = progress.exit {
            out.finish().into_iter().for_each(|line| told("stdout", line));
            err.finish().into_iter().for_each(|line| told("stderr", line));
            return match exit.code {
                Some(0) => Ok(String::from_utf8_lossy(&output).into_owned()),
                _ => Err(InstallError::Failed(format!("{name} failed:{said}"))),
            };
        }
        if progress.segments.is_empty() {
            // The sender lives as long as the job.
            let _ = changes.changed().await;
        }
    }
}

fn environment(
    engine: &Engine,
    wanted: &Wanted,
    variables: &[(&str, &str)],
) -> Result<Vec<CString>, InstallError> {
    let own: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let denied = wanted.judge.rules().and_then(|rules| rules.params.env.as_deref());
    let refused = |name: &str| denied.is_some_and(|rules| rules.refuses(name).is_some());
    engine.environment.block(&own, refused).map_err(failed)
}
