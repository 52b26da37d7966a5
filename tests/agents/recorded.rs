//! What was recorded of a session: events, items, artifacts, usage, and finding it again.

use crate::bundles::{ARTIFACT, CALL, PICTURE, SESSION, TURN, archive, entries, import, manifest};
use crate::follow::Follower;
use crate::lab::Lab;
use crate::server::Setup;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

fn at(path: &str) -> String {
    format!("/agents/sessions/{SESSION}/{path}")
}

/// Two callers: `all` holds everything, `looks` may only look.
fn shared() -> Lab {
    let setup = Setup::new()
        .env("ABX_SERVER_ENABLED_GROUPS", "agents")
        .env("ALL_TOKEN", "all-secret-1")
        .env("LOOKS_TOKEN", "looks-secret-2")
        .policy(
            "auth: {tokens: [{id: all, token_env: ALL_TOKEN, scopes: ['*']}, \
             {id: looks, token_env: LOOKS_TOKEN, scopes: ['agents:read']}]}",
        );
    Lab::with(setup).token("all-secret-1")
}

fn numbers(answer: &Value) -> Vec<i64> {
    answer["events"].as_array().unwrap().iter().map(|event| event["seq"].as_i64().unwrap()).collect()
}

#[test]
fn events_are_read_in_pieces() {
    let lab = Lab::start();
    import(&lab);
    let list = |query: &str| lab.get(&at(&format!("events{query}")));
    let whole = list("");
    assert_eq!(numbers(&whole), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        (&whole["first_seq"], &whole["last_seq"], &whole["more"]),
        (&json!(1), &json!(7), &json!(false))
    );
    assert_eq!(whole["events"][1]["data"]["content"]["text"], "Please note the zebra");
    let piece = list("?after=2&limit=3");
    assert_eq!((numbers(&piece), &piece["more"]), (vec![3, 4, 5], &json!(true)));
    assert_eq!(numbers(&list("?order=desc&limit=2")), [7, 6]);
    assert_eq!(numbers(&list("?kinds=turn,tool_call.created")), [1, 4, 7]);
    assert_eq!(numbers(&list("?turn_id=trn_none")), [0_i64; 0]);
    assert_eq!(numbers(&list("?after=7")), [0_i64; 0]);
    let raw = list("?raw=true&kinds=message.chunk");
    let frame = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Please note the zebra"}});
    assert_eq!(raw["events"][0]["raw"], frame);
    for (query, code) in [
        ("?after=8", "400 invalid_cursor"),
        ("?after=-1", "400 invalid_cursor"),
        ("?after=x", "400 invalid_cursor"),
        ("?limit=0", "400 invalid_parameter"),
        ("?kinds=turns", "400 invalid_parameter"),
        ("?order=up", "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("GET", &at(&format!("events{query}")), None), code, "{query}");
    }
    assert_eq!(lab.refused("GET", "/agents/sessions/ses_none/events", None), "404 session_not_found");
}

#[test]
fn what_was_trimmed_is_said_to_be_gone() {
    let lab = Lab::start();
    let mut entries = entries(&lab.base());
    let text = String::from_utf8(entries["events.jsonl"].clone()).unwrap();
    let kept: Vec<&str> = text.lines().skip(3).collect();
    entries.insert("events.jsonl".to_owned(), format!("{}\n", kept.join("\n")).into_bytes());
    let session = String::from_utf8(entries["session.json"].clone()).unwrap();
    let session = session.replace("\"first_seq\":1", "\"first_seq\":4");
    entries.insert("session.json".to_owned(), session.into_bytes());
    lab.post("/agents/imports", json!({"content_base64": archive(&entries, &manifest(&entries))}));
    assert_eq!(numbers(&lab.get(&at("events"))), [4, 5, 6, 7]);
    assert_eq!(numbers(&lab.get(&at("events?after=3"))), [4, 5, 6, 7]);
    for path in ["events?after=2", "events/stream?after=2"] {
        let (status, body) = lab.ask("GET", &at(path), None);
        assert_eq!(
            (status, &body["code"], &body["first_seq"]),
            (410, &json!("offset_expired"), &json!(4)),
            "{path}"
        );
    }
}

#[test]
fn what_was_trimmed_is_said_to_be_gone_of_all() {
    let lab = Lab::start();
    lab.register("mine", &[]);
    lab.session("mine");
    // As trimming leaves it.
    let db = rusqlite::Connection::open(lab.server.dir.path().join("state/agents/agents.db")).unwrap();
    db.busy_timeout(crate::lab::PATIENCE).unwrap();
    db.execute("UPDATE counters SET value = 3 WHERE name = 'first_gseq'", []).unwrap();
    let (status, body) = lab.ask("GET", "/agents/events/stream?after=1", None);
    assert_eq!(
        (status, body),
        (
            410,
            json!({"error": "The events behind this number are no longer kept", "type": "ValueError", "code": "offset_expired",
                "first_gseq": 3})
        )
    );
    let first = lab.follow("/agents/events/stream?after=2").next().unwrap();
    assert_eq!(first.id, Some(3));
}

#[test]
fn a_stream_is_the_log_wherever_it_was_cut() {
    let lab = Lab::start();
    import(&lab);
    let whole = lab.get(&at("events"))["events"].clone();
    for cut in 0..=7_u64 {
        let path = at("events/stream?until_idle=true");
        let mut follower = Follower::ask(lab.server.port, "GET", &path, None, None, (cut > 0).then_some(cut));
        assert_eq!(follower.status, 200);
        let seen = follower.all();
        let ids: Vec<u64> = seen.iter().map(|event| event.id.unwrap()).collect();
        assert_eq!(ids, (cut + 1..=7).collect::<Vec<u64>>());
        for event in seen {
            let number = usize::try_from(event.id.unwrap()).unwrap();
            assert_eq!(
                (event.data.clone(), event.kind.as_str()),
                (whole[number - 1].clone(), whole[number - 1]["kind"].as_str().unwrap())
            );
        }
    }
    let mut some = lab.follow(&at("events/stream?until_idle=true&after=1&kinds=turn,message"));
    assert_eq!(some.all().iter().map(|event| event.id.unwrap()).collect::<Vec<_>>(), [2, 3, 5, 6, 7]);
    for (query, code) in [
        ("?after=9", "400 invalid_cursor"),
        ("?after=one", "400 invalid_cursor"),
        ("?kinds=nothing", "400 invalid_parameter"),
        ("?coalesce_ms=5000", "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("GET", &at(&format!("events/stream{query}")), None), code, "{query}");
    }
    assert_eq!(lab.refused("GET", "/agents/sessions/ses_none/events/stream", None), "404 session_not_found");
    for (query, code) in [
        ("?after=1", "400 invalid_cursor"),
        ("?label=nothing", "400 invalid_parameter"),
        ("?kinds=nothing", "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("GET", &format!("/agents/events/stream{query}"), None), code, "{query}");
    }
    assert_eq!(lab.follow("/agents/events/stream").status, 200);
}

#[test]
fn items_are_listed_and_shown_in_full() {
    let lab = Lab::start();
    import(&lab);
    let list = |query: &str| lab.get(&at(&format!("items{query}")));
    let kinds = |answer: &Value| {
        let items = answer["items"].as_array().unwrap();
        items.iter().map(|item| item["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let whole = list("");
    assert_eq!(kinds(&whole), ["user_message", "tool_call", "agent_message"]);
    assert_eq!(
        whole["items"][0],
        json!({"item_id": whole["items"][0]["item_id"], "turn_id": TURN, "kind": "user_message", "role": "user",
            "locations": [], "started_at": 1002.0, "ended_at": 1010.0, "text": "Please note the zebra",
            "truncated": false})
    );
    assert_eq!(kinds(&list("?kinds=tool_call,thought")), ["tool_call"]);
    assert_eq!(kinds(&list("?status=completed&tool_kind=edit")), ["tool_call"]);
    assert_eq!(kinds(&list("?turn_id=trn_none")), [""; 0]);
    let first = list("?limit=2");
    let next = first["next_cursor"].as_str().unwrap();
    let second = list(&format!("?limit=2&cursor={next}"));
    assert_eq!((kinds(&second), second.get("next_cursor")), (vec!["agent_message".to_owned()], None));
    let cut = list("?max_text=6");
    assert_eq!((&cut["items"][0]["text"], &cut["items"][0]["truncated"]), (&json!("Please"), &json!(true)));
    let call = lab.get(&at(&format!("items/{CALL}")))["item"].clone();
    assert_eq!(
        call["diffs"],
        json!([{"path": "/w/notes.txt", "old_text": "old", "new_text": "a hidden marmot"}])
    );
    assert_eq!(lab.get(&at(&format!("items/{CALL}?max_bytes=10")))["item"]["truncated"], true);
    let answer = whole["items"][2]["item_id"].as_str().unwrap();
    let content = lab.get(&at(&format!("items/{answer}")))["item"]["content"].clone();
    assert_eq!((&content[0]["type"], &content[1]["artifact_id"]), (&json!("text"), &json!(ARTIFACT)));
    for (path, code) in [
        ("items?kinds=poem", "400 invalid_parameter"),
        ("items?cursor=none", "400 invalid_cursor"),
        ("items?limit=x", "400 invalid_parameter"),
        ("items/itm_none", "404 item_not_found"),
        ("items/itm_none?max_bytes=much", "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("GET", &at(path), None), code, "{path}");
    }
    assert_eq!(lab.refused("GET", "/agents/sessions/ses_none/items", None), "404 session_not_found");
}

#[test]
fn artifacts_come_back_as_they_were() {
    let lab = Lab::start();
    import(&lab);
    let listed = lab.get(&at("artifacts"));
    assert_eq!(listed["artifacts"][0]["artifact_id"], ARTIFACT);
    assert_eq!(lab.get(&at("artifacts?turn_id=trn_none"))["artifacts"], json!([]));
    let whole = lab.get(&at(&format!("artifacts/{ARTIFACT}")));
    assert_eq!(
        (&whole["artifact"], &whole["content_base64"]),
        (&listed["artifacts"][0], &json!(STANDARD.encode(PICTURE)))
    );
    assert_eq!(lab.refused("GET", &at("artifacts/art_none"), None), "404 artifact_not_found");
    assert_eq!(lab.refused("GET", &at("artifacts?cursor=x"), None), "400 invalid_cursor");
    let small = Lab::under("endpoints: {agents_artifacts_get: {limits: {max_bytes: 5B}}}");
    import(&small);
    let (status, body) = small.ask("GET", &at(&format!("artifacts/{ARTIFACT}")), None);
    assert_eq!((status, &body["code"], &body["limit"]), (413, &json!("too_large"), &json!(5)));
}

#[test]
fn usage_is_summed_up() {
    let lab = Lab::start();
    import(&lab);
    let row = |key: &str| {
        json!({"turns": 1, "reported": "full", "key": key, "input_tokens": 10, "output_tokens": 5,
            "cost": {"amount": 0.25, "currency": "USD"}, "context": {"used": 100, "size": 1000}})
    };
    for (group, key) in [("session", SESSION), ("agent", "scripted"), ("turn", TURN), ("day", "1970-01-01")] {
        let answer = lab.get(&format!("/agents/usage?group_by={group}"));
        assert_eq!(answer["rows"], json!([row(key)]), "{group}");
        assert_eq!((&answer["totals"]["input_tokens"], answer["totals"].get("context")), (&json!(10), None));
    }
    assert_eq!(lab.get("/agents/usage?from=2000")["rows"], json!([]));
    assert_eq!(
        lab.get(&format!("/agents/usage?session_id={SESSION}&from=0&to=2000"))["rows"],
        json!([row(SESSION)])
    );
    for (query, code) in [
        ("from=2&to=1", "400 invalid_range"),
        ("from=yesterday", "400 invalid_range"),
        ("to=inf", "400 invalid_range"),
        ("group_by=week", "400 invalid_parameter"),
        ("session_id=ses_none", "404 session_not_found"),
    ] {
        assert_eq!(lab.refused("GET", &format!("/agents/usage?{query}"), None), code, "{query}");
    }
}

#[test]
fn transcripts_are_searched() {
    let lab = Lab::start();
    import(&lab);
    let search = |body: Value| lab.post("/agents/search", body)["hits"].as_array().unwrap().clone();
    let kinds =
        |hits: &[Value]| hits.iter().map(|hit| hit["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let mut both = kinds(&search(json!({"query": "ZEBRA"})));
    both.sort_unstable();
    assert_eq!(both, ["agent_message", "user_message"]);
    let hits = search(json!({"query": "zebra -please"}));
    assert_eq!(kinds(&hits), ["agent_message"]);
    let hit = &hits[0];
    assert_eq!((&hit["session_id"], &hit["turn_id"]), (&json!(SESSION), &json!(TURN)));
    assert_eq!(hit["snippet"], "部署 is done, the zebra is noted");
    assert_eq!((&hit["before"][0]["kind"], &hit["after"]), (&json!("tool_call"), &json!([])));
    assert_eq!(kinds(&search(json!({"query": "marmot"}))), ["tool_call"]);
    assert_eq!(kinds(&search(json!({"query": "notes.txt"}))), ["tool_call"]);
    assert_eq!(kinds(&search(json!({"query": "部署"}))), ["agent_message"]);
    assert_eq!(
        kinds(&search(json!({"query": "\"note the\" zeb*", "kinds": ["user_message"]}))),
        ["user_message"]
    );
    for narrowed in [
        json!({"query": "zebra", "agent_id": "none"}),
        json!({"query": "zebra", "session_id": "ses_none"}),
        json!({"query": "zebra", "cwd": "/elsewhere"}),
        json!({"query": "zebra", "from": 2000}),
        json!({"query": "zebra", "to": 1}),
        json!({"query": "署部"}),
    ] {
        assert_eq!(search(narrowed.clone()), [Value::Null; 0], "{narrowed}");
    }
    let first = lab.post("/agents/search", json!({"query": "zebra", "limit": 1, "context": 0}));
    assert_eq!(first["hits"][0]["before"], json!([]));
    let second =
        lab.post("/agents/search", json!({"query": "zebra", "limit": 1, "cursor": first["next_cursor"]}));
    assert_ne!(first["hits"][0]["item_id"], second["hits"][0]["item_id"]);
    assert_eq!(second.get("next_cursor"), None);
    for (body, code) in [
        (json!({}), "400 invalid_query"),
        (json!({"query": "\"open"}), "400 invalid_query"),
        (json!({"query": "* -"}), "400 invalid_query"),
        (json!({"query": "a", "kinds": ["poem"]}), "400 invalid_parameter"),
        (json!({"query": "a", "context": 9}), "400 invalid_parameter"),
        (json!({"query": "a", "from": 2, "to": 1}), "400 invalid_range"),
        (json!({"query": "a", "cursor": "x"}), "400 invalid_cursor"),
        (json!({"query": 7}), "400 invalid_parameter"),
    ] {
        assert_eq!(lab.refused("POST", "/agents/search", Some(body.clone())), code, "{body}");
    }
}

#[test]
fn who_may_not_read_files_does_not_see_what_came_out_of_them() {
    let lab = shared();
    import(&lab);
    let lab = lab.token("looks-secret-2");
    let seen = [
        lab.get(&at("events?raw=true")),
        lab.get(&at("items")),
        lab.get(&at(&format!("items/{CALL}"))),
        lab.get(&at("artifacts")),
        lab.post("/agents/search", json!({"query": "notes.txt"})),
    ];
    for answer in &seen {
        assert!(!answer.to_string().contains("marmot"), "{answer}");
    }
    assert_eq!(seen[0]["events"][3]["data"]["hidden"], true);
    assert_eq!(lab.post("/agents/search", json!({"query": "marmot"}))["hits"], json!([]));
    assert_eq!(seen[4]["hits"][0]["item_id"], CALL);
    let streamed = lab.follow(&at("events/stream?until_idle=true")).all();
    assert!(streamed.len() == 7 && !format!("{streamed:?}").contains("marmot"));
    for path in [format!("artifacts/{ARTIFACT}"), "export".to_owned()] {
        assert_eq!(lab.refused("GET", &at(&path), None), "403 missing_scope", "{path}");
    }
    assert_eq!(lab.refused("POST", "/agents/imports", Some(json!({}))), "403 missing_scope");
}
