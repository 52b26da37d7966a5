//! The log of agents' sessions: how fast chunks come to disk and to four followers, how fast a long log is replayed, and how
//! fast a large store of transcripts is searched. The goals are 10,000 chunks a second, five seconds, a tenth of a second.

use divan::Bencher;
use divan::counter::ItemsCount;
use runtime::agents::ids;
use runtime::agents::log::{Bounds, Kind, Log, NewEvent};
use runtime::agents::search::{Asked, Query, search};
use runtime::agents::store::{Place, Store, sessions};
use serde_json::json;
use std::sync::LazyLock;
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

/// Chunks of one run.
const CHUNKS: i64 = 20_000;
/// Who follows meanwhile.
const FOLLOWERS: usize = 4;
/// The longest log that is kept.
const LONG: i64 = 200_000;
/// Transcripts that are searched.
const ITEMS: usize = 100_000;

/// A store with one session.
struct Scene {
    runtime: Runtime,
    log: Log,
    store: Store,
    session: String,
    _dir: TempDir,
}

impl Scene {
    #[expect(clippy::unwrap_used, reason = "without a store there is nothing to measure")]
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state_dir: dir.path().join("state"), base_dir: dir.path().join("base") };
        let store = Store::open_now(place).unwrap();
        let runtime = Runtime::new().unwrap();
        let row = sessions::SessionRow {
            session_id: ids::new(ids::SESSION),
            agent_id: "bench".to_owned(),
            owner: "anonymous".to_owned(),
            state: "running".to_owned(),
            cwd: "/".to_owned(),
            ..Default::default()
        };
        let session = row.session_id.clone();
        runtime.block_on(store.write(move |db| sessions::insert(db, &row))).unwrap();
        Self { runtime, log: Log::new(store.clone(), Bounds::default()), store, session, _dir: dir }
    }
}

fn said(role: &str, text: &str) -> NewEvent {
    NewEvent::new(Kind::MessageChunk, json!({"role": role, "content": {"type": "text", "text": text}}))
}

#[divan::bench(sample_count = 5, sample_size = 1)]
#[expect(clippy::unwrap_used, reason = "a failure is no figure")]
fn chunks_to_disk_and_four_followers(bencher: Bencher) {
    bencher.counter(ItemsCount::new(20_000_usize)).with_inputs(Scene::new).bench_values(|scene| {
        let Scene { runtime, log, session, .. } = &scene;
        runtime.block_on(async {
            let followers: Vec<_> = (0..FOLLOWERS)
                .map(|_| {
                    let (log, session) = (log.clone(), session.clone());
                    tokio::spawn(async move {
                        let mut follow = log.follow(&session, 0).await.unwrap();
                        let mut bytes = 0;
                        while follow.after() < CHUNKS {
                            for event in follow.next(256).await.unwrap() {
                                bytes += serde_json::to_vec(&*event).unwrap().len();
                            }
                        }
                        bytes
                    })
                })
                .collect();
            let appender = log.appender(session);
            for number in 0..CHUNKS {
                appender.push(said("agent", &format!("word {number} of what is said, "))).await.unwrap();
            }
            appender.flush().await.unwrap();
            for follower in followers {
                divan::black_box(follower.await.unwrap());
            }
        });
        scene
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
#[expect(clippy::unwrap_used, reason = "a failure is no figure")]
fn replay_of_a_long_log(bencher: Bencher) {
    static LONG_LOG: LazyLock<Scene> = LazyLock::new(|| {
        let scene = Scene::new();
        scene.runtime.block_on(async {
            for batch in 0..LONG / 2000 {
                let events = (0..2000).map(|n| said("agent", &format!("word {} ", batch * 2000 + n)));
                scene.log.append(&scene.session, events.collect()).await.unwrap();
            }
        });
        scene
    });
    let scene = &*LONG_LOG;
    bencher.counter(ItemsCount::new(200_000_usize)).bench(|| {
        scene.runtime.block_on(async {
            let mut follow = scene.log.follow(&scene.session, 0).await.unwrap();
            let mut bytes = 0;
            while follow.after() < LONG {
                for event in follow.next(256).await.unwrap() {
                    bytes += serde_json::to_vec(&*event).unwrap().len();
                }
            }
            bytes
        })
    });
}

#[divan::bench(args = ["parser", "common", "\"word 77777 of\"", "common -parser", "comm*"], sample_count = 20, sample_size = 1)]
#[expect(clippy::unwrap_used, reason = "a failure is no figure")]
fn search_of_many_items(bencher: Bencher, query: &str) {
    static TRANSCRIPTS: LazyLock<Scene> = LazyLock::new(|| {
        let scene = Scene::new();
        scene.runtime.block_on(async {
            for batch in 0..ITEMS / 1000 {
                let events = (0..1000).map(|n| {
                    let number = batch * 1000 + n;
                    let rare = if number % 997 == 0 { "parser" } else { "reader" };
                    let role = if number % 2 == 0 { "agent" } else { "user" };
                    said(
                        role,
                        &format!(
                            "a common sentence about the {rare} with word {number} of many others in it"
                        ),
                    )
                });
                scene.log.append(&scene.session, events.collect()).await.unwrap();
            }
        });
        scene
    });
    let scene = &*TRANSCRIPTS;
    let asked = Asked {
        query: Query::parse(query).unwrap(),
        files: true,
        kinds: Vec::new(),
        agent_id: None,
        session_id: None,
        cwd: None,
        from: None,
        to: None,
        skip: 0,
        limit: 20,
    };
    bencher.bench(|| {
        let asked = asked.clone();
        scene.runtime.block_on(scene.store.read(move |db| search(db, &asked))).unwrap()
    });
}
