//! What agents have really said, line by line, put through the reducer in other pieces than it came in, with some of it
//! twice, and cut off anywhere.
//!
//! `frames/*.jsonl` is the standard output of one process each. To record anew, where an agent or the scripted one has
//! changed: `cargo test -p runtime --test agents frames::record -- --ignored` (the example agent is that of `.ci/agents`;
//! without it only the scripted one is recorded).

use crate::lab::{Lab, peer, until};
use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::Index;
use runtime::agents::acp::{Line, Lines, Message};
use runtime::agents::items::{self, Filter, ItemKind};
use runtime::agents::log::{Asked, Bounds, Kind, Log, NewEvent, list, of_update};
use runtime::agents::store::{Place, Store, sessions};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tokio::runtime::Runtime;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/agents/frames")
}

/// Every recording.
static RECORDED: LazyLock<Vec<Bytes>> = LazyLock::new(|| {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 2, "{files:?}");
    files.iter().map(|file| std::fs::read(file).unwrap().into()).collect()
});

/// An event that is yet to be appended: kind, data, turn.
type Said = (Kind, Value, String);

/// What lines say, as a session would take it.
#[derive(Default)]
struct Hearing {
    lines: Lines,
    said: Vec<Said>,
    turn: usize,
}

impl Hearing {
    fn hear(&mut self, piece: &Bytes) {
        let mut whole = Vec::new();
        self.lines.push(piece, |line| whole.push(line));
        whole.into_iter().for_each(|line| self.line(&line));
    }

    fn line(&mut self, line: &Line) {
        let Line::Whole(line) = line else { return };
        let turn = format!("trn_{}", self.turn);
        match Message::read(line) {
            Some(Message::Notification { method, mut params }) if method == "session/update" => {
                let events = of_update(params["update"].take());
                self.said.extend(events.into_iter().map(|event| (event.kind, event.data, turn.clone())));
            }
            Some(Message::Request { id, method, params }) if method == "session/request_permission" => {
                let call = &params["toolCall"];
                let data = json!({"request_id": id.to_string(), "title": call["title"], "tool_call": call});
                self.said.push((Kind::PermissionRequested, data, turn));
            }
            Some(Message::Answer { outcome: Ok(result), .. }) if result["stopReason"].is_string() => {
                self.said.push((Kind::TurnCompleted, json!({}), turn));
                self.turn += 1;
            }
            _ => {}
        }
    }

    /// The agent has ended, with whatever it was about to say.
    fn end(mut self) -> Vec<Said> {
        if let Some(line) = self.lines.finish() {
            self.line(&line);
        }
        self.said.push((Kind::TurnInterrupted, json!({}), format!("trn_{}", self.turn)));
        self.said
    }
}

fn heard(recorded: &Bytes) -> Vec<Said> {
    let mut hearing = Hearing::default();
    hearing.hear(recorded);
    hearing.end()
}

/// An item, without the numbers of the events that made it.
#[derive(Debug, PartialEq)]
struct Seen {
    kind: ItemKind,
    title: Option<String>,
    status: Option<String>,
    open: bool,
    body: Value,
    text: String,
}

/// Appends in pieces of these sizes, and yields the items. The numbers of the log have no gap.
fn reduced(said: &[Said], sizes: &[usize]) -> Vec<Seen> {
    let dir = tempfile::tempdir().unwrap();
    let place = Place { state_dir: dir.path().join("state"), base_dir: dir.path().join("base") };
    let store = Store::open_now(place).unwrap();
    let row = sessions::SessionRow {
        // Names of artifacts follow from it.
        session_id: "ses_recorded".to_owned(),
        agent_id: "recorded".to_owned(),
        owner: "anonymous".to_owned(),
        state: "running".to_owned(),
        cwd: "/".to_owned(),
        ..Default::default()
    };
    let id = row.session_id.clone();
    Runtime::new().unwrap().block_on(async {
        store.write(move |db| sessions::insert(db, &row)).await.unwrap();
        let log = Log::new(store.clone(), Bounds::default());
        let (mut rest, mut sizes) = (said, sizes.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
            rest = after;
            let events =
                piece.iter().map(|(kind, data, turn)| NewEvent::new(*kind, data.clone()).turn(turn.clone()));
            log.append(&id, events.collect()).await.unwrap();
        }
        let read = store.read(move |db| {
            let row = sessions::find(db, &id)?.unwrap();
            let asked =
                Asked { session: Some(row.no), limit: usize::MAX, max_bytes: usize::MAX, ..Asked::default() };
            let all = items::list(db, row.no, &Filter { limit: -1, ..Filter::default() }, i64::MAX)?;
            Ok((row.last_seq, list(db, &asked)?.0, all))
        });
        let (last, events, all) = read.await.unwrap();
        assert!(events.iter().map(|event| event.seq).eq(1..=last));
        let seen = |(item, body, text): items::Whole| Seen {
            kind: item.kind,
            title: item.title,
            status: item.status,
            open: item.open,
            body: body.into(),
            text,
        };
        all.into_iter().map(seen).collect()
    })
}

