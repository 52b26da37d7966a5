//! Answering requests, and the rules that remember an answer.

use super::talking;
use crate::agents::ids;
use crate::agents::requests::answer;
use crate::agents::requests::rows::{self, RequestRow};
use crate::agents::rules::matching::Caller;
use crate::agents::rules::rows::{self as rules, RuleRow};
use crate::agents::rules::subject::Sample;
use crate::agents::rules::{Decision, Match, PermissionPolicy, Rule, Scope, Subject, Verdict, judge};
use crate::agents::sessions::actor::{Decided, Outcome};
use crate::agents::sessions::details::Details;
use crate::agents::sessions::open;
use crate::agents::store::now;
use crate::app::App;
use crate::auth::Principal;
use crate::endpoint::{Call, JsonBody};
use crate::error::{ApiError, ErrorCode};
use policy_lang::endpoint::Scope as Right;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A decision that is to hold from now on, as it is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remember {
    #[serde(default)]
    scope: Option<Scope>,
    #[serde(default, rename = "match")]
    matches: Option<Match>,
}

/// The same, for one request.
#[derive(Debug)]
pub(super) struct Remembered {
    scope: Scope,
    matches: Option<Match>,
}

/// The request that the path names.
pub(super) fn find(call: &Call) -> impl Future<Output = Result<RequestRow, ApiError>> + Send + use<> {
    let (app, named) = (Arc::clone(call.app()), call.param("request_id").map(Cow::into_owned));
    async move {
        let request_id = named?;
        let name = request_id.clone();
        let found = app.agents.store().await?.read(move |db| rows::find(db, &name)).await?;
        found.ok_or_else(|| {
            ApiError::new(ErrorCode::RequestNotFound, "No such request").with("request_id", request_id)
        })
    }
}

/// A request, if it is of this kind and waits.
pub(super) fn pending(request: RequestRow, kind: &str) -> Result<RequestRow, ApiError> {
    if request.kind != kind {
        return Err(ApiError::new(ErrorCode::WrongKind, format!("The request is no {kind}"))
            .with("kind", request.kind));
    }
    if request.state == "pending" { Ok(request) } else { Err(resolved(&request)) }
}

/// 409 for a request that somebody or something else has ended, with what it was answered.
pub(super) fn resolved(request: &RequestRow) -> ApiError {
    ApiError::new(ErrorCode::RequestResolved, "The request has been resolved")
        .with("request_id", request.request_id.as_str())
        .with("state", request.state.as_str())
        .with("answer", request.answer.clone().unwrap_or_default())
        .with("answered_by", request.answered_by.clone().map_or(serde_json::Value::Null, Into::into))
}

/// Gives an answer to the session that waits for it.
pub(super) async fn decide(
    app: &Arc<App>,
    by: &Principal,
    request: &RequestRow,
    outcome: Outcome,
) -> Result<Decided, ApiError> {
    let by = by.id.to_string();
    let request_id = request.request_id.clone();
    let decided = app
        .agents
        .live
        .ask(app, &request.session_id, move |actor| Box::pin(actor.decide(request_id, outcome, by)));
    decided.await
}

/// Reads `remember`.
pub(super) fn remember(body: &mut JsonBody) -> Result<Option<Remember>, ApiError> {
    talking::object(body, "remember", ErrorCode::InvalidRule)
}

impl Remember {
    /// Checks whether the caller may remember so widely, and the match by itself.
    pub(super) fn scoped(self, call: &Call, request: &RequestRow) -> Result<Remembered, ApiError> {
        let own = Scope { session_id: Some(request.session_id.clone()), ..Scope::default() };
        let scope = self.scope.unwrap_or(own);
        if !answer::is_of_session(&scope, &request.session_id)
            && !call.principal().scopes.holds(Right::AgentsManage)
        {
            let message = "Remembering wider than the session needs agents:manage";
            return Err(ApiError::new(ErrorCode::MissingScope, message)
                .with("endpoint", call.declared().name)
                .with("scope", "agents:manage"));
        }
        if let Some(matches) = &self.matches {
            Rule::new(String::new(), scope.clone(), matches.clone(), Decision::Reject, None)
                .map_err(|why| ApiError::new(ErrorCode::InvalidRule, why))?;
        }
        Ok(Remembered { scope, matches: self.matches })
    }
}

impl Remembered {
    /// Keeps the rule. Its id.
    pub(super) async fn keep(
        self,
        app: &App,
        by: &Principal,
        allows: bool,
        subject: &Subject,
    ) -> Result<String, ApiError> {
        let rule = RuleRow {
            rule_id: ids::new(ids::RULE),
            scope: self.scope,
            matches: self.matches.unwrap_or_else(|| answer::same_call(subject)),
            decision: answer::remembered(allows),
            created_by: by.id.to_string(),
            created_at: now(),
            expires_at: None,
            hits: 0,
            last_hit_at: None,
        };
        let rule_id = rule.rule_id.clone();
        keep(app, rule).await?;
        Ok(rule_id)
    }
}

/// Stores a rule.
pub(super) async fn keep(app: &App, rule: RuleRow) -> Result<(), ApiError> {
    rule.compile().map_err(|why| ApiError::new(ErrorCode::InvalidRule, why))?;
    if app.agents.store().await?.write(move |db| rules::put(db, &rule)).await? {
        return Ok(());
    }
    Err(ApiError::new(ErrorCode::InvalidRule, "there are too many rules").with("limit", rules::MOST))
}

/// What would become of a call, with a rule that is not saved among those that are.
pub(super) async fn test(app: &App, draft: Option<&RuleRow>, sample: &Sample) -> Result<Verdict, ApiError> {
    let scope = draft.map(|rule| rule.scope.clone()).unwrap_or_default();
    let state = app.policy();
    let base = state.guard.base_dir();
    let (mut agent_id, mut cwd) = (
        scope.agent_id.clone().unwrap_or_default(),
        scope.cwd.clone().unwrap_or_else(|| String::from_utf8_lossy(base).into_owned()),
    );
    let mut policy = PermissionPolicy::default();
    let session_id = scope.session_id.clone().unwrap_or_default();
    if !session_id.is_empty() {
        let session = open::find(app, &session_id).await?;
        policy = Details::of(&session).policy;
        (agent_id, cwd) = (session.agent_id, session.cwd);
    }
    let at = now();
    let saved = app.agents.store().await?.read(move |db| rules::all(db, at)).await?;
    let replaced = |rule: &&RuleRow| draft.is_none_or(|draft| draft.rule_id != rule.rule_id);
    let all: Result<Vec<Rule>, String> =
        saved.iter().filter(replaced).chain(draft).map(RuleRow::compile).collect();
    let all = all.map_err(|why| ApiError::new(ErrorCode::InvalidRule, why))?;
    let cwd = Path::new(&cwd);
    let caller = Caller { session_id: &session_id, agent_id: &agent_id, cwd };
    Ok(judge(&all, &policy, caller, &Subject::of_sample(sample, cwd), at))
}
