//! Step 7: from a door to its handler, and from its reply to a connection that was upgraded.

use super::route::Match;
use crate::custom::CustomRoutes;
use crate::endpoint::{Handler, Note};
use crate::error::{ApiError, ErrorCode};
use crate::handlers;
use axum::extract::FromRequestParts;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::request::Parts;
use policy_lang::endpoint::{BodyKind, ErrorStyle, Group};

/// A connection that waits to become a WebSocket.
pub(super) type Upgrade = WebSocketUpgrade;

/// The handler of a door.
///
/// # Errors
/// 503 `endpoint_not_built`.
pub(super) fn handler(matched: &Match) -> Result<Handler, ApiError> {
    let declared = matched.declared();
    if CustomRoutes::position(matched.endpoint()).is_some() {
        return Ok(handlers::CUSTOM);
    }
    handlers::of(declared.id).ok_or_else(|| {
        ApiError::new(ErrorCode::EndpointNotBuilt, "This endpoint is declared but not built yet")
            .with("endpoint", declared.name)
    })
}

/// Whether the handler reads the body itself, and a note for what only it can see.
pub(super) fn streams(handler: Handler, matched: &Match) -> (bool, Note) {
    let streams = handler.streams_body || matches!(matched.door().body, BodyKind::Raw | BodyKind::Multipart);
    let door = matched.door();
    let files = matched.declared().group == Group::FileOps;
    let tells = streams || files || door.upgrade || door.errors == ErrorStyle::Detail;
    (streams, if tells { Note::open() } else { Note::default() })
}

/// Checks the handshake of a door that upgrades.
///
/// # Errors
/// 400 `invalid_parameter` for a request that is no WebSocket handshake.
pub(super) async fn upgrade(matched: &Match, parts: &mut Parts) -> Result<Option<Upgrade>, ApiError> {
    if !matched.door().upgrade {
        return Ok(None);
    }
    let upgrade = WebSocketUpgrade::from_request_parts(parts, &()).await;
    upgrade
        .map(Some)
        .map_err(|_| ApiError::invalid("Upgrade", "This endpoint is a WebSocket; send a handshake"))
}