/// Whether an event says the same thing when it comes twice.
fn may_be_repeated((kind, data, _): &Said) -> bool {
    match kind {
        Kind::PlanUpdated | Kind::OptionsUpdated | Kind::CommandsUpdated | Kind::SessionUpdated => true,
        Kind::ToolCallUpdated => data["status"].is_string(),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_change_nothing(
        which: Index,
        bytes in proptest::collection::vec(1_usize..4000, 1..6),
        sizes in proptest::collection::vec(1_usize..12, 1..5),
    ) {
        let recorded = which.get(&RECORDED);
        let (mut hearing, mut at, mut bytes) = (Hearing::default(), 0, bytes.iter().cycle());
        while at < recorded.len() {
            let end = (at + bytes.next().unwrap()).min(recorded.len());
            hearing.hear(&recorded.slice(at..end));
            at = end;
        }
        let said = hearing.end();
        prop_assert_eq!(&said, &heard(recorded));
        let whole = reduced(&said, &[usize::MAX]);
        prop_assert!(!whole.is_empty() && whole.iter().all(|item| !item.open));
        prop_assert_eq!(reduced(&said, &sizes), whole);
    }

    #[test]
    fn what_comes_twice_changes_nothing(
        which: Index,
        twice in proptest::collection::vec(any::<bool>(), 1..20),
        sizes in proptest::collection::vec(1_usize..12, 1..5),
    ) {
        let said = heard(which.get(&RECORDED));
        let repeated: Vec<Said> = said.iter().zip(twice.iter().cycle())
            .flat_map(|(event, twice)| std::iter::repeat_n(event.clone(), 1 + usize::from(*twice && may_be_repeated(event))))
            .collect();
        prop_assert_eq!(reduced(&repeated, &sizes), reduced(&said, &[usize::MAX]));
    }

    #[test]
    fn cut_anywhere_what_was_said_is_there_and_closed(
        which: Index,
        cut: Index,
        sizes in proptest::collection::vec(1_usize..12, 1..5),
    ) {
        let recorded = which.get(&RECORDED);
        let whole = reduced(&heard(recorded), &[usize::MAX]);
        let some = reduced(&heard(&recorded.slice(..cut.index(recorded.len()))), &sizes);
        prop_assert!(some.len() <= whole.len());
        for (some, whole) in some.iter().zip(&whole) {
            prop_assert_eq!(some.kind, whole.kind);
            prop_assert!(!some.open, "{:?}", some);
            // A tool call shows what it showed last; everything else grows.
            prop_assert!(some.kind == ItemKind::ToolCall || whole.text.starts_with(&some.text), "{:?} {:?}", some, whole);
        }
    }
}

/// Runs an agent behind `tee`, and plays these prompts.
fn play(name: &str, command: &[&str], prompts: &[&str]) {
    let lab = Lab::start();
    let file = folder().join(format!("{name}.jsonl"));
    let mut args = vec!["-c".to_owned(), format!("\"$0\" \"$@\" | tee {}", file.display())];
    args.extend(command.iter().map(|word| (*word).to_owned()));
    lab.post("/agents/catalog", json!({"id": name, "command": "sh", "args": args, "client_terminal": true}));
    let session = lab.session_with(name, json!({"policy": {"default": "allow_all"}}));
    for prompt in prompts {
        let turn = lab.turn(&session, prompt);
        assert_eq!(turn["state"], "completed", "{turn}");
    }
    lab.post(&format!("/agents/sessions/{session}/close"), json!({}));
    until("it has ended", || lab.processes(name).is_empty().then_some(()));
    // Nothing of this machine is kept.
    let text = std::fs::read_to_string(&file).unwrap().replace(&lab.base(), "/work");
    std::fs::write(file, text).unwrap();
}

#[test]
#[ignore = "writes the recordings anew"]
fn record() {
    let prompts = [
        "updates",
        "echo first\nplan 0 3\necho second\nplan 2 3",
        "permission ls -l\nearly_tool\nopen_tool",
        "terminal echo from a terminal",
        "noise\nunknown\nimage\nusage 10 2\nsession_info Recorded",
        "messages 12\nflood 40 3\nduplicate",
    ];
    play("scripted", &[&peer()], &prompts);
    let server = PathBuf::from(env!("CARGO_BIN_EXE_agent-sandbox-server"));
    let example = "agents/node_modules/@agentclientprotocol/sdk/dist/examples/agent.js";
    let example = server.ancestors().nth(2).unwrap().join(example);
    if example.exists() {
        play("example", &["node", &example.display().to_string()], &["hello", "once more"]);
    }
}
