//! A reader that does not keep up, over a socket: it holds nobody up, is told, and comes back for what it has missed.

use crate::follow::{Event, Follower};
use crate::lab::{Lab, until};
use serde_json::json;

/// More chunks than a reader may be behind, and more than lies between the server and one that reads nothing.
const CHUNKS: usize = 24_000;
const BYTES: usize = 2000;

/// What the kernel keeps for it: less than a segment of the loopback is sent by a timer alone.
const WINDOW: usize = 256 * 1024;

/// Everything up to the end of the stream: the events, and the last of all, which is none.
fn to_the_end(mut stream: Follower) -> (Vec<Event>, Event) {
    let mut events = stream.all();
    let last = events.pop().unwrap();
    assert!(events.iter().all(|event| event.kind != "lagged"));
    (events, last)
}

fn ids(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.id.unwrap()).collect()
}

/// A stream that has shown all there is: it has been silent for as long as it takes until a comment comes.
fn live(lab: &Lab, path: &str) -> (Follower, Vec<String>) {
    let mut stream = lab.follow(path);
    stream.narrow(WINDOW);
    let mut blocks = Vec::new();
    loop {
        let block = stream.block().unwrap();
        if block.starts_with(':') {
            return (stream, blocks);
        }
        blocks.push(block);
    }
}

#[test]
fn a_reader_that_falls_behind_is_told_and_comes_back_for_the_rest() {
    let lab = Lab::under("defaults: {limits: {rate_per_minute: 100000, max_concurrency: 64}}");
    lab.register("mine", &[]);
    let session = lab.session("mine");
    let of_one = format!("/agents/sessions/{session}/events/stream");
    let of_all = "/agents/events/stream?chunks=true";
    let before = lab.last(&session);
    let (one, all) = std::thread::scope(|scope| {
        let one = scope.spawn(|| live(&lab, &of_one));
        let all = scope.spawn(|| live(&lab, of_all));
        (one.join().unwrap(), all.join().unwrap())
    });
    let ((one, begun), (all, begun_of_all)) = (one, all);
    assert_eq!(begun[0], "retry: 2000");
    assert_eq!(begun.len() as u64, 1 + before);
    // From now on, where no number is given.
    assert_eq!(begun_of_all, ["retry: 2000"]);
    // Nobody reads meanwhile, and nobody is held up.
    let turns = format!("/agents/sessions/{session}/turns");
    lab.post(&turns, json!({"prompt": format!("flood {CHUNKS} {BYTES}")}));
    until("the flood is over", || (lab.get(&turns)["turns"][0]["state"] == "completed").then_some(()));
    let last = lab.last(&session);

    let (seen, told) = to_the_end(one);
    let after = before + seen.len() as u64;
    assert_eq!(ids(&seen), (before + 1..=after).collect::<Vec<_>>());
    assert_eq!(told, Event { id: None, kind: "lagged".to_owned(), data: json!({"after": after}) });
    assert!(last - after > 20_000, "{after} of {last} were told");
    // Resumed by the header, as a browser does it: every number once, and what was said word for word.
    let again = |path: &str, after| Follower::ask(lab.server.port, "GET", path, None, None, Some(after));
    let rest = again(&format!("{of_one}?until_idle=true"), after).all();
    assert_eq!(ids(&rest), (after + 1..=last).collect::<Vec<_>>());
    let of_agent = |event: &&Event| event.data["data"]["role"] == "agent" && event.kind == "message.chunk";
    let text = |event: &Event| event.data["data"]["content"]["text"].as_str().unwrap().to_owned();
    let said: Vec<String> = seen.iter().chain(&rest).filter(of_agent).map(text).collect();
    assert_eq!(said.len(), CHUNKS);
    for (n, said) in said.iter().enumerate() {
        assert_eq!(*said, format!("{n:x<BYTES$} "));
    }

    let (seen_of_all, told) = to_the_end(all);
    let after = seen_of_all.last().unwrap().id.unwrap();
    assert_eq!(ids(&seen_of_all), (after + 1 - seen_of_all.len() as u64..=after).collect::<Vec<_>>());
    assert_eq!((told.id, told.kind.as_str(), told.data), (None, "lagged", json!({"after": after})));
    let mut rest = again(of_all, after);
    let number = |event: &Event| event.data["seq"].as_u64().unwrap();
    let mut numbers: Vec<u64> = seen_of_all.iter().map(number).collect();
    // It is the same log: a part of the rest will do.
    for _ in 0..1000 {
        let event = rest.next().unwrap();
        assert_eq!(event.data["session_id"], session.as_str());
        numbers.push(number(&event));
    }
    assert_eq!(numbers, (before + 1..=before + numbers.len() as u64).collect::<Vec<_>>());
}
