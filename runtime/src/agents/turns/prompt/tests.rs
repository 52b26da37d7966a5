//! Prompts as callers write them.

use super::{Attachment, Prompt, preview};
use crate::endpoint::JsonBody;
use serde_json::{Value, json};

fn read(body: Value) -> Result<Option<Prompt>, String> {
    let mut body = JsonBody::new(body.as_object().unwrap().clone());
    Prompt::read(&mut body).map_err(|error| error.message().to_owned())
}

fn blocks(body: Value) -> Vec<Value> {
    read(body).unwrap().unwrap().blocks
}

#[test]
fn what_can_be_said() {
    let text = |text: &str| vec![json!({"type": "text", "text": text})];
    assert_eq!(blocks(json!({"prompt": "hello"})), text("hello"));
    assert_eq!(blocks(json!({"command": {"name": "init", "arguments": "a b"}})), text("/init a b"));
    assert_eq!(blocks(json!({"command": {"name": "/init"}})), text("/init"));
    let mixed = json!([
        {"type": "text", "text": "look"},
        {"type": "image", "data": "aGk=", "mime_type": "image/png"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "b", "mime_type": "text/plain"}},
    ]);
    let mut wanted = mixed.clone();
    wanted[1] = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    wanted[3]["resource"] = json!({"uri": "file:///b", "text": "b", "mimeType": "text/plain"});
    assert_eq!(Value::from(blocks(json!({"prompt": mixed}))), wanted);
    assert_eq!(read(json!({})), Ok(None));
}

#[test]
fn what_cannot() {
    for (body, message) in [
        (json!({"prompt": ""}), "prompt must not be empty"),
        (json!({"prompt": [{"type": "text", "text": " \n"}]}), "prompt must not be empty"),
        (json!({"prompt": []}), "prompt must not be empty"),
        (json!({"prompt": 3}), "prompt must be a string or a list of content blocks"),
        (json!({"prompt": "x", "command": {"name": "y"}}), "only one of prompt and command may be given"),
        (json!({"prompt": ["x"]}), "prompt: block 1: must be an object"),
        (
            json!({"prompt": [{"type": "video"}]}),
            "prompt: block 1: `type` must be text, image, audio, resource_link or resource",
        ),
        (
            json!({"prompt": [{"type": "image", "data": "?", "mimeType": "x"}]}),
            "prompt: block 1: members are missing or of another type",
        ),
        (json!({"command": "init"}), "command must be an object with `name` and maybe `arguments`"),
        (json!({"command": {"name": "a b"}}), "command.name must be one word"),
        (
            json!({"prompt": "x", "attachments": [{"name": "../a", "mime_type": "x", "content_base64": ""}]}),
            "attachments: `../a` is no plain file name",
        ),
        (
            json!({"prompt": "x", "attachments": [{"name": "a", "mime_type": "x", "content_base64": "?"}]}),
            "attachments: `a` is not standard base64",
        ),
    ] {
        assert_eq!(read(body.clone()), Err(message.to_owned()), "{body}");
    }
}

#[test]
fn an_attachment_is_enough() {
    let prompt = read(json!({"prompt": "", "attachments": [
        {"name": "a.txt", "mime_type": "text/plain", "content_base64": "aGk="},
    ]}));
    let attachment =
        Attachment { name: "a.txt".into(), mime_type: "text/plain".into(), content: b"hi".to_vec() };
    assert_eq!(prompt.unwrap().unwrap().attachments, [attachment]);
}

#[test]
fn abilities_that_are_missing() {
    let image = read(json!({"prompt": [{"type": "image", "data": "", "mimeType": "x"}]})).unwrap().unwrap();
    assert_eq!(image.missing(&json!({})), Some("image"));
    assert_eq!(image.missing(&json!({"promptCapabilities": {"image": true}})), None);
    assert_eq!(read(json!({"prompt": "x"})).unwrap().unwrap().missing(&json!(null)), None);
}

#[test]
fn previews_are_short() {
    let text = |text: String| json!({"type": "text", "text": text});
    assert_eq!(preview(&[text("a".into()), json!({"type": "image"}), text(" b\n".into())]), "a [image] b");
    let long = preview(&[text("é".repeat(500))]);
    assert_eq!((long.chars().count(), long.chars().last()), (201, Some('…')));
}
