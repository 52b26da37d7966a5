//! Artifacts: bytes come back as they were, and nothing is kept twice.

use super::super::log::{Kind, NewEvent};
use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

fn place(dir: &tempfile::TempDir) -> Place {
    let place = Place { state_dir: dir.path().join("state"), base_dir: dir.path().join("base") };
    std::fs::create_dir_all(place.folder()).unwrap();
    place
}

#[tokio::test]
async fn contents_are_taken_out_and_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let image = b"\x89PNG and more";
    let encoded = STANDARD.encode(image);
    let block = json!({"type": "image", "data": encoded, "mimeType": "image/png"});
    let events = vec![
        NewEvent::new(Kind::MessageChunk, json!({"role": "agent", "content": block})),
        NewEvent::new(
            Kind::ToolCallUpdated,
            json!({"tool_call_id": "t", "content": [
                {"type": "content", "content": block},
                {"type": "content", "content": {"type": "resource", "resource": {"uri": "file:///a/b%20c.txt", "text": "t"}}},
                {"type": "diff", "path": "/a", "newText": "x"},
            ]}),
        ),
    ];
    let events = extract(&place, "ses_1", events).await.unwrap();
    let found: Vec<&Found> = events.iter().flat_map(|event| &event.artifacts).collect();
    assert_eq!(
        found.iter().map(|found| found.name.as_str()).collect::<Vec<_>>(),
        ["image.png", "image.png", "b c.txt"]
    );
    assert_eq!(found[0].artifact_id, found[1].artifact_id);
    assert_eq!(bytes(&place, &found[0].sha256).await.unwrap(), image);
    let id = &found[0].artifact_id;
    assert_eq!(
        events[0].data,
        json!({"role": "agent", "content": {"type": "image", "mimeType": "image/png", "artifact_id": id, "bytes": 13}})
    );
    assert_eq!(events[1].data["content"][1]["content"]["resource"]["text"], "t");
    assert_eq!(events[1].data["content"][2], json!({"type": "diff", "path": "/a", "newText": "x"}));
}

#[tokio::test]
async fn what_is_no_base64_stays() {
    let dir = tempfile::tempdir().unwrap();
    let data = json!({"role": "agent", "content": {"type": "image", "data": "?!", "mimeType": "image/png"}});
    let events =
        extract(&place(&dir), "ses_1", vec![NewEvent::new(Kind::MessageChunk, data.clone())]).await.unwrap();
    assert_eq!((&events[0].data, events[0].artifacts.len()), (&data, 0));
}

#[tokio::test]
async fn changed_bytes_are_not_handed_out() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let hash = blobs::write(&place, b"as it was").unwrap();
    let path = place.folder().join("blobs").join(hash.get(..2).unwrap()).join(&hash);
    std::fs::write(path, b"as it is").unwrap();
    assert!(bytes(&place, &hash).await.is_err());
    assert!(bytes(&place, "../../../../etc/passwd").await.is_err());
}

#[tokio::test]
async fn outputs_are_plain_files_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (place, folder) = (place(&dir), dir.path().join("out"));
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    std::fs::write(folder.join("deep/report.md"), "# r").unwrap();
    std::fs::write(dir.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret"), folder.join("link")).unwrap();
    let events = outputs(&place, "ses_1", &folder).await.unwrap();
    let names: Vec<&str> =
        events.iter().flat_map(|event| &event.artifacts).map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["deep/report.md"]);
    assert!(outputs(&place, "ses_1", &dir.path().join("absent")).await.unwrap().is_empty());
}
