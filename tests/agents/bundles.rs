//! Bundles: a session goes out and comes in unchanged, and nothing else comes in.

use crate::lab::Lab;
use crate::server::Setup;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use zip::write::SimpleFileOptions;

pub const SESSION: &str = "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV";
pub const TURN: &str = "trn_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const MESSAGE: &str = "itm_01ARZ3NDEKTSV4RRFFQ69G5FA0";
pub const CALL: &str = "itm_01ARZ3NDEKTSV4RRFFQ69G5FA1";
pub const ARTIFACT: &str = "art_01ARZ3NDEKTSV4RRFFQ69G5FAV";
pub const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n and so on";

pub type Entries = BTreeMap<String, Vec<u8>>;

pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn lines(rows: &[Value]) -> Vec<u8> {
    rows.iter().flat_map(|row| format!("{row}\n").into_bytes()).collect()
}

/// A small session: a question, a tool call with a diff, an answer with a picture.
pub fn entries(cwd: &str) -> Entries {
    let event = |seq: i64, kind: &str, data: Value| json!({"seq": seq, "ts": 1000.0 + seq as f64, "turn_id": TURN, "kind": kind, "data": data.to_string()});
    let text = |role: &str, text: &str| json!({"role": role, "content": {"type": "text", "text": text}});
    let call = json!({"tool_call_id": "t1", "title": "Edit notes.txt", "tool_kind": "edit", "status": "completed",
        "locations": [{"path": "/w/notes.txt"}],
        "content": [{"type": "diff", "path": "/w/notes.txt", "oldText": "old", "newText": "a hidden marmot"}]});
    let picture = json!({"role": "agent", "content":
        {"type": "image", "mimeType": "image/png", "artifact_id": ARTIFACT, "bytes": PICTURE.len()}});
    let events = [
        event(1, "turn.started", json!({"turn_id": TURN})),
        event(2, "message.chunk", text("user", "Please note the zebra")),
        event(3, "message.completed", json!({"item_id": MESSAGE, "role": "user", "text_bytes": 21})),
        event(4, "tool_call.created", call.clone()),
        event(5, "message.chunk", text("agent", "部署 is done, the zebra is noted")),
        event(6, "message.chunk", picture.clone()),
        event(7, "turn.completed", json!({"turn_id": TURN, "stop_reason": "end_turn"})),
    ];
    let item = |id: &str, kind: &str, text: &str, body: Value, seq: i64| {
        json!({"item_id": id, "turn_id": TURN, "kind": kind, "text": text, "text_bytes": text.len(),
            "body": body.to_string(), "first_seq": seq, "last_seq": seq, "started_at": 1000.0 + seq as f64,
            "ended_at": 1010.0})
    };
    let mut edit =
        item(CALL, "tool_call", "", json!({"content": call["content"], "locations": call["locations"]}), 4);
    edit["title"] = call["title"].clone();
    edit["tool_kind"] = "edit".into();
    edit["status"] = "completed".into();
    let answer = "部署 is done, the zebra is noted";
    let shown = json!({"content": [{"at": answer.len(), "block": picture["content"]}]});
    let items = [
        item(MESSAGE, "user_message", "Please note the zebra", json!({}), 2),
        edit,
        item("itm_01ARZ3NDEKTSV4RRFFQ69G5FA2", "agent_message", answer, shown, 5),
    ];
    let session = json!({"session_id": SESSION, "agent_id": "scripted", "native_session_id": "n-1", "cwd": cwd,
        "title": "Notes", "labels": {"team": "a"}, "details": {}, "created_at": 1000.0, "updated_at": 1007.0,
        "first_seq": 1, "last_seq": 7});
    let turn = json!({"turn_id": TURN, "state": "completed", "position": 1.0, "owner": "somebody", "prompt": "[]",
        "prompt_preview": "Please note", "stop_reason": "end_turn", "details": "{}", "queued_at": 1000.0,
        "started_at": 1001.0, "ended_at": 1007.0, "first_seq": 1, "last_seq": 7});
    let artifact = json!({"artifact_id": ARTIFACT, "turn_id": TURN, "name": "image.png", "mime_type": "image/png",
        "bytes": PICTURE.len(), "sha256": hex(PICTURE), "source": "message", "created_at": 1006.0});
    let usage = json!({"turn_id": TURN, "at": 1007.0, "final": 1, "input_tokens": 10, "output_tokens": 5,
        "cost_before": 0.0, "cost_total": 0.25, "currency": "USD", "context_used": 100, "context_size": 1000});
    Entries::from([
        ("session.json".to_owned(), session.to_string().into_bytes()),
        ("turns.jsonl".to_owned(), lines(&[turn])),
        ("events.jsonl".to_owned(), lines(&events)),
        ("items.jsonl".to_owned(), lines(&items)),
        ("terminals.jsonl".to_owned(), Vec::new()),
        ("artifacts.jsonl".to_owned(), lines(&[artifact])),
        ("usage.jsonl".to_owned(), lines(&[usage])),
        ("checkpoints.jsonl".to_owned(), Vec::new()),
        (format!("blobs/{}", hex(PICTURE)), PICTURE.to_vec()),
    ])
}

