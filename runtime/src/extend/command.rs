//! What the code that `#[command]` writes is made of: a function's arguments and result, as the registry has them.

use crate::commands::{Argument, ArgumentKind, Arguments, CommandError};
use serde::Serialize;
use serde_json::Value;
use std::future::Future;

/// A function that is a command. [`macro@super::command`] implements it for a type of the function's name.
pub trait DeclaredCommand: 'static {
    /// What callers name it by.
    const NAME: &'static str;
    /// What it does, for people; may be empty.
    const DESCRIPTION: &'static str;
    /// Whether it is left out of the list.
    const HIDDEN: bool;
    /// What a caller needs beside the scope of the command.
    const SCOPES: &'static [&'static str];

    /// What it takes, in the order of its signature.
    fn arguments() -> Vec<Argument>;

    /// Calls the function with arguments of the declared types.
    fn call(arguments: Arguments) -> impl Future<Output = Result<Value, CommandError>> + Send;
}

/// A type that an argument can have.
///
/// ```compile_fail,E0277
/// use runtime::extend::command;
///
/// #[command]
/// fn sum(numbers: Vec<i64>) -> i64 {
///     numbers.iter().sum()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a command cannot take a `{Self}`",
    label = "no type of an argument",
    note = "an argument is a `String`, an `i64`, an `f64` or a `bool`, or an `Option` of one of them"
)]
pub trait ArgumentValue: Sized {
    /// The type as callers see it.
    const KIND: ArgumentKind;
    /// Whether a call must bring it where there is no default.
    const REQUIRED: bool = true;

    /// The value that a call brought, if it did.
    fn from_value(value: Option<Value>) -> Option<Self>;

    /// As a default is kept.
    fn into_value(self) -> Value;
}

impl ArgumentValue for String {
    const KIND: ArgumentKind = ArgumentKind::String;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn into_value(self) -> Value {
        Value::String(self)
    }
}

impl ArgumentValue for i64 {
    const KIND: ArgumentKind = ArgumentKind::Integer;

    fn from_value(value: Option<Value>) -> Option<Self> {
        value?.as_i64()
    }

    fn into_value(self) -> Value {
        Value::from(self)
    }
}

impl ArgumentValue for f64 {
    const KIND: ArgumentKind = ArgumentKind::Float;

    fn from_value(value: Option<Value>) -> Option<Self> {
        value?.as_f64()
    }

    fn into_value(self) -> Value {
        Value::from(self)
    }
}

impl ArgumentValue for bool {
    const KIND: ArgumentKind = ArgumentKind::Boolean;

    fn from_value(value: Option<Value>) -> Option<Self> {
        value?.as_bool()
    }

    fn into_value(self) -> Value {
        Value::Bool(self)
    }
}

impl<T: ArgumentValue> ArgumentValue for Option<T> {
    const KIND: ArgumentKind = T::KIND;
    const REQUIRED: bool = false;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            None => Some(None),
            value => T::from_value(value).map(Some),
        }
    }

    fn into_value(self) -> Value {
        self.map_or(Value::Null, T::into_value)
    }
}

/// The declaration of one argument.
#[must_use]
pub fn declare<T: ArgumentValue>(name: &str, description: &str, default: Option<T>) -> Argument {
    let default = default.map(T::into_value).filter(|value| !value.is_null());
    Argument {
        name: name.to_owned(),
        kind: T::KIND,
        required: T::REQUIRED && default.is_none(),
        default,
        description: description.to_owned(),
    }
}

/// The value of one argument of a call.
///
/// # Errors
/// It is absent or of another type, which the registry has seen to before.
pub fn take<T: ArgumentValue>(arguments: &mut Arguments, name: &str) -> Result<T, CommandError> {
    let none = || CommandError::new("TypeError", format!("argument '{name}' has no value"));
    T::from_value(arguments.remove(name)).ok_or_else(none)
}

/// Runs a function that may block on a thread of its own. A panic of it is one of the call.
pub async fn blocking<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(function).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The server is stopping, and nobody waits any more.
            Err(_) => std::future::pending().await,
        },
    }
}

/// The result of a function as callers get it.
///
/// # Errors
/// It cannot be written as JSON.
pub fn written(result: impl Serialize) -> Result<Value, CommandError> {
    serde_json::to_value(result).map_err(|error| CommandError::new("TypeError", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_converted_is_taken_as_it_is() {
        let mut arguments = json!({"a": "x", "b": 3, "c": 0.5, "d": true}).as_object().unwrap().clone();
        assert_eq!(take(&mut arguments, "a"), Ok("x".to_owned()));
        assert_eq!(take(&mut arguments, "b"), Ok(3_i64));
        assert_eq!(take(&mut arguments, "c"), Ok(0.5_f64));
        assert_eq!(take(&mut arguments, "d"), Ok(Some(true)));
        assert_eq!(take::<Option<bool>>(&mut arguments, "d"), Ok(None));
        let error = CommandError::new("TypeError", "argument 'd' has no value");
        assert_eq!(take::<bool>(&mut arguments, "d"), Err(error));
    }

    #[test]
    fn only_what_has_neither_default_nor_option_is_required() {
        let required = |argument: Argument| (argument.required, argument.default);
        assert_eq!(required(declare::<i64>("a", "", None)), (true, None));
        assert_eq!(required(declare("a", "", Some(3_i64))), (false, Some(json!(3))));
        assert_eq!(required(declare::<Option<i64>>("a", "", None)), (false, None));
        assert_eq!(required(declare("a", "", Some(f64::NAN))), (true, None));
    }

    #[tokio::test]
    async fn a_panic_of_a_thread_is_one_of_the_call() {
        assert_eq!(blocking(|| 3).await, 3);
        let call = tokio::spawn(blocking(|| assert_eq!(1, 2, "told"))).await;
        assert!(call.unwrap_err().is_panic());
    }
}
