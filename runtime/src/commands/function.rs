//! Functions of the program that embeds the server.

use super::Arguments;
use crate::endpoint::{AnswerFuture, Call};
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// What a command's function comes to.
pub type FunctionFuture = Pin<Box<dyn Future<Output = Result<Value, CommandError>> + Send>>;

/// A command's function.
#[derive(Clone)]
pub struct Function(pub Arc<dyn Fn(Arguments) -> FunctionFuture + Send + Sync>);

/// A route's function; it gets the call as every handler does.
#[derive(Clone)]
pub struct RouteFunction(pub Arc<dyn Fn(Call) -> AnswerFuture + Send + Sync>);

/// Why a command has no result: becomes 500 with `kind` as its `type`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The name of what went wrong.
    pub kind: String,
    /// One sentence for the caller.
    pub message: String,
}

impl CommandError {
    /// An error of this kind.
    #[must_use]
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into() }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

impl fmt::Debug for RouteFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RouteFunction")
    }
}
