//! Streams of events: cut anywhere, they add up to the log; a slow reader is told.

use super::*;
use crate::agents::log::{Log, NewEvent};
use crate::agents::store::turns::TurnRow;
use crate::agents::testing::{Bench, chunk};
use futures_util::Stream;
use proptest::prelude::*;
use std::pin::Pin;
use tokio::runtime::Runtime;

type Frames = Pin<Box<dyn Stream<Item = Result<Bytes, Infallible>> + Send>>;

async fn frames(bench: &Bench, log: &Log, session: &str, after: i64, with: impl FnOnce(&mut Feed)) -> Frames {
    let mut feed = feed(bench, log, session, after).await;
    with(&mut feed);
    Box::pin(feed.frames())
}

async fn feed(bench: &Bench, log: &Log, session: &str, after: i64) -> Feed {
    Feed {
        follow: log.follow(session, after).await.unwrap(),
        store: bench.store.clone(),
        stopping: CancellationToken::new(),
        pick: Pick { chunks: true, files: true, ..Pick::default() },
        coalesce: Duration::ZERO,
        until_idle: None,
        global: false,
    }
}

/// Events of a piece of text: number, kind, data.
fn events(text: &str) -> Vec<(i64, String, Value)> {
    let event = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let data = serde_json::from_str::<Value>(&field("data: ")?).unwrap();
        Some((field("id: ").map_or(0, |id| id.parse().unwrap()), field("event: ")?, data))
    };
    text.split("\n\n").filter_map(event).collect()
}

/// Reads until the stream ends, falls silent, or `most` bytes have come: the reader is cut wherever that is.
async fn read(frames: Frames, most: usize) -> String {
    read_within(frames, most, Duration::from_millis(500)).await
}

/// The same where more silence is no end.
async fn read_within(mut frames: Frames, most: usize, silence: Duration) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < most
        && let Ok(Some(frame)) = tokio::time::timeout(silence, frames.next()).await
    {
        bytes.extend_from_slice(&frame.unwrap());
    }
    bytes.truncate(most);
    // What was cut in the middle has not arrived.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.rfind("\n\n").map(|end| text.get(..end).unwrap().to_owned()).unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    // A reader that never stays for a whole event would never end.
    #[test]
    fn cut_at_random_places_the_pieces_are_the_log(cuts in proptest::collection::vec(1_000_usize..60_000, 1..6)) {
        let seen = Runtime::new().unwrap().block_on(async {
            let bench = Bench::new();
            let session = bench.session().await;
            let (log, name) = (bench.log.clone(), session.clone());
            let writer = tokio::spawn(async move {
                for batch in 0..100 {
                    let events = (0..20).map(|n| chunk("agent", &format!("{} ", batch * 20 + n))).collect();
                    log.append(&name, events).await.unwrap();
                }
            });
            let (mut seen, mut cuts): (Vec<i64>, _) = (Vec::new(), cuts.iter().cycle());
            while seen.len() < 2000 {
                let after = seen.last().copied().unwrap_or(0);
                let text = read(frames(&bench, &bench.log, &session, after, |_| {}).await, *cuts.next().unwrap()).await;
                seen.extend(events(&text).iter().map(|(id, ..)| *id));
            }
            writer.await.unwrap();
            seen
        });
        prop_assert_eq!(seen, (1..=2000).collect::<Vec<i64>>());
    }
}

#[tokio::test]
async fn a_reader_that_falls_behind_is_told_and_misses_nothing() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.log.append(&session, vec![chunk("agent", "0")]).await.unwrap();
    let mut slow = State::of(feed(&bench, &bench.log, &session, 0).await);
    let mut text = String::new();
    for _ in 0..2 {
        text.push_str(std::str::from_utf8(&slow.next().await.unwrap()).unwrap());
    }
    // It waits at the end once, and is not asked again for long.
    let mut wait = Duration::from_millis(20);
    while !slow.live {
        assert!(tokio::time::timeout(wait, slow.next()).await.is_err());
        wait *= 2;
    }
    for _ in 0..21 {
        bench.log.append(&session, (0..1000).map(|_| chunk("agent", "x")).collect()).await.unwrap();
    }
    assert_eq!(slow.next().await.unwrap(), "event: lagged\ndata: {\"after\":1}\n\n");
    assert_eq!(slow.next().await, None);
    assert!(text.starts_with("retry: 2000\n\nid: 1\nevent: message.chunk\n"), "{text}");
    let next = frames(&bench, &bench.log, &session, 1, |_| {}).await.skip(1).next().await.unwrap().unwrap();
    assert_eq!(events(std::str::from_utf8(&next).unwrap())[0].0, 2);
}

