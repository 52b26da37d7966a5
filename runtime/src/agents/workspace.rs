//! Workspaces: what changed on disk, and how to go back.
//!
//! Each directory that a session works in has a shadow store outside of it ([`objects`]): snapshots of all its files, never
//! a word in the user's own repository. A snapshot is taken before and after every turn, so that a change is known to be
//! the session's own or somebody else's, whoever made it and by what tool.
//!
//! | module | |
//! |---|---|
//! | `objects`, `tree` | content and directories, as git keeps them |
//! | `walk`, `ignored`, `index` | which files belong to a workspace, and which of them have changed |
//! | `snapshot` | all of that at once |
//! | `desk` | one piece of work at a time on a workspace, under the rules in force |
//! | `records` | restore points and stretches of work in the database |
//! | `points` | taking restore points: before and after turns, and by hand |
//! | `compare`, `changes`, `attribution` | what differs, and by whom; `names` of contents in patches |
//! | `restore`, `undo` | going back, with a way forth again |

pub mod attribution;
pub mod changes;
pub mod compare;
pub mod desk;
mod error;
mod ignored;
mod index;
mod names;
pub mod objects;
pub mod points;
pub mod records;
pub mod restore;
pub mod snapshot;
pub mod tree;
pub mod undo;
mod walk;

pub use desk::{Desk, Workspaces};
pub use error::WorkspaceError;
pub use walk::Skipped;

use crate::agents::log::{Kind, NewEvent};
use crate::agents::store::sessions::SessionRow;
use crate::app::App;
use std::sync::Arc;

/// Tells the log of a session what happened to its workspace. What cannot be told has happened all the same.
async fn tell(
    app: &Arc<App>,
    session: &SessionRow,
    turn_id: Option<&str>,
    kind: Kind,
    data: serde_json::Value,
) {
    let mut event = NewEvent::new(kind, data);
    event.turn_id = turn_id.map(str::to_owned);
    let told = match app.agents.log().await {
        Ok(log) => log.append(&session.session_id, vec![event]).await.map(drop),
        Err(error) => Err(error),
    };
    if let Err(error) = told {
        crate::log::say(format_args!("{}: an event was lost: {error}", session.session_id));
    }
}

#[cfg(test)]
mod tests;
