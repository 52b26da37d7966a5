//! Reading the path parameters of a call.

use super::scene::Scene;
use crate::endpoint::{Call, JsonBody};
use crate::error::ApiError;
use crate::guard::NormalPath;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The path in the query: `path`, or exactly `path_base64`.
///
/// # Errors
/// 400 `missing_parameter` or `invalid_parameter`.
pub(super) fn query_path(call: &Call, scene: &Scene) -> Result<NormalPath, ApiError> {
    let query = call.query();
    match (query.bytes("path"), query.bytes("path_base64")) {
        (Some(_), Some(_)) => Err(both("path")),
        (Some(path), None) => scene.path("path", path),
        (None, Some(encoded)) => scene.path("path", &decode("path", encoded)?),
        (None, None) => Err(ApiError::missing("path")),
    }
}

/// A path of a JSON body: `name`, or exactly `name_base64`; `None` where neither is there.
///
/// # Errors
/// 400 `invalid_parameter`.
pub(super) fn body_path(
    body: &mut JsonBody,
    scene: &Scene,
    name: &str,
) -> Result<Option<NormalPath>, ApiError> {
    let encoded = body.text(&format!("{name}_base64"))?;
    match (body.text(name)?, encoded) {
        (Some(_), Some(_)) => Err(both(name)),
        (Some(path), None) => scene.path(name, path.as_bytes()).map(Some),
        (None, Some(encoded)) => scene.path(name, &decode(name, encoded.as_bytes())?).map(Some),
        (None, None) => Ok(None),
    }
}

/// The same, where it must be there.
///
/// # Errors
/// 400 `missing_parameter` or `invalid_parameter`.
pub(super) fn required_path(body: &mut JsonBody, scene: &Scene, name: &str) -> Result<NormalPath, ApiError> {
    body_path(body, scene, name)?.ok_or_else(|| ApiError::missing(name))
}

/// A limit in a JSON body, not negative.
///
/// # Errors
/// 400 `invalid_parameter`.
pub(super) fn body_count(body: &JsonBody, name: &str) -> Result<Option<u64>, ApiError> {
    body.integer(name)?
        .map(|number| {
            u64::try_from(number)
                .map_err(|_| ApiError::invalid(name, format!("{name} must be a non-negative integer")))
        })
        .transpose()
}

/// Base64 of a path.
///
/// # Errors
/// 400 `invalid_parameter`.
pub(super) fn decode(name: &str, encoded: &[u8]) -> Result<Vec<u8>, ApiError> {
    let parameter = format!("{name}_base64");
    STANDARD
        .decode(encoded)
        .map_err(|_| ApiError::invalid(&parameter, format!("{parameter} must be standard base64")))
}

fn both(name: &str) -> ApiError {
    ApiError::invalid(name, format!("{name} and {name}_base64 were both given"))
}