#[tokio::test]
async fn an_idle_session_ends_a_stream_that_asks_for_it() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.log.append(&session, vec![chunk("agent", "0")]).await.unwrap();
    let name = session.clone();
    let frames = frames(&bench, &bench.log, &session, 0, |feed| feed.until_idle = Some(name)).await;
    assert_eq!(events(&read_within(frames, usize::MAX, Duration::from_secs(90)).await).len(), 1);
}

#[tokio::test]
async fn a_turn_that_waits_to_run_keeps_a_stream_open_unless_it_is_held_back() {
    let bench = Bench::new();
    let session = bench.session().await;
    let asks = |feed: &mut Feed| feed.until_idle = Some(session.clone());
    let name = session.clone();
    let turn = TurnRow {
        turn_id: "trn_1".to_owned(),
        session: bench.store.read(move |db| Ok(sessions::find(db, &name)?.unwrap().no)).await.unwrap(),
        state: "queued".to_owned(),
        ..TurnRow::default()
    };
    bench.store.write(move |db| rows::insert(db, turn, false)).await.unwrap();
    let mut open = frames(&bench, &bench.log, &session, 0, asks).await;
    assert!(open.next().await.is_some());
    assert!(tokio::time::timeout(Duration::from_millis(100), open.next()).await.is_err());
    // It runs, and the session does not say so yet; then it ends.
    bench.store.write(|db| rows::start(db, "trn_1", Some(1.0))).await.unwrap();
    bench.log.append(&session, vec![NewEvent::new(Kind::TurnStarted, json!({}))]).await.unwrap();
    assert!(open.next().await.is_some());
    assert!(tokio::time::timeout(Duration::from_millis(100), open.next()).await.is_err());
    bench.store.write(|db| rows::set_state(db, "trn_1", "completed")).await.unwrap();
    bench.log.append(&session, vec![NewEvent::new(Kind::TurnCompleted, json!({}))]).await.unwrap();
    assert!(open.next().await.is_some());
    assert_eq!(open.next().await, None);
    let name = session.clone();
    let held_back = move |db: &Connection| {
        let sql = "UPDATE sessions SET details = json_set(details, '$.queue_paused', json('true')) WHERE session_id = ?1";
        db.execute(sql, [name])?;
        db.execute("UPDATE turns SET state = 'queued'", [])
    };
    bench.store.write(held_back).await.unwrap();
    let mut ends = frames(&bench, &bench.log, &session, 2, asks).await;
    assert!(ends.next().await.is_some());
    assert_eq!(ends.next().await, None);
}

#[tokio::test]
async fn chunks_are_joined_where_that_is_asked_and_files_hidden() {
    let bench = Bench::new();
    let session = bench.session().await;
    let call = json!({"tool_call_id": "t", "raw_output": "secret"});
    let sent = vec![chunk("agent", "a"), chunk("agent", "b"), NewEvent::new(Kind::ToolCallUpdated, call)];
    bench.log.append(&session, sent).await.unwrap();
    let with = |feed: &mut Feed| {
        feed.coalesce = Duration::from_millis(1);
        feed.pick.files = false;
    };
    let mut stream = frames(&bench, &bench.log, &session, 0, with).await;
    let _ = stream.next().await;
    let piece = stream.next().await.unwrap().unwrap();
    let shown: Vec<(i64, Value)> = events(std::str::from_utf8(&piece).unwrap())
        .into_iter()
        .map(|(id, _, event)| (id, event["data"].clone()))
        .collect();
    assert_eq!(
        shown[0],
        (2, json!({"role": "agent", "content": {"type": "text", "text": "ab"}, "from_seq": 1}))
    );
    assert_eq!(shown[2], (4, json!({"tool_call_id": "t", "hidden": true})));
}
