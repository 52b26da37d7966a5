//! A writer that is killed at any moment, under load: what was acknowledged is there, in order, and reduced to items. A few
//! times in every run, 200 times by `FULL_COUNTS=1 cargo test -p runtime --test agents kills`.

use runtime::agents::ids;
use runtime::agents::items;
use runtime::agents::log::{Asked, Bounds, Kind, Log, NewEvent, list};
use runtime::agents::store::{Place, Store, sessions};
use rusqlite::Connection;
use serde_json::json;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Says to the writer where the state is, and which session it writes to.
const STATE: &str = "KILLED_WRITER_STATE";
const SESSION: &str = "KILLED_WRITER_SESSION";

/// Events of one append, at most.
const BATCH: i64 = 20;

fn place(dir: &Path) -> Place {
    Place { state_dir: dir.join("state"), base_dir: dir.join("base") }
}

fn word(number: i64) -> String {
    format!("{number} ")
}

fn new_session(dir: &Path) -> String {
    let row = sessions::SessionRow {
        session_id: ids::new(ids::SESSION),
        agent_id: "killed".to_owned(),
        owner: "anonymous".to_owned(),
        state: "running".to_owned(),
        cwd: "/".to_owned(),
        ..Default::default()
    };
    let id = row.session_id.clone();
    let store = Store::open_now(place(dir)).unwrap();
    Runtime::new().unwrap().block_on(store.write(move |db| sessions::insert(db, &row))).unwrap();
    id
}

#[test]
fn killed_under_load_no_acknowledged_event_is_lost() {
    let rounds = if std::env::var_os("FULL_COUNTS").is_some() { 200 } else { 6 };
    let dir = tempfile::tempdir().unwrap();
    let session = new_session(dir.path());
    for round in 0..rounds {
        let acknowledged = write_and_kill(dir.path(), &session, round);
        let stored = whole(dir.path(), &session);
        assert!(stored >= acknowledged, "round {round}: {stored} of {acknowledged} events are there");
    }
}

/// Runs the writer, kills it some time after its first acknowledgement, and yields the last that it gave.
fn write_and_kill(dir: &Path, session: &str, round: u64) -> i64 {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::the_writer", "--ignored", "--nocapture", "--test-threads", "1"])
        .env(STATE, dir)
        .env(SESSION, session)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    // Spread over what a commit takes, without a clock of its own in every run.
    let moment = Duration::from_micros(500 + round * 7919 % 40_000);
    let mut last = 0;
    let mut killer = None;
    for line in lines {
        let Ok(line) = line else { break };
        let Some(number) = line.strip_prefix("ack ") else { continue };
        // A line that was cut off is no acknowledgement.
        let Some(number) = number.strip_suffix('.') else { continue };
        last = number.parse().unwrap();
        if killer.is_none() {
            let pid = i32::try_from(writer.id()).unwrap();
            killer = Some(std::thread::spawn(move || {
                std::thread::sleep(moment);
                rustix::process::kill_process(
                    rustix::process::Pid::from_raw(pid).unwrap(),
                    rustix::process::Signal::KILL,
                )
            }));
        }
    }
    assert!(killer.is_some(), "the writer wrote nothing");
    writer.wait().unwrap();
    assert!(last > 0);
    last
}

/// Reads everything back and checks it; yields the number of the last event.
fn whole(dir: &Path, session: &str) -> i64 {
    let store = Store::open_now(place(dir)).unwrap();
    let name = session.to_owned();
    let read = move |db: &Connection| {
        let row = sessions::find(db, &name)?.unwrap();
        let asked =
            Asked { session: Some(row.no), limit: usize::MAX, max_bytes: usize::MAX, ..Asked::default() };
        let events = list(db, &asked)?.0;
        let all = items::list(db, row.no, &items::Filter { limit: -1, ..Default::default() }, i64::MAX)?;
        let sound: String = db.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
        Ok((row.last_seq, events, all, sound))
    };
    let (last, events, all, sound) = Runtime::new().unwrap().block_on(store.read(read)).unwrap();
    assert_eq!(sound, "ok");
    let (mut said, mut next) = (String::new(), 1);
    for event in &events {
        assert_eq!(event.seq, next);
        assert_eq!(event.value()["content"]["text"], word(next));
        said.push_str(&word(next));
        next += 1;
    }
    assert_eq!(last, next - 1);
    let texts: Vec<&str> = all.iter().map(|(.., text)| text.as_str()).collect();
    assert_eq!(texts, [said]);
    last
}

/// Not a test: what is killed. Appends batch after batch and says which are on disk.
#[test]
#[ignore = "run by another test, which kills it"]
fn the_writer() {
    let Some(dir) = std::env::var_os(STATE).map(PathBuf::from) else { return };
    let session = std::env::var(SESSION).unwrap();
    Runtime::new().unwrap().block_on(async {
        let store = Store::open_now(place(&dir)).unwrap();
        let name = session.clone();
        let row = store.read(move |db| sessions::find(db, &name)).await.unwrap().unwrap();
        let log = Log::new(store, Bounds::default());
        let mut next = row.last_seq + 1;
        loop {
            let batch = next..next + 1 + next % BATCH;
            let events = batch.clone().map(|number| {
                let content = json!({"type": "text", "text": word(number)});
                NewEvent::new(Kind::MessageChunk, json!({"role": "agent", "content": content}))
            });
            let stored = log.append(&session, events.collect()).await.unwrap();
            next = batch.end;
            let mut out = std::io::stdout().lock();
            writeln!(out, "ack {}.", stored.last().unwrap().seq).unwrap();
            out.flush().unwrap();
        }
    });
}
