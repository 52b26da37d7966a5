//! Coding agents: catalogue, sessions, turns, events, requests, workspaces, extensions, automation and history.

pub(super) mod agents_changes_list;
pub(super) mod agents_checkpoints_create;
pub(super) mod agents_checkpoints_list;
pub(super) mod agents_checkpoints_restore;
pub(super) mod agents_diff_get;
mod workspaces;
