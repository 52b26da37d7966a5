//! Files that go with a prompt: written into the session's scratch folder in its directory, where the agent can read them,
//! and named in the prompt. The folder hides itself from git, so that it is no change of the workspace.

use super::prompt::{Attachment, takes};
use crate::agents::process::Judge;
use crate::error::{ApiError, ErrorCode};
use crate::files::write::{WriteOptions, Writer};
use crate::files::{Access, FilesError, Stop};
use crate::guard::{EndpointRules, NormalPath};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The folder of everything that belongs to sessions, in their directories.
pub const FOLDER: &str = ".agent-sessions";

/// The folder of a session.
#[must_use]
pub fn scratch(cwd: &str, session_id: &str) -> String {
    format!("{}/{FOLDER}/{session_id}", cwd.trim_end_matches('/'))
}

/// Where a session's agent may leave what it has made.
#[must_use]
pub fn outputs(cwd: &str, session_id: &str) -> String {
    format!("{}/outputs", scratch(cwd, session_id))
}

/// Writes attachments and yields the blocks that stand for them: the content, where the agent takes it, and a link; and
/// those of which it is given the link alone.
///
/// # Errors
/// 403 where the rules do not allow the folder to be written, 507 `no_space`.
pub async fn write(
    judge: Judge,
    folder: String,
    attachments: Vec<Attachment>,
    capabilities: Value,
) -> Result<(Vec<Value>, Vec<Attachment>), ApiError> {
    if attachments.is_empty() {
        return Ok(Default::default());
    }
    let written = tokio::task::spawn_blocking(move || {
        let top = folder.split(&format!("/{FOLDER}/")).next().unwrap_or_default().to_owned();
        // Nothing in the folder is a change of the workspace.
        put(&judge, &format!("{top}/{FOLDER}/.gitignore"), b"*\n")?;
        let (mut blocks, mut linked) = (Vec::new(), Vec::new());
        for attachment in attachments {
            let path = format!("{folder}/{}", attachment.name);
            put(&judge, &path, &attachment.content)?;
            let uri =
                url::Url::from_file_path(&path).map_or_else(|()| format!("file://{path}"), String::from);
            let given = content(&attachment, &uri, &capabilities);
            let is_linked = given.is_none();
            blocks.extend(given);
            blocks.push(json!({
                "type": "resource_link", "uri": uri, "name": attachment.name,
                "mimeType": attachment.mime_type, "size": attachment.content.len(),
            }));
            if is_linked {
                linked.push(attachment);
            }
        }
        Ok((blocks, linked))
    });
    written.await.unwrap_or_else(|_| Err(ApiError::internal("The file service failed")))
}

/// The content itself, where the agent takes content of its kind.
fn content(attachment: &Attachment, uri: &str, capabilities: &Value) -> Option<Value> {
    let Attachment { mime_type, content, .. } = attachment;
    let kind = mime_type.split('/').next().unwrap_or_default();
    if matches!(kind, "image" | "audio") {
        return takes(capabilities, kind).then(
            || json!({"type": kind, "data": STANDARD.encode(content), "mimeType": mime_type, "uri": uri}),
        );
    }
    let text = std::str::from_utf8(content).ok().filter(|_| takes(capabilities, "embeddedContext"))?;
    Some(json!({"type": "resource", "resource": {"uri": uri, "text": text, "mimeType": mime_type}}))
}

fn put(judge: &Judge, path: &str, content: &[u8]) -> Result<(), ApiError> {
    let guard = &judge.state.guard;
    let rules = judge.rules().and_then(EndpointRules::of);
    let rules = rules.ok_or_else(|| ApiError::internal("The endpoint takes no paths"))?;
    let stop = Stop::default();
    let access = Access { guard, judge: &rules, stop: &stop };
    let write = || {
        let path = NormalPath::new(guard.base_dir(), path.as_bytes())?;
        let mut writer = Writer::begin(access, &path, WriteOptions::default())?;
        writer.write(content)?;
        writer.finish()
    };
    write().map(|_| ()).map_err(|error| match error {
        FilesError::NoSpace => ApiError::new(ErrorCode::NoSpace, "No space is left for attachments"),
        FilesError::Guard(error) => crate::agents::process::place_refused("attachments", &error),
        _ => ApiError::internal("The attachments could not be written").kind("OSError"),
    })
}

#[cfg(test)]
mod tests {
    use super::{Attachment, content};
    use serde_json::json;

    #[test]
    fn content_goes_where_it_is_taken() {
        let of = |mime: &str, bytes: &[u8]| Attachment {
            name: "a".into(),
            mime_type: mime.into(),
            content: bytes.to_vec(),
        };
        let all = json!({"promptCapabilities": {"image": true, "audio": false, "embeddedContext": true}});
        let image = content(&of("image/png", b"hi"), "file:///a", &all);
        assert_eq!(
            image,
            Some(json!({"type": "image", "data": "aGk=", "mimeType": "image/png", "uri": "file:///a"}))
        );
        assert_eq!(content(&of("audio/ogg", b"hi"), "file:///a", &all), None);
        let resource = json!({"uri": "file:///a", "text": "hi", "mimeType": "text/plain"});
        assert_eq!(
            content(&of("text/plain", b"hi"), "file:///a", &all),
            Some(json!({"type": "resource", "resource": resource}))
        );
        assert_eq!(content(&of("text/plain", b"\xff"), "file:///a", &all), None);
        assert_eq!(content(&of("text/plain", b"hi"), "file:///a", &json!(null)), None);
    }
}
