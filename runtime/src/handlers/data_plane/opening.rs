//! From the first words of a client to an attached command: started, or found by its id.

use super::super::launch::Manner;
use super::super::resumable;
use super::asked::{self, TERMINAL};
use crate::endpoint::{Call, JsonBody};
use crate::error::ApiError;
use crate::process::resumable::Attachment;
use crate::process::{Full, Kind, Screen, Stdin};

/// A command with somebody attached.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) id: String,
    pub(super) attachment: Attachment,
}

/// Finds the command of the body's `command_id`, or starts the body's command under that id; under a new one where the
/// body has none. `input` and `terminal`: what a command that is started gets.
///
/// # Errors
/// What is wrong with the request, or which rule refuses.
pub(super) fn open(
    call: &Call,
    body: &mut JsonBody,
    input: Stdin,
    terminal: bool,
) -> Result<Opened, ApiError> {
    let id = resumable::id(body)?.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string());
    let attachment = match resumable::find(call, &id) {
        Ok(found) => found,
        Err(_) => {
            let patience = resumable::patience(call, body)?;
            let lifetime = resumable::time(call, body, true)?;
            let manner = Manner {
                input,
                screen: if terminal { TERMINAL } else { Screen::Pipes },
                keep: resumable::buffer(call),
                full: Full::Pause,
                lifetime: Some(lifetime),
                kind: Kind::Command,
            };
            resumable::get_or_start(call, &id, patience, || asked::start(call, body, manner, Some(&id)))?
        }
    };
    Ok(attached(call, id, attachment))
}

/// Finds a command by its id and nothing else.
///
/// # Errors
/// 404 `not_found`.
pub(super) fn find(call: &Call, id: String) -> Result<Opened, ApiError> {
    let attachment = resumable::find(call, &id)?;
    Ok(attached(call, id, attachment))
}

fn attached(call: &Call, id: String, attachment: Attachment) -> Opened {
    call.note().fact("command_id", id.clone());
    Opened { id, attachment }
}
