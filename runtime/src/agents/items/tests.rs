//! Items: the scenes that real agents play, and laws that hold for whatever they report.

mod laws;

use super::*;
use crate::agents::log::{Kind, NewEvent, of_update};
use crate::agents::store::sessions;
use crate::agents::testing::{Bench, chunk};
use serde_json::{Value, json};

/// The transcript of a session, one line an item.
async fn transcript(bench: &Bench, session_id: &str) -> Vec<String> {
    let name = session_id.to_owned();
    let read = move |db: &rusqlite::Connection| {
        let session = sessions::number(db, &name)?.unwrap();
        list(db, session, &Filter { limit: -1, ..Filter::default() }, i64::MAX)
    };
    let line = |(item, _, text): &Whole| {
        let (status, open) = (item.status.as_deref().unwrap_or("-"), if item.open { " open" } else { "" });
        let title = item.title.as_deref().unwrap_or("-");
        format!(
            "{} {status} {title} {text:?} {}..{}{open}",
            item.kind.as_str(),
            item.first_seq,
            item.last_seq
        )
    };
    bench.store.read(read).await.unwrap().iter().map(line).collect()
}

fn updates(updates: Vec<Value>) -> Vec<NewEvent> {
    updates.into_iter().flat_map(of_update).collect()
}

fn ended() -> NewEvent {
    NewEvent::new(Kind::TurnCompleted, json!({}))
}

#[tokio::test]
async fn chunks_without_id_are_joined_by_run() {
    let bench = Bench::new();
    let session = bench.session().await;
    let events = vec![
        chunk("user", "do it"),
        chunk("thought", "hm"),
        chunk("agent", "Hel"),
        chunk("thought", ""),
        chunk("agent", "lo"),
        NewEvent::new(Kind::UsageUpdated, json!({"used": 1})),
        chunk("agent", "!"),
        NewEvent::new(Kind::ToolCallCreated, json!({"tool_call_id": "t", "title": "ls"})),
        chunk("agent", "done"),
        NewEvent::new(Kind::ToolCallUpdated, json!({"tool_call_id": "t", "status": "completed"})),
        chunk("agent", " now"),
        ended(),
    ];
    bench.log.append(&session, events).await.unwrap();
    let wanted = [
        r#"user_message - - "do it" 1..1"#,
        r#"thought - - "hm" 3..3"#,
        r#"agent_message - - "Hello!" 5..9"#,
        r#"tool_call completed ls "" 11..13"#,
        r#"agent_message - - "done now" 12..14"#,
    ];
    assert_eq!(transcript(&bench, &session).await, wanted);
}

#[tokio::test]
async fn chunks_with_ids_are_joined_by_id() {
    let bench = Bench::new();
    let session = bench.session().await;
    let said = |kind: &str, id: &str, text: &str| json!({"sessionUpdate": kind, "messageId": id, "content": {"type": "text", "text": text}});
    let frames = vec![
        said("agent_thought_chunk", "a", "1"),
        said("agent_message_chunk", "b", "2"),
        said("agent_thought_chunk", "a", "3"),
        said("agent_message_chunk", "b", ""),
        said("agent_message_chunk", "b", "4"),
        said("agent_message_chunk", "c", "5"),
        json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x"}),
        said("agent_message_chunk", "c", "6"),
    ];
    bench.log.append(&session, updates(frames)).await.unwrap();
    bench.log.append(&session, vec![ended()]).await.unwrap();
    let wanted = [
        r#"thought - - "13" 1..3"#,
        r#"agent_message - - "24" 2..5"#,
        r#"agent_message - - "56" 7..11"#,
        r#"tool_call unsettled x "" 10..10"#,
    ];
    assert_eq!(transcript(&bench, &session).await, wanted);
}

#[tokio::test]
async fn calls_are_made_by_updates_and_by_requests_and_end_unsettled() {
    let bench = Bench::new();
    let session = bench.session().await;
    let request = json!({
        "request_id": "req_1", "title": "Write a file",
        "tool_call": {"toolCallId": "w", "title": "write a.txt", "kind": "edit",
            "content": [{"type": "diff", "path": "/a.txt", "newText": "hi"}]},
    });
    let events = vec![
        NewEvent::new(
            Kind::ToolCallUpdated,
            json!({"tool_call_id": "r", "title": "read", "status": "in_progress"}),
        ),
        NewEvent::new(Kind::PermissionRequested, request),
        NewEvent::new(
            Kind::PermissionResolved,
            json!({"request_id": "req_1", "state": "answered", "option_id": "ok"}),
        ),
        NewEvent::new(Kind::QuestionAsked, json!({"request_id": "req_2", "message": "Which?"})),
        NewEvent::new(
            Kind::ToolCallUpdated,
            json!({"tool_call_id": "w", "status": "completed",
                "content": [{"type": "content", "content": {"type": "text", "text": "ok"}}]}),
        ),
        NewEvent::new(Kind::TurnInterrupted, json!({})),
        NewEvent::new(Kind::ToolCallUpdated, json!({"tool_call_id": "r", "status": "failed"})),
    ];
    bench.log.append(&session, events).await.unwrap();
    let wanted = [
        r#"tool_call failed read "" 1..7"#,
        r#"tool_call completed write a.txt "ok" 2..5"#,
        r#"permission answered Write a file "" 2..3"#,
        r#"question lost Which? "" 4..4"#,
    ];
    assert_eq!(transcript(&bench, &session).await, wanted);
}

