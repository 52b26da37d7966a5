//! Step 2: which door of which endpoint the target names. The router is generated from the declaration.

use super::normalize::Target;
use crate::app::Settings;
use crate::custom::CustomRoutes;
use crate::endpoint::percent_decode;
use crate::error::{ApiError, ErrorCode};
use crate::routes::{Leaf, Parameters, ROUTES};
use axum::http::Method as HttpMethod;
use policy_lang::endpoint::{Door, EndpointDecl, Listener, Method};
use policy_lang::resolved::EndpointIx;
use std::borrow::Cow;

/// A door that was found, with its path parameters.
#[derive(Debug)]
pub struct Match {
    target: Target,
    leaf: &'static Leaf,
    parameters: Parameters,
}

impl Match {
    /// Which endpoint it is: a declared one, or one that a template registers.
    #[must_use]
    pub fn endpoint(&self) -> EndpointIx {
        self.leaf.endpoint
    }

    /// The path, as sent.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// The names of the path parameters.
    #[must_use]
    pub fn params(&self) -> &'static [&'static str] {
        self.leaf.parameters
    }

    /// The endpoint's declaration.
    #[must_use]
    pub fn declared(&self) -> &'static EndpointDecl {
        self.leaf.declared
    }

    /// The door.
    #[must_use]
    pub fn door(&self) -> &'static Door {
        self.leaf.door
    }

    /// The part after `?`, as sent.
    #[must_use]
    pub fn query(&self) -> &str {
        self.target.query()
    }

    /// A path parameter, decoded once. `None` where the template has none of this name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<Result<Cow<'_, str>, ApiError>> {
        let mut named = self.leaf.parameters.iter().zip(self.parameters.iter());
        let (_, range) = named.find(|(its, _)| **its == name)?;
        let raw = self.target.path().get(range)?;
        if !raw.contains('%') {
            return Some(Ok(Cow::Borrowed(raw)));
        }
        let text = String::from_utf8(percent_decode(raw, false));
        Some(text.map(Cow::Owned).map_err(|_| ApiError::invalid(name, format!("{name} must be UTF-8 text"))))
    }
}

/// The declared method, or 501 for every other. HEAD counts only where a door declares it.
///
/// # Errors
/// 501 `method_not_implemented`.
pub fn method(method: &HttpMethod) -> Result<Method, ApiError> {
    match method.as_str() {
        "GET" => Ok(Method::Get),
        "POST" => Ok(Method::Post),
        "DELETE" => Ok(Method::Delete),
        "HEAD" => Ok(Method::Head),
        _ => Err(not_implemented()),
    }
}

/// Finds the door: a declared one, or else one that a template registers.
///
/// # Errors
/// 404 `not_found`, also where the path exists under another method; 501 for a HEAD that no door declares.
pub fn find(
    custom: &CustomRoutes,
    listener: Listener,
    method: Method,
    target: Target,
) -> Result<Match, ApiError> {
    let declared = ROUTES.find(target.path()).and_then(|found| found.door(listener, method));
    match declared.or_else(|| custom.find(listener, method, target.path())) {
        Some((leaf, parameters)) => Ok(Match { target, leaf, parameters }),
        None if method == Method::Head => Err(not_implemented()),
        None => Err(not_found(target.path())),
    }
}

/// A door of the data plane names a sandbox: where `--sandbox-id` says who we are, every other name is nobody.
///
/// # Errors
/// 404 `not_found`.
pub(super) fn sandbox(settings: &Settings, matched: &Match) -> Result<(), ApiError> {
    let (Some(ours), Some(asked)) = (&settings.sandbox_id, matched.param("sandbox_id")) else {
        return Ok(());
    };
    if asked? == ours.as_str() { Ok(()) } else { Err(not_found(matched.target.path())) }
}

fn not_found(path: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("Not found: {path}")).kind("ValueError")
}

fn not_implemented() -> ApiError {
    ApiError::new(ErrorCode::MethodNotImplemented, "Unsupported method")
}
