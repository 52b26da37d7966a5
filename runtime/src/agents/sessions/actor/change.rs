//! What callers change about a session: its options, and what they call and allow it.

use super::{Actor, Kind};
use crate::agents::acp::{RpcError, Wait};
use crate::agents::options::OptionView;
use crate::agents::rules::PermissionPolicy;
use crate::agents::sessions::budget::Budget;
use crate::agents::sessions::fault;
use crate::agents::turns::rows;
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long an agent may take to set an option.
const PATIENCE: Duration = Duration::from_secs(30);

/// Turn ids in the order in which they are to run.
pub type Order = Vec<String>;

/// What is to change; what is absent stays.
#[derive(Debug, Default)]
pub struct Changes {
    /// Empty: none.
    pub title: Option<String>,
    /// All of them.
    pub labels: Option<Map<String, Value>>,
    /// Whether lists leave it out.
    pub archived: Option<bool>,
    /// What is decided without a person.
    pub policy: Option<PermissionPolicy>,
    /// What may be used up.
    pub budget: Option<Budget>,
    /// Whether waiting turns are held back.
    pub queue_paused: Option<bool>,
    /// The order of the waiting turns.
    pub queue_order: Option<Order>,
    /// The version that the caller has seen.
    pub expected_version: Option<i64>,
}

impl Actor {
    /// Changes what was asked for, all of it or nothing.
    pub(crate) async fn change(&mut self, changes: Changes) -> Result<(), ApiError> {
        if changes.expected_version.is_some_and(|version| version != self.row.version) {
            return Err(ApiError::new(
                ErrorCode::VersionConflict,
                "The session was changed by somebody else",
            )
            .with("version", self.row.version));
        }
        if let Some(order) = &changes.queue_order {
            self.queue.reorder(order).map_err(|_| {
                ApiError::new(ErrorCode::InvalidQueueOrder, "queue_order must name every waiting turn once")
                    .with("queue", self.queue.waiting().map(Value::from).collect::<Vec<_>>())
            })?;
        }
        let mut changed = Map::new();
        let mut note = |name: &str, value: Value| drop(changed.insert(name.to_owned(), value));
        if let Some(title) = changes.title {
            note("title", title.as_str().into());
            self.row.title = (!title.is_empty()).then_some(title);
        }
        if let Some(labels) = changes.labels {
            note("labels", labels.clone().into());
            self.row.labels = labels;
        }
        if let Some(archived) = changes.archived {
            note("archived", archived.into());
            self.row.archived = archived;
        }
        if let Some(budget) = changes.budget {
            note("budget", json!(budget));
            self.details.budget = Some(budget);
        }
        if let Some(paused) = changes.queue_paused {
            note("queue_paused", paused.into());
            self.details.queue_paused = paused;
            self.queue.pause(paused);
        }
        let policy = changes.policy.is_some();
        if let Some(policy) = changes.policy {
            note("policy", json!(policy));
            self.details.policy = policy;
        }
        if let Some(order) = &changes.queue_order {
            note("queue_order", json!(order));
        }
        self.row.version += 1;
        changed.insert("version".to_owned(), self.row.version.into());
        let event = self.event(Kind::SessionUpdated, changed.into());
        if let Some(order) = changes.queue_order {
            self.store.write(move |db| rows::order(db, &order)).await?;
        }
        self.save(vec![event]).await?;
        if policy {
            self.policy_changed().await;
        }
        Ok(())
    }

    /// Sets an option. The agent is asked off this task; `told` gets the complete state.
    pub(crate) fn set_option(
        &mut self,
        key: &str,
        value: Value,
        told: oneshot::Sender<Result<Vec<OptionView>, ApiError>>,
    ) {
        let asked = self.ask_option(key, &value);
        let (process, view, method, params) = match asked {
            Ok(asked) => asked,
            Err(error) => return drop(told.send(Err(error))),
        };
        let (mailbox, key) = (self.mailbox.clone(), key.to_owned());
        tokio::spawn(async move {
            let answer = process.peer.request(method, &params, Wait::total(PATIENCE)).await;
            let answer = answer.map_err(|error: RpcError| fault::of_rpc(&process, error));
            mailbox.send(move |actor| {
                Box::pin(async move {
                    let set = match answer {
                        Ok(answer) => actor.option_set(&key, &view, value, &answer).await,
                        Err(error) => Err(error),
                    };
                    drop(told.send(set));
                })
            });
        });
    }

    fn ask_option(
        &self,
        key: &str,
        value: &Value,
    ) -> Result<
        (std::sync::Arc<crate::agents::process::AgentProcess>, OptionView, &'static str, Value),
        ApiError,
    > {
        let (Some(process), Some(native)) = (&self.process, &self.row.native_session_id) else {
            return Err(fault::disconnected());
        };
        let view = self.options.find(key).ok_or_else(|| fault::no_option(key))?;
        fault::check_choice(&view, value, &self.details.policy)?;
        let (method, mut params) = view.setter(value);
        if let Some(params) = params.as_object_mut() {
            params.insert("sessionId".to_owned(), native.as_str().into());
        }
        Ok((std::sync::Arc::clone(process), view, method, params))
    }

    async fn option_set(
        &mut self,
        key: &str,
        view: &OptionView,
        value: Value,
        answer: &Value,
    ) -> Result<Vec<OptionView>, ApiError> {
        if !self.options.take_config(answer) {
            self.options.set(view, &value);
        }
        self.details.desired.insert(key.to_owned(), value);
        let views = self.options.views();
        let event = self.event(Kind::OptionsUpdated, json!({"options": views}));
        self.save(vec![event]).await?;
        Ok(views)
    }
}