/// The manifest that fits.
pub fn manifest(entries: &Entries) -> Value {
    let files: BTreeMap<&String, String> = entries.iter().map(|(name, bytes)| (name, hex(bytes))).collect();
    json!({"format": "agent-session-bundle", "version": 1, "files": files})
}

/// The archive, in base64.
pub fn archive(entries: &Entries, manifest: &Value) -> String {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, bytes: &[u8]| {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    };
    for (name, bytes) in entries {
        put(name, bytes);
    }
    put("manifest.json", manifest.to_string().as_bytes());
    STANDARD.encode(zip.finish().unwrap().into_inner())
}

/// Brings the small session into a server.
pub fn import(lab: &Lab) -> Value {
    let entries = entries(&lab.base());
    lab.post("/agents/imports", json!({"content_base64": archive(&entries, &manifest(&entries))}))
}

fn events(lab: &Lab, session: &str) -> Vec<Value> {
    let answer = lab.get(&format!("/agents/sessions/{session}/events?raw=true"));
    let mut events = answer["events"].as_array().unwrap().clone();
    for event in &mut events {
        event.as_object_mut().unwrap().remove("gseq");
    }
    events
}

/// The entries of an archive in base64.
pub fn unpacked(content: &str) -> Entries {
    let mut archive = zip::ZipArchive::new(Cursor::new(STANDARD.decode(content).unwrap())).unwrap();
    let mut entries = Entries::new();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        entries.insert(entry.name().unwrap().into_owned(), bytes);
    }
    entries
}

#[test]
fn a_session_goes_out_and_comes_in_elsewhere_unchanged() {
    let (here, there) = (Lab::start(), Lab::start());
    let imported = import(&here);
    assert_eq!(
        (&imported["events"], &imported["artifacts"], &imported["checkpoints"]),
        (&json!(7), &json!(1), &json!(0))
    );
    let session = &imported["session"];
    assert_eq!((&session["session_id"], &session["state"]), (&json!(SESSION), &json!("closed")));
    let bundle = here.get(&format!("/agents/sessions/{SESSION}/export?format=bundle"));
    let content = bundle["content_base64"].as_str().unwrap();
    assert_eq!(bundle["sha256"], hex(&STANDARD.decode(content).unwrap()));
    let body =
        json!({"content_base64": content, "cwd": there.base(), "title": "Elsewhere", "agent_id": "other"});
    let imported = there.post("/agents/imports", body);
    assert_eq!(
        (&imported["session"]["title"], &imported["session"]["agent_id"]),
        (&json!("Elsewhere"), &json!("other"))
    );
    assert_eq!(events(&there, SESSION), events(&here, SESSION));
    for path in ["items", "artifacts", &format!("items/{CALL}"), &format!("artifacts/{ARTIFACT}")] {
        let path = format!("/agents/sessions/{SESSION}/{path}");
        assert_eq!(there.get(&path), here.get(&path), "{path}");
    }
    // Out again it is the same, but for what the import named.
    let again = there.get(&format!("/agents/sessions/{SESSION}/export?format=bundle"));
    let (mut first, mut second) = (unpacked(content), unpacked(again["content_base64"].as_str().unwrap()));
    for entries in [&mut first, &mut second] {
        entries.remove("session.json");
        entries.remove("manifest.json");
    }
    assert_eq!(first, second);
}

