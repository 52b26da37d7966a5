//! `lsp`: a language server for policy documents over standard input and output.
//!
//! One thread reads messages, answers them and publishes findings. What an editor has sent meanwhile is taken first, so that
//! a burst of keystrokes is judged once. The knowledge is `policy_lang::assist`'s and the check's own; what is here is the
//! protocol.

mod actions;
mod answers;
mod findings;
mod position;
mod session;

use super::Exit;
use super::output::Output;
use clap::Args;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use session::Session;

/// Serve editors: findings with fixes, hover, completion, definition, formatting, for policy documents and templates
///
/// Speaks the Language Server Protocol on standard input and output. Point the editor's client at this command for
/// `template.yaml` and policy files. Exit status: 0 the client asked to exit, 1 the connection broke.
#[derive(Debug, Args)]
pub(super) struct Lsp {}

impl Lsp {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let (connection, threads) = Connection::stdio();
        let served = serve(&connection);
        // The writer ends when nobody can send to it any more.
        drop(connection);
        match served {
            Ok(()) if threads.join().is_ok() => Exit::Success,
            Ok(()) => Exit::Failure,
            Err(why) => {
                output.complain(&why, None);
                Exit::Failure
            }
        }
    }
}

fn serve(connection: &Connection) -> Result<(), String> {
    let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
    let mut session = Session::new(&params);
    connection.initialize_finish(id, session.introduction()).map_err(|error| error.to_string())?;
    while let Ok(message) = connection.receiver.recv() {
        if let Some(end) = take(connection, &mut session, message)? {
            return end;
        }
        // What waits already is taken before anything is judged.
        while let Ok(message) = connection.receiver.try_recv() {
            if let Some(end) = take(connection, &mut session, message)? {
                return end;
            }
        }
        for (method, params) in session.findings() {
            send(connection, Message::Notification(Notification { method, params }))?;
        }
    }
    Ok(())
}

/// Takes one message; the end of the session where it asks for that.
fn take(
    connection: &Connection,
    session: &mut Session,
    message: Message,
) -> Result<Option<Result<(), String>>, String> {
    match message {
        Message::Request(request) => {
            if connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                return Ok(Some(Ok(())));
            }
            send(connection, Message::Response(answer(session, request)))?;
        }
        Message::Notification(notification) => session.note(&notification.method, notification.params),
        Message::Response(_) => {}
    }
    Ok(None)
}

fn answer(session: &mut Session, request: Request) -> Response {
    match answers::answer(session, &request.method, request.params) {
        Ok(value) => Response::new_ok(request.id, value),
        Err(answers::Unanswered::Unknown) => Response::new_err(
            request.id,
            ErrorCode::MethodNotFound as i32,
            format!("`{}` is not served", request.method),
        ),
        Err(answers::Unanswered::Malformed(why)) => {
            Response::new_err(request.id, ErrorCode::InvalidParams as i32, why)
        }
    }
}

fn send(connection: &Connection, message: Message) -> Result<(), String> {
    connection.sender.send(message).map_err(|_| "the client went away".to_owned())
}
