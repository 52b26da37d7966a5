//! `fs/read_text_file` and `fs/write_text_file`.

use super::{Scene, refused, text};
use crate::agents::acp::{RpcFault, code};
use crate::agents::log::{Kind, NewEvent};
use crate::files::write::{WriteOptions, Writer};
use crate::files::{Access, FilesError, Stop, read as reading};
use crate::guard::{EndpointRules, GuardError, NormalPath};
use serde_json::{Value, json};

/// Bytes of a file that an agent may read or write this way.
const MOST: u64 = 16 << 20;

pub(super) async fn read(scene: &Scene, params: &Value) -> Result<Value, RpcFault> {
    let path = text(params, "path")?.to_owned();
    let number = |name: &str| params.get(name).and_then(Value::as_u64);
    let (line, limit) = (number("line"), number("limit"));
    let content = blocking(scene, path, |access, path| {
        let mut file = reading::open(access, path, Some(MOST))?;
        let mut bytes = vec![0; usize::try_from(file.size).unwrap_or_default()];
        let filled = file.fill(&mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    });
    let content = String::from_utf8(content.await?).map_err(|_| refused("the file is not UTF-8 text"))?;
    Ok(json!({"content": lines(&content, line, limit)}))
}

pub(super) async fn write(scene: &Scene, params: &Value) -> Result<Value, RpcFault> {
    let path = text(params, "path")?.to_owned();
    let content = text(params, "content")?.to_owned();
    let shown = path.clone();
    let written = blocking(scene, path, move |access, path| {
        let mut writer =
            Writer::begin(access, path, WriteOptions { limit: Some(MOST), ..WriteOptions::default() })?;
        writer.write(content.as_bytes())?;
        writer.finish()
    });
    let written = written.await?;
    let event = NewEvent::new(Kind::FileWritten, json!({"path": shown, "bytes": written.bytes}));
    let event = match &scene.turn_id {
        Some(turn_id) => event.turn(turn_id.clone()),
        None => event,
    };
    if let Err(error) = scene.log.append(&scene.session_id, vec![event]).await {
        crate::log::say(format_args!("a written file was not logged: {error}"));
    }
    Ok(json!({}))
}

/// Runs a file service where it may block, by the rules in force now.
async fn blocking<T: Send + 'static>(
    scene: &Scene,
    path: String,
    service: impl FnOnce(Access<'_>, &NormalPath) -> Result<T, FilesError> + Send + 'static,
) -> Result<T, RpcFault> {
    if !path.starts_with('/') {
        return Err(RpcFault::invalid_params("`path` must be absolute"));
    }
    let judge = scene.judge();
    let done = tokio::task::spawn_blocking(move || {
        let guard = &judge.state.guard;
        let rules =
            judge.rules().and_then(EndpointRules::of).ok_or_else(|| refused("no file may be touched"))?;
        let path = NormalPath::new(guard.base_dir(), path.as_bytes()).map_err(FilesError::Guard);
        let access = Access { guard, judge: &rules, stop: &Stop::default() };
        path.and_then(|path| service(access, &path)).map_err(|error| fault(&error))
    });
    done.await.unwrap_or_else(|_| Err(refused("the file service failed")))
}

/// Says nothing about what lies where the agent may not look.
fn fault(error: &FilesError) -> RpcFault {
    match error {
        FilesError::Guard(GuardError::NotFound) => RpcFault::new(code::NOT_FOUND, "the file does not exist"),
        FilesError::Guard(GuardError::Refused(_)) => refused("the policy does not allow that path"),
        FilesError::Guard(GuardError::InvalidPath(why)) => RpcFault::invalid_params((*why).to_string()),
        error => refused(error.to_string()),
    }
}

/// Lines from `line` on, counted from 1, at most `limit`.
fn lines(content: &str, line: Option<u64>, limit: Option<u64>) -> String {
    if line.is_none() && limit.is_none() {
        return content.to_owned();
    }
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let skip = number(line.unwrap_or(1).max(1)) - 1;
    content.split_inclusive('\n').skip(skip).take(limit.map_or(usize::MAX, number)).collect()
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_are_counted_from_one() {
        let text = "a\nb\nc";
        for (line, limit, wanted) in [
            (None, None, text),
            (Some(1), Some(1), "a\n"),
            (Some(0), Some(2), "a\nb\n"),
            (Some(2), None, "b\nc"),
            (Some(3), Some(9), "c"),
            (Some(4), None, ""),
        ] {
            assert_eq!(lines(text, line, limit), wanted, "{line:?} {limit:?}");
        }
    }
}