#[test]
fn a_taken_name_is_refused_or_changed_throughout() {
    let lab = Lab::start();
    import(&lab);
    let entries = entries(&lab.base());
    let content = archive(&entries, &manifest(&entries));
    let body = json!({"content_base64": content, "on_conflict": "fail"});
    assert_eq!(lab.refused("POST", "/agents/imports", Some(body)), "409 session_exists");
    let second = import(&lab);
    let session = second["session"]["session_id"].as_str().unwrap();
    assert_ne!(session, SESSION);
    let events = events(&lab, session);
    let turn = events[0]["turn_id"].as_str().unwrap();
    assert_ne!(turn, TURN);
    assert_eq!((&events[0]["data"]["turn_id"], &events[6]["data"]["turn_id"]), (&json!(turn), &json!(turn)));
    assert!(!format!("{events:?}").contains(TURN));
    assert_eq!(lab.get(&format!("/agents/sessions/{SESSION}/events"))["events"][0]["turn_id"], TURN);
    assert_eq!(
        lab.get(&format!("/agents/sessions/{session}/artifacts/{ARTIFACT}"))["content_base64"],
        STANDARD.encode(PICTURE)
    );
}

/// Changes that are found although the manifest was made to fit, and those that it finds.
#[test]
fn tampered_bundles_leave_nothing_behind() {
    let lab = Lab::start();
    let whole = entries(&lab.base());
    let refused = |what: &str, content: String| {
        let (status, body) = lab.ask("POST", "/agents/imports", Some(json!({"content_base64": content})));
        assert_eq!((status, &body["code"]), (400, &json!("import_invalid")), "{what}: {body}");
    };
    let changed = |name: &str, from: &str, to: &str| {
        let mut entries = whole.clone();
        let text = String::from_utf8(entries[name].clone()).unwrap();
        assert!(text.contains(from), "{name}: {from}");
        entries.insert(name.to_owned(), text.replacen(from, to, 1).into_bytes());
        entries
    };
    // The manifest is that of the whole one.
    for (name, from, to) in [
        ("events.jsonl", "zebra", "horse"),
        ("session.json", "Notes", "Other"),
        ("items.jsonl", "marmot", "badger"),
    ] {
        refused(name, archive(&changed(name, from, to), &manifest(&whole)));
    }
    // The manifest fits, and what it names does not.
    for (name, from, to) in [
        ("events.jsonl", "\"seq\":5", "\"seq\":9"),
        ("events.jsonl", "turn.completed", "turn.invented"),
        ("events.jsonl", TURN, "trn_01ARZ3NDEKTSV4RRFFQ69G5FA9"),
        ("session.json", SESSION, "../../etc"),
        ("session.json", "\"last_seq\":7", "\"last_seq\":8"),
        ("items.jsonl", CALL, MESSAGE),
        ("items.jsonl", "\"kind\":\"tool_call\"", "\"kind\":\"weapon\""),
        ("items.jsonl", "\"started_at\":1002.0", "\"started_at\":\"then\""),
        ("turns.jsonl", TURN, SESSION),
        ("artifacts.jsonl", "\"bytes\":", "\"bytes\":1"),
        ("artifacts.jsonl", &hex(PICTURE), &hex(b"another")),
        ("usage.jsonl", TURN, "trn_01ARZ3NDEKTSV4RRFFQ69G5FA9"),
    ] {
        let entries = changed(name, from, to);
        refused(&format!("{name} {to}"), archive(&entries, &manifest(&entries)));
    }
    let mut entries = whole.clone();
    let blob = format!("blobs/{}", hex(PICTURE));
    entries.insert(blob.clone(), b"other bytes".to_vec());
    refused("a blob of another name", archive(&entries, &manifest(&entries)));
    entries.remove(&blob);
    refused("a blob that is missing", archive(&entries, &manifest(&entries)));
    let mut later = manifest(&whole);
    later["version"] = 2.into();
    refused("a later version", archive(&whole, &later));
    refused("no archive", STANDARD.encode(b"PK\x03\x04 nothing"));
    refused("no base64", "%%%".to_owned());
    let points = [
        r#"{"checkpoint_id":"chk_01ARZ3NDEKTSV4RRFFQ69G5FAV","kind":"manual","files":1,"bytes":1,"skipped":[],"created_at":1.0,"tree":"HASH","paths":[["PATH","file","HASH"]]}"#,
    ];
    for path in ["../up", "/top", "a//b", ".git/config", "a/../../b"] {
        let mut entries = whole.clone();
        let hash = hex(b"blob 1\0x");
        let line = points[0].replace("PATH", &STANDARD.encode(path)).replace("HASH", &hash);
        entries.insert("checkpoints.jsonl".to_owned(), line.into_bytes());
        entries.insert(format!("objects/{hash}"), b"x".to_vec());
        refused(path, archive(&entries, &manifest(&entries)));
    }
    assert_eq!(
        lab.refused("GET", &format!("/agents/sessions/{SESSION}/events"), None),
        "404 session_not_found"
    );
}

