//! Runs our scripts in the page, in a world of their own.

use super::super::cdp::{CdpError, Remote};
use super::super::console::{Exception, cut, shown};
use super::super::error::BrowserError;
use super::Page;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::PoisonError;
use std::time::Duration;

/// Its name.
const NAME: &str = "agent-sandbox";

/// How long to wait before a script is tried again in the document that replaced its own.
const PAUSE: Duration = Duration::from_millis(10);

/// What running a script came to.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ran {
    pub(super) result: Remote,
    pub(super) exception_details: Option<Exception>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

impl Page {
    /// Calls a function of ours with JSON arguments; a promise is waited for. Where the document goes away meanwhile, it is
    /// called again in the next one, until whoever awaits this has enough.
    pub(super) async fn run<R: DeserializeOwned>(
        &self,
        function: &str,
        arguments: &[Value],
    ) -> Result<R, BrowserError> {
        let arguments: Vec<Value> = arguments.iter().map(|value| json!({ "value": value })).collect();
        loop {
            match self.try_run(function, &arguments).await {
                Err(CdpError::Refused(why)) if moved_on(&why) => {
                    *self.world.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error.into()),
                Ok(Ran { exception_details: Some(details), .. }) => return Err(thrown(details)),
                Ok(Ran { result, .. }) => {
                    let value = result.value.unwrap_or(Value::Null);
                    return serde_json::from_value(value).map_err(|_| CdpError::Shape.into());
                }
            }
        }
    }

    async fn try_run(&self, function: &str, arguments: &[Value]) -> Result<Ran, CdpError> {
        let document = self.state.borrow().documents;
        let known = *self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let context = match known {
            Some((of, context)) if of == document => context,
            _ => {
                let params = json!({ "frameId": self.target, "worldName": NAME });
                let world: World = self.call("Page.createIsolatedWorld", params).await?;
                let context = world.execution_context_id;
                *self.world.lock().unwrap_or_else(PoisonError::into_inner) = Some((document, context));
                context
            }
        };
        let params = json!({
            "functionDeclaration": function, "executionContextId": context, "arguments": arguments,
            "awaitPromise": true, "returnByValue": true,
        });
        self.call("Runtime.callFunctionOn", params).await
    }
}

/// Whether the document that a script ran in has gone.
pub(super) fn moved_on(why: &str) -> bool {
    ["context", "navigated", "No frame", "Promise was collected"].iter().any(|part| why.contains(part))
}

/// Most bytes of what a script threw that are told.
const LONGEST: usize = 8 * 1024;

/// The error that a script threw.
pub(super) fn thrown(details: Exception) -> BrowserError {
    let Some(value) = details.exception else {
        return BrowserError::Script { class: "Error".to_owned(), message: details.text };
    };
    let text = shown(&value);
    let text = cut(&text, LONGEST);
    if value.subtype.as_deref() != Some("error") {
        return BrowserError::Script { class: "Error".to_owned(), message: text.to_owned() };
    }
    // `Class: message`, and the stack below.
    let head = text.split("\n    at ").next().unwrap_or_default();
    let (class, message) = head.split_once(": ").unwrap_or((head, ""));
    let is_name = class.len() <= 64 && class.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (class, message) = if is_name { (class, message) } else { ("Error", head) };
    BrowserError::Script { class: class.to_owned(), message: message.to_owned() }
}
