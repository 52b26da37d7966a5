//! Evaluates a script of the caller's in the page, among the page's own scripts.

use super::super::cdp::{CdpError, Remote};
use super::super::error::BrowserError;
use super::Page;
use super::world::{Ran, moved_on, thrown};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

/// What came out.
#[derive(Debug, Serialize)]
pub struct Evaluated {
    /// The value as JSON; null for what has no JSON form.
    pub result: Value,
    /// What it is, where it has no JSON form and is a number or a symbol: `NaN`, `-Infinity`, `12n`, `Symbol(x)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unserializable: Option<String>,
}

const SERIALISE: &str = include_str!("../script/serialise.js");

/// Calls a function, so that `() => 1` means what it means to Playwright.
const CALL: &str = "function call() { return this(); }";

impl Page {
    /// Evaluates `script`: an expression or statements. A function is called, a promise is waited for. A script that
    /// computes for longer than `time` is stopped.
    ///
    /// # Errors
    /// [`BrowserError::Script`] with what it threw.
    pub async fn evaluate(&self, script: &str, time: Duration) -> Result<Evaluated, BrowserError> {
        let milliseconds = time.as_millis() as u64;
        let params = json!({
            "expression": script, "awaitPromise": true, "userGesture": true, "replMode": false,
            "timeout": milliseconds,
        });
        let ran = match self.call("Runtime.evaluate", params).await {
            // What the browser says when it has stopped a script for its time.
            Err(CdpError::Refused(why)) if why == "Internal error" => {
                return Err(BrowserError::TimedOut(format!("Timed out after {milliseconds} ms")));
            }
            Err(CdpError::Refused(why)) if moved_on(&why) => return Err(elsewhere()),
            ran => ran?,
        };
        let mut value = value_of(ran)?;
        if value.r#type == "function" {
            value = value_of(self.on(&value, CALL, false).await?)?;
        }
        let evaluated = self.plain(&value).await;
        if let Some(object) = &value.object_id {
            self.tell("Runtime.releaseObject", json!({ "objectId": object }));
        }
        evaluated
    }

    /// The value as JSON.
    async fn plain(&self, value: &Remote) -> Result<Evaluated, BrowserError> {
        let known = |result, unserializable| Ok(Evaluated { result, unserializable });
        match &*value.r#type {
            "object" if value.object_id.is_some() => {
                let text = value_of(self.on(value, SERIALISE, true).await?)?.value;
                let text = text.as_ref().and_then(Value::as_str).unwrap_or("null");
                match serde_json::from_str(text) {
                    Ok(result) => known(result, None),
                    Err(_) => Err(BrowserError::Protocol("The value is nested too deeply".to_owned())),
                }
            }
            "symbol" => known(Value::Null, value.description.clone()),
            _ => known(value.value.clone().unwrap_or(Value::Null), value.unserializable_value.clone()),
        }
    }

    /// Calls a function on a value of the page.
    async fn on(&self, value: &Remote, function: &str, by_value: bool) -> Result<Ran, BrowserError> {
        let params = json!({
            "functionDeclaration": function, "objectId": value.object_id, "awaitPromise": true,
            "userGesture": true, "returnByValue": by_value,
        });
        match self.call("Runtime.callFunctionOn", params).await {
            Err(CdpError::Refused(why)) if moved_on(&why) => Err(elsewhere()),
            ran => Ok(ran?),
        }
    }
}

/// Whether the script did what it should nobody knows then, so it is not tried again.
fn elsewhere() -> BrowserError {
    let message = "The page went elsewhere while the script ran".to_owned();
    BrowserError::Script { class: "Error".to_owned(), message }
}

fn value_of(ran: Ran) -> Result<Remote, BrowserError> {
    match ran.exception_details {
        Some(details) => Err(thrown(details)),
        None => Ok(ran.result),
    }
}