#[test]
fn names_that_lead_elsewhere_are_no_entries() {
    let lab = Lab::start();
    for name in [
        "../evil",
        "/etc/evil",
        "blobs/../../evil",
        "blobs/short",
        "C:\\evil",
        "evil.txt",
        "blobs/",
        "objects/0000000000000000000000000000000000000000000000000000000000000000/x",
    ] {
        let mut entries = entries(&lab.base());
        entries.insert(name.to_owned(), b"x".to_vec());
        let content = archive(&entries, &manifest(&entries));
        let (status, body) = lab.ask("POST", "/agents/imports", Some(json!({"content_base64": content})));
        assert_eq!((status, &body["code"]), (400, &json!("import_invalid")), "{name}: {body}");
    }
}

#[test]
fn a_bundle_that_swells_is_not_unpacked() {
    let lab = Lab::start();
    let mut entries = entries(&lab.base());
    entries.insert("terminals.jsonl".to_owned(), vec![b'\n'; 50_000_000]);
    let body = json!({"content_base64": archive(&entries, &manifest(&entries))});
    assert_eq!(lab.refused("POST", "/agents/imports", Some(body)), "413 too_large");
}

#[test]
fn the_policy_bounds_where_a_session_may_work_and_who_may_bring_it() {
    let policy = "endpoints: {agents_import: {limits: {max_bytes: 1KB}}}";
    let lab = Lab::under(policy);
    let entries = entries(&lab.base());
    let content = archive(&entries, &manifest(&entries));
    let body = json!({"content_base64": content});
    assert_eq!(lab.refused("POST", "/agents/imports", Some(body)), "413 too_large");
    let lab = Lab::start();
    let import = |more: Value| {
        let mut body = json!({"content_base64": content});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lab.refused("POST", "/agents/imports", Some(body))
    };
    assert_eq!(import(json!({"cwd": "/etc"})), "403 path_not_allowed");
    assert_eq!(import(json!({"cwd": format!("{}/absent", lab.base())})), "400 invalid_parameter");
    assert_eq!(import(json!({"on_conflict": "merge"})), "400 invalid_parameter");
    assert_eq!(lab.refused("POST", "/agents/imports", Some(json!({}))), "400 missing_parameter");
    let closed = Lab::with(Setup::new());
    assert_eq!(closed.refused("POST", "/agents/imports", Some(json!({}))), "404 endpoint_disabled");
}

#[test]
fn a_session_as_text() {
    let lab = Lab::start();
    import(&lab);
    let path = format!("/agents/sessions/{SESSION}/export");
    let text = lab.get(&path);
    let wanted = format!(
        "# Notes\n\n- session: `{SESSION}`\n- agent: `scripted`\n- directory: `{}`\n\n---\n\n## User\n\nPlease note the \
         zebra\n\n**Edit notes.txt** (completed)\n\n## Agent\n\n部署 is done, the zebra is noted\n",
        lab.base()
    );
    assert_eq!((&text["text"], &text["format"]), (&json!(wanted), &json!("markdown")));
    assert_eq!(text["bytes"], wanted.len());
    let inner = lab.get(&format!("{path}?format=json&tool_output=true"));
    let inner: Value = serde_json::from_str(inner["text"].as_str().unwrap()).unwrap();
    assert_eq!(inner["items"][1]["diffs"][0]["new_text"], "a hidden marmot");
    assert_eq!(lab.refused("GET", &format!("{path}?format=pdf"), None), "400 invalid_parameter");
    assert_eq!(lab.refused("GET", "/agents/sessions/ses_none/export", None), "404 session_not_found");
}

#[test]
fn known_secrets_are_masked_on_the_way_out() {
    let lab = Lab::start();
    lab.post("/agents/credentials", json!({"name": "K", "value": "zebra is noted"}));
    import(&lab);
    let path = format!("/agents/sessions/{SESSION}/export?format=");
    for format in ["markdown", "json"] {
        let text = lab.get(&format!("{path}{format}"));
        assert!(!text.to_string().contains("zebra is noted"), "{text}");
    }
    let all = unpacked(lab.get(&format!("{path}bundle"))["content_base64"].as_str().unwrap());
    assert!(all.values().all(|bytes| !String::from_utf8_lossy(bytes).contains("zebra is noted")));
    let plain = lab.get(&format!("{path}markdown&redact=false"));
    assert!(plain.to_string().contains("zebra is noted"));
}
