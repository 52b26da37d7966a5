//! Laws of the reducer: whatever an agent reports, and however it is cut into appends, the items are the same, nothing of a
//! message is lost, and nothing fails.

use super::*;
use proptest::prelude::*;
use tokio::runtime::Runtime;

/// A frame as agents send it, or nearly.
fn frame() -> impl Strategy<Value = Value> {
    let role =
        prop_oneof![Just("user_message_chunk"), Just("agent_message_chunk"), Just("agent_thought_chunk")];
    let id = prop_oneof![4 => Just(None), 1 => Just(Some("m1")), 1 => Just(Some("m2"))];
    let text = prop_oneof![1 => Just(String::new()), 6 => "[a-zé ]{1,4}"];
    let said = (role, id, text).prop_map(|(role, id, text)| {
        let mut update = json!({"sessionUpdate": role, "content": {"type": "text", "text": text}});
        if let Some(id) = id {
            update["messageId"] = id.into();
        }
        update
    });
    let call = (
        prop_oneof![Just("tool_call"), Just("tool_call_update")],
        "t[1-3]",
        proptest::option::of(prop_oneof![
            Just("pending"),
            Just("in_progress"),
            Just("completed"),
            Just("odd")
        ]),
        proptest::option::of("[a-z]{1,3}"),
    );
    let call = call.prop_map(|(kind, id, status, text)| {
        let content =
            text.map(|text| json!([{"type": "content", "content": {"type": "text", "text": text}}]));
        json!({"sessionUpdate": kind, "toolCallId": id, "status": status, "content": content})
    });
    let plan = "[a-z]{0,3}".prop_map(|text| json!({"sessionUpdate": "plan", "entries": [{"content": text}]}));
    prop_oneof![8 => said, 4 => call, 1 => plan, 2 => anything()]
}

/// JSON of any shape, with the names that we look at.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        Just(json!("agent_message_chunk")),
        Just(json!("tool_call_update")),
        Just(json!("plan")),
        Just(json!("text")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![
            Just("sessionUpdate"),
            Just("content"),
            Just("toolCallId"),
            Just("text"),
            Just("type"),
            Just("entries"),
            Just("messageId"),
            Just("rawInput"),
            Just("locations"),
            Just("_meta"),
            Just("usage"),
            Just("x"),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..5).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// Events of a session: frames, and ends of turns in between; a turn's number with each.
fn events(frames: &[(Value, u8)]) -> Vec<(Kind, Value, String)> {
    let (mut events, mut turn) = (Vec::new(), 0);
    for (frame, odds) in frames {
        let name = format!("trn_{turn}");
        for event in of_update(frame.clone()) {
            events.push((event.kind, event.data, name.clone()));
        }
        if *odds == 0 {
            events.push((Kind::TurnCompleted, json!({}), name));
            turn += 1;
        }
    }
    events.push((Kind::TurnCompleted, json!({}), format!("trn_{turn}")));
    events
}

/// The transcript and its bodies after the events were appended in these pieces.
async fn reduced(events: &[(Kind, Value, String)], pieces: &[usize]) -> (Vec<String>, String) {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut rest = events;
    let mut pieces = pieces.iter().cycle();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((*pieces.next().unwrap()).clamp(1, rest.len()));
        rest = after;
        let piece = piece.iter().map(|(kind, data, turn)| NewEvent::new(*kind, data.clone()).turn(turn));
        bench.log.append(&session, piece.collect()).await.unwrap();
    }
    let bodies = bench.store.read(|db| {
        db.query_row(
            "SELECT coalesce(group_concat(body || '|' || text_bytes || '|' || length(CAST(text AS BLOB)), ';' ORDER BY no), '')
             FROM items",
            [],
            |row| row.get(0),
        )
    });
    (transcript(&bench, &session).await, bodies.await.unwrap())
}

/// What was said, in the order of the events: of each turn, role and message.
fn said(events: &[(Kind, Value, String)]) -> usize {
    let chunks = events.iter().filter(|(kind, ..)| *kind == Kind::MessageChunk);
    let texts = chunks.filter(|(_, data, _)| {
        data["content"]["type"] == "text" && ItemKind::of_role(data["role"].as_str().unwrap()).is_some()
    });
    texts.filter_map(|(_, data, _)| data["content"]["text"].as_str()).map(str::len).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn cutting_changes_nothing_and_nothing_is_lost(
        frames in proptest::collection::vec((frame(), 0_u8..8), 0..40),
        pieces in proptest::collection::vec(1_usize..9, 1..5),
    ) {
        let events = events(&frames);
        let runtime = Runtime::new().unwrap();
        let whole = runtime.block_on(reduced(&events, &[usize::MAX]));
        let cut = runtime.block_on(reduced(&events, &pieces));
        prop_assert_eq!(&whole, &cut);
        // Every byte that was said is in some message, and every item is closed.
        let text_bytes = |kind: &str| whole.0.iter().zip(whole.1.split(';'))
            .filter(|(line, _)| line.starts_with(kind))
            .filter_map(|(_, body)| body.rsplit('|').next()?.parse::<usize>().ok())
            .sum::<usize>();
        prop_assert_eq!(text_bytes("user_") + text_bytes("agent_") + text_bytes("thought"), said(&events));
        prop_assert!(whole.0.iter().all(|line| !line.ends_with(" open")));
    }
}