#[tokio::test]
async fn a_plan_is_one_item_a_turn() {
    let bench = Bench::new();
    let session = bench.session().await;
    let plan = |content: &str, turn: &str| {
        NewEvent::new(Kind::PlanUpdated, json!({"entries": [{"content": content}]})).turn(turn)
    };
    let ended = NewEvent::new(Kind::TurnCompleted, json!({})).turn("trn_1");
    bench
        .log
        .append(&session, vec![plan("a", "trn_1"), plan("b", "trn_1"), ended, plan("c", "trn_2")])
        .await
        .unwrap();
    let wanted = [r#"plan - - "" 1..2"#, r#"plan - - "" 4..4 open"#];
    assert_eq!(transcript(&bench, &session).await, wanted);
}

#[tokio::test]
async fn an_item_in_full_shows_its_parts_and_hides_files_from_who_may_not_read_them() {
    let bench = Bench::new();
    let session = bench.session().await;
    let call = json!({
        "tool_call_id": "t", "title": "run", "tool_kind": "execute", "status": "completed",
        "raw_input": {"command": ["ls", "-l"]}, "raw_output": {"code": 0}, "locations": [{"path": "/a", "line": 3}],
        "content": [
            {"type": "content", "content": {"type": "text", "text": "total 0"}},
            {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"},
            {"type": "terminal", "terminalId": "term_1"},
        ],
    });
    let events = vec![
        NewEvent::new(Kind::TerminalOutput, json!({"terminal_id": "term_1", "data": "tot"})),
        NewEvent::new(Kind::TerminalOutput, json!({"terminal_id": "term_1", "data": "al 0"})),
        NewEvent::new(Kind::TerminalExited, json!({"terminal_id": "term_1", "exit_code": 0})),
        NewEvent::new(Kind::ToolCallCreated, call.clone()),
    ];
    bench.log.append(&session, events).await.unwrap();
    let shown = |files: bool, max_bytes: usize| {
        let name = session.clone();
        let read = move |db: &rusqlite::Connection| {
            let session = sessions::number(db, &name)?.unwrap();
            let (item, ..) = list(db, session, &Filter { limit: 1, ..Filter::default() }, 10)?.remove(0);
            let found = find(db, session, &item.item_id)?.unwrap();
            full(db, session, found, files, max_bytes)
        };
        bench.store.read(read)
    };
    let whole = shown(true, 1000).await.unwrap();
    assert_eq!(whole["content"], call["content"]);
    assert_eq!(whole["raw_input"], call["raw_input"]);
    assert_eq!(whole["diffs"], json!([{"path": "/a", "old_text": "x", "new_text": "y"}]));
    assert_eq!(whole["terminal"], json!({"output": "total 0", "truncated": false, "exit_code": 0}));
    assert_eq!((&whole["text"], &whole["truncated"]), (&json!("total 0"), &json!(false)));
    let hidden = shown(false, 1000).await.unwrap();
    assert_eq!(
        (&hidden["content"], &hidden["diffs"], &hidden["truncated"]),
        (&json!([]), &json!([]), &json!(true))
    );
    assert_eq!((hidden.get("raw_input"), hidden.get("text"), hidden.get("terminal")), (None, None, None));
    assert_eq!(shown(true, 5).await.unwrap()["truncated"], true);
}

#[tokio::test]
async fn blocks_that_are_no_text_keep_their_place() {
    let bench = Bench::new();
    let session = bench.session().await;
    let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a"});
    let events = vec![
        chunk("agent", "see é"),
        NewEvent::new(Kind::MessageChunk, json!({"role": "agent", "content": link})),
        chunk("agent", " there"),
    ];
    bench.log.append(&session, events).await.unwrap();
    let name = session.clone();
    let read = move |db: &rusqlite::Connection| {
        let session = sessions::number(db, &name)?.unwrap();
        let (item, ..) = list(db, session, &Filter { limit: 1, ..Filter::default() }, 10)?.remove(0);
        let found = find(db, session, &item.item_id)?.unwrap();
        full(db, session, found, false, 1000)
    };
    let shown = bench.store.read(read).await.unwrap();
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(shown["content"], json!([text("see é"), link, text(" there")]));
}

#[tokio::test]
async fn a_long_message_is_whole_wherever_it_is_read_and_found_by_its_beginning() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut all = String::new();
    for piece in 0..30 {
        let text = format!("piece{piece} {}", "x".repeat(50_000));
        all.push_str(&text);
        bench.log.append(&session, vec![chunk("agent", &text)]).await.unwrap();
    }
    bench.log.append(&session, vec![ended()]).await.unwrap();
    let read = |most: i64| {
        let name = session.clone();
        bench.store.read(move |db| {
            let session = sessions::number(db, &name)?.unwrap();
            let mut items = list(db, session, &Filter { limit: -1, ..Filter::default() }, most)?;
            let (item, _, text) = items.remove(0);
            let found = |word: &str| -> rusqlite::Result<i64> {
                let sql = "SELECT count(*) FROM items_fts WHERE items_fts MATCH ?1";
                db.query_row(sql, [format!("{word}*")], |row| row.get(0))
            };
            Ok((
                text,
                find(db, session, &item.item_id)?.unwrap().2,
                found("piece0")?,
                found("piece29")?,
                item.open,
            ))
        })
    };
    let (text, whole, first, last, open) = read(i64::MAX).await.unwrap();
    assert_eq!((text == all, whole == all, open), (true, true, false));
    assert_eq!((first, last), (1, 0), "the first MiB is searched");
    let (text, ..) = read(8).await.unwrap();
    assert_eq!(text, "piece0 x");
}
