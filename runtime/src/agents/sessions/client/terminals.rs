//! `terminal/*`: commands of an agent, run by the process engine.

use super::{Scene, refused, text};
use crate::agents::acp::{RpcFault, code};
use crate::agents::credentials::{Masks, Seam};
use crate::agents::log::{Kind, Log, NewEvent};
use crate::agents::process::{Judge, Recipe, StartError};
use crate::error::ApiError;
use crate::process::text::Decoder;
use crate::process::{
    Cursor, Exit, Full, Job, Kind as JobKind, Launch, Owner, Reason, Screen, Stdin, Stream, masking, signals,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of output that are kept where the agent does not say, and at most.
const KEPT: (u64, u64) = (1 << 20, 8 << 20);

/// Terminals that one session may have at once.
const MOST: usize = 32;

/// The terminals of one session. Dropped, all of them end.
#[derive(Debug, Default)]
pub struct Terminals(Mutex<HashMap<String, Terminal>>);

#[derive(Debug, Clone)]
struct Terminal {
    job: Arc<Job>,
    limit: usize,
}

impl Terminals {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Terminal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, params: &Value) -> Result<Terminal, RpcFault> {
        let id = text(params, "terminalId")?;
        let found = self.lock().get(id).cloned();
        found.ok_or_else(|| RpcFault::new(code::NOT_FOUND, "there is no such terminal"))
    }

    /// Ends all of them: their agent is gone.
    pub fn end_all(&self) {
        for (_, terminal) in self.lock().drain() {
            terminal.job.end(Reason::Delete);
        }
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.end_all();
    }
}

pub(super) async fn create(scene: &Scene, params: &Value) -> Result<Value, RpcFault> {
    let command = text(params, "command")?.to_owned();
    let listed = |name: &str| params.get(name).and_then(Value::as_array).into_iter().flatten();
    let arguments: Option<Vec<String>> = listed("args").map(|one| one.as_str().map(str::to_owned)).collect();
    let arguments = arguments.ok_or_else(|| RpcFault::invalid_params("`args` must be texts"))?;
    let pair =
        |one: &Value| Some((one.get("name")?.as_str()?.to_owned(), one.get("value")?.as_str()?.to_owned()));
    let env: Option<BTreeMap<String, String>> = listed("env").map(pair).collect();
    let env = env.ok_or_else(|| RpcFault::invalid_params("`env` must be names and values"))?;
    let cwd = params
        .get("cwd")
        .and_then(Value::as_str)
        .map_or_else(|| scene.cwd.to_string_lossy().into_owned(), str::to_owned);
    let limit = params.get("outputByteLimit").and_then(Value::as_u64).unwrap_or(KEPT.0).min(KEPT.1);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if scene.terminals.lock().len() >= MOST {
        return Err(refused("too many terminals"));
    }
    let job = start(scene, &scene.judge(), command, arguments, env, &cwd, limit)?;
    let id = format!("term_{}", ulid::Ulid::generate());
    scene.terminals.lock().insert(id.clone(), Terminal { job: Arc::clone(&job), limit });
    let masks = Arc::clone(&scene.app.agents.masks);
    let (log, session_id, turn_id) = (scene.log.clone(), scene.session_id.clone(), scene.turn_id.clone());
    tokio::spawn(follow(masks, log, session_id, turn_id, id.clone(), job));
    Ok(json!({"terminalId": id}))
}

fn start(
    scene: &Scene,
    judge: &Judge,
    command: String,
    arguments: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: &str,
    limit: usize,
) -> Result<Arc<Job>, RpcFault> {
    let engine = &scene.app.processes;
    let place = judge.place(Some(cwd)).map_err(|_| refused("the policy does not allow that directory"))?;
    let started = |error: StartError| refused(ApiError::from(error).message().to_owned());
    let program = judge.program(engine, &command, &place).map_err(started)?;
    for (name, value) in &env {
        engine.environment.check(name, value).map_err(|error| refused(error.to_string()))?;
    }
    let environment =
        judge.environment(engine, &Recipe { env, ..Recipe::default() }, &place).map_err(started)?;
    let mut words = vec![command];
    words.extend(arguments);
    let launch = Launch {
        program,
        title: masking::display(&words),
        arguments: words,
        environment,
        directory: place.handle,
        input: Stdin::Empty,
        screen: Screen::Pipes,
        keep: limit.max(1),
        full: Full::DropOldest,
        lifetime: None,
        kind: JobKind::Managed,
        owner: Owner::from(scene.owner.as_str()),
    };
    engine.spawn(launch).map_err(|error| refused(error.to_string()))
}

pub(super) fn output(scene: &Scene, params: &Value) -> Result<Value, RpcFault> {
    let terminal = scene.terminals.find(params)?;
    let exit = terminal.job.exit();
    let progress = terminal.job.progress(&mut Cursor::default(), usize::MAX);
    let mut bytes: Vec<u8> = Vec::new();
    let mut first = [None, None];
    for segment in &progress.segments {
        let lane = first.get_mut(usize::from(segment.stream != Stream::Stdout));
        if let Some(lane @ None) = lane {
            *lane = Some(segment.offset);
        }
        bytes.extend_from_slice(&segment.data);
    }
    let dropped = first.into_iter().flatten().any(|offset| offset > 0);
    let printed = String::from_utf8_lossy(&bytes);
    let (text, cut) = end_of(&printed, terminal.limit);
    let mut answer = json!({"output": text, "truncated": cut || dropped});
    if let (Some(exit), Some(answer)) = (exit, answer.as_object_mut()) {
        answer.insert("exitStatus".to_owned(), status(exit));
    }
    Ok(answer)
}

