//! What an agent may ask of its client where that was switched on for it: files and terminals. Files go through the guard
//! and commands through the process engine, judged by the policy in force now for the endpoint that opened the session.

mod files;
mod terminals;

pub use terminals::Terminals;

use super::actor::Actor;
use super::ear::Reply;
use crate::agents::acp::{Asked, RpcFault, code};
use crate::agents::log::Log;
use crate::agents::process::Judge;
use crate::app::App;
use policy_lang::endpoint::EndpointId;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// What is switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Switches {
    /// `fs/*`
    pub files: bool,
    /// `terminal/*`
    pub terminals: bool,
}

/// What a call is judged and recorded by.
#[derive(Clone)]
struct Scene {
    app: Arc<App>,
    log: Log,
    session_id: String,
    turn_id: Option<String>,
    owner: String,
    cwd: PathBuf,
    terminals: Arc<Terminals>,
}

impl Scene {
    fn judge(&self) -> Judge {
        Judge::now(&self.app, EndpointId::AgentsSessionsCreate)
    }
}

/// Serves a call off the session's task.
pub(super) fn serve(actor: &Actor, asked: Asked, reply: Reply) {
    let files = asked.method.starts_with("fs/");
    let on = if files { actor.switches().files } else { actor.switches().terminals };
    if !on {
        return drop(reply.send(Err(RpcFault::no_method(&asked.method))));
    }
    let scene = Scene {
        app: Arc::clone(&actor.app),
        log: actor.log.clone(),
        session_id: actor.row.session_id.clone(),
        turn_id: actor.turn_id().map(str::to_owned),
        owner: actor.row.owner.clone(),
        cwd: PathBuf::from(&actor.row.cwd),
        terminals: actor.terminals(),
    };
    tokio::spawn(async move {
        let answer = match asked.method.as_str() {
            "fs/read_text_file" => files::read(&scene, &asked.params).await,
            "fs/write_text_file" => files::write(&scene, &asked.params).await,
            "terminal/create" => terminals::create(&scene, &asked.params).await,
            "terminal/output" => terminals::output(&scene, &asked.params),
            "terminal/wait_for_exit" => terminals::wait(&scene, &asked.params).await,
            "terminal/kill" => terminals::kill(&scene, &asked.params),
            "terminal/release" => terminals::release(&scene, &asked.params),
            method => Err(RpcFault::no_method(method)),
        };
        // The agent may have ended.
        let _ = reply.send(answer);
    });
}

/// Text of a parameter.
fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, RpcFault> {
    params
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| RpcFault::invalid_params(format!("`{name}` is missing")))
}

fn refused(message: impl Into<String>) -> RpcFault {
    RpcFault::new(code::INTERNAL, message)
}