pub(super) async fn wait(scene: &Scene, params: &Value) -> Result<Value, RpcFault> {
    let terminal = scene.terminals.find(params)?;
    Ok(status(terminal.job.ended().await))
}

pub(super) fn kill(scene: &Scene, params: &Value) -> Result<Value, RpcFault> {
    scene.terminals.find(params)?.job.end(Reason::Delete);
    Ok(json!({}))
}

pub(super) fn release(scene: &Scene, params: &Value) -> Result<Value, RpcFault> {
    let terminal = scene.terminals.find(params)?;
    terminal.job.end(Reason::Delete);
    scene.terminals.lock().remove(text(params, "terminalId")?);
    Ok(json!({}))
}

fn status(exit: Exit) -> Value {
    let signal = exit.signal.and_then(|number| u8::try_from(number).ok()).and_then(signals::name);
    json!({"exitCode": exit.code, "signal": signal})
}

/// At most the last `most` bytes, cut at a character boundary; whether something was cut.
fn end_of(text: &str, most: usize) -> (&str, bool) {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    (text.get(from..).unwrap_or_default(), from > 0)
}

/// One stream of a terminal, which is read in pieces: neither a character nor a secret is cut by that.
#[derive(Default)]
struct Lane {
    decoder: Decoder,
    seam: Seam,
}

impl Lane {
    fn print(&mut self, masks: &Masks, bytes: &[u8], out: &mut String) {
        if let Some((_, text)) = self.decoder.feed(bytes) {
            out.push_str(&self.seam.push(masks, &text));
        }
    }

    fn end(&mut self, masks: &Masks, out: &mut String) {
        if let Some((_, text)) = self.decoder.finish() {
            out.push_str(&self.seam.push(masks, &text));
        }
        out.push_str(&self.seam.end(masks));
    }
}

/// Writes what a terminal prints into the log, and how it ended.
async fn follow(
    masks: Arc<Masks>,
    log: Log,
    session_id: String,
    turn_id: Option<String>,
    id: String,
    job: Arc<Job>,
) {
    let (mut changes, mut cursor) = (job.changes(), Cursor::default());
    let mut lanes = [Lane::default(), Lane::default()];
    let event = |kind, data| {
        let event = NewEvent::new(kind, data);
        match &turn_id {
            Some(turn_id) => event.turn(turn_id.clone()),
            None => event,
        }
    };
    loop {
        changes.mark_unchanged();
        let progress = job.progress(&mut cursor, 64 * 1024);
        let (mut events, mut text) = (Vec::<NewEvent>::new(), String::new());
        for segment in &progress.segments {
            let [out, error] = &mut lanes;
            let lane = if segment.stream == Stream::Stdout { out } else { error };
            lane.print(&masks, &segment.data, &mut text);
        }
        if progress.exit.is_some() {
            lanes.iter_mut().for_each(|lane| lane.end(&masks, &mut text));
        }
        if !text.is_empty() {
            events.push(event(Kind::TerminalOutput, json!({"terminal_id": id, "data": text})));
        }
        if let Some(exit) = progress.exit {
            let signal = exit.signal.and_then(|number| u8::try_from(number).ok()).and_then(signals::name);
            let data = json!({"terminal_id": id, "exit_code": exit.code, "signal": signal});
            events.push(event(Kind::TerminalExited, data));
        }
        if !events.is_empty() && log.append(&session_id, events).await.is_err() {
            return;
        }
        if progress.exit.is_some() {
            return;
        }
        if progress.segments.is_empty() {
            // The sender lives as long as the job that we hold.
            let _ = changes.changed().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, Masks, end_of};

    #[test]
    fn neither_characters_nor_secrets_are_cut_by_reading() {
        let (masks, mut lane, mut out) = (Masks::default(), Lane::default(), String::new());
        masks.add("canary");
        let printed = "é is a canary, or a can".as_bytes();
        for byte in printed {
            lane.print(&masks, std::slice::from_ref(byte), &mut out);
        }
        assert_eq!(out, "é is a ***, or a ");
        lane.end(&masks, &mut out);
        assert_eq!(out, "é is a ***, or a can");
        lane.print(&masks, b"\xc3", &mut out);
        lane.end(&masks, &mut out);
        assert_eq!(out, "é is a ***, or a can\u{fffd}");
    }

    #[test]
    fn output_is_cut_from_the_front_at_a_character() {
        assert_eq!(end_of("abc", 3), ("abc", false));
        assert_eq!(end_of("abc", 2), ("bc", true));
        assert_eq!(end_of("aéb", 2), ("b", true));
        assert_eq!(end_of("aéb", 3), ("éb", true));
        assert_eq!(end_of("", 0), ("", false));
    }
}
