//! Step 8, around all the others: what is known of a request, and the line and the response that end it.

mod metered;
mod overdue;
mod subject;

use super::admit::Permit;
use super::route::Match;
use super::{Peer, Served, framing};
use crate::app::App;
use crate::audit::{Entry, Event, Fact};
use crate::auth::Principal;
use crate::endpoint::{Intake, Note, Query, ReplyBody, RequestId};
use crate::error::{ApiError, ErrorCode};
use crate::http::Busy;
use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use axum::http::{HeaderValue, Method as HttpMethod, Request, Response, Version};
use metered::Metered;
use policy_lang::endpoint::{AuditLevel, Door, EndpointDecl, ErrorStyle, Method};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// One request on its way through the pipeline. Dropped before its end, it writes that the client has left.
pub(super) struct Record {
    app: Arc<App>,
    id: RequestId,
    peer: IpAddr,
    method: HttpMethod,
    began: Instant,
    found: Option<(&'static EndpointDecl, &'static Door)>,
    principal: Option<Arc<Principal>>,
    permit: Option<Permit>,
    subject: Option<(&'static str, String)>,
    facts: Vec<(&'static str, Fact)>,
    note: Note,
    bytes_in: u64,
    /// Whether bytes of a body may still be on the way, or the client speaks HTTP/1.0: a refusal ends the connection.
    unread: bool,
    ended: bool,
    busy: Busy,
}

impl Record {
    pub(super) fn begin(app: Arc<App>, peer: Peer, request: &Request<Body>) -> Self {
        Self {
            id: app.next_request_id(),
            app,
            peer: peer.address,
            method: request.method().clone(),
            began: Instant::now(),
            found: None,
            principal: None,
            permit: None,
            subject: None,
            facts: Vec::new(),
            note: Note::default(),
            bytes_in: 0,
            unread: framing::has_body(request.headers()) || request.version() == Version::HTTP_10,
            ended: false,
            busy: peer.busy,
        }
    }

    pub(super) fn app(&self) -> &Arc<App> {
        &self.app
    }

    pub(super) fn id(&self) -> RequestId {
        self.id
    }

    pub(super) fn found(&mut self, matched: &Match) {
        self.found = Some((matched.declared(), matched.door()));
        if let Some(Ok(sandbox)) = matched.param("sandbox_id") {
            self.facts.push(("sandbox", sandbox.into_owned().into()));
        }
    }

    pub(super) fn called_by(&mut self, principal: &Arc<Principal>) {
        self.principal = Some(Arc::clone(principal));
    }

    pub(super) fn admitted(&mut self, permit: &Permit) {
        self.permit = Some(permit.clone());
    }

    pub(super) fn received(&mut self, bytes: u64) {
        self.bytes_in = bytes;
    }

    pub(super) fn body_was_read(&mut self) {
        self.unread = false;
    }

    /// Notes what the call touches and, where it changes something, writes that it is about to.
    ///
    /// # Errors
    /// 503 `audit_unavailable` where the log is a file that cannot be written: nothing has happened yet.
    pub(super) fn intend(&mut self, query: &Query, intake: &Intake, note: &Note) -> Result<(), ApiError> {
        // A command line for a shell may begin with the value of a variable; the handler names the shell instead.
        let shell_runs = self.found.is_some_and(|(_, door)| door.errors == ErrorStyle::Detail);
        self.subject = subject::of(query, intake, shell_runs);
        self.note = note.clone();
        if !self.is_durable() {
            return Ok(());
        }
        self.app.audit.write_now(&self.entry(Event::Intent, true, None, None, None, 0)).map_err(|_| {
            ApiError::new(
                ErrorCode::AuditUnavailable,
                "The audit log cannot be written, so nothing was changed",
            )
        })
    }

    /// When its answer must have ended, by `max_duration_seconds`; none where nothing bounds it.
    fn deadline(&self) -> Option<Instant> {
        let longest = self.permit.as_ref()?.rules()?.limits.max_duration_seconds?;
        self.began.checked_add(Duration::from_secs(longest.value))
    }

    fn level(&self) -> AuditLevel {
        self.permit.as_ref().map_or(AuditLevel::All, Permit::audit)
    }

    /// Whether its lines must be in the file before it goes on.
    fn is_durable(&self) -> bool {
        let changes = self.found.is_some_and(|(declared, door)| {
            let acts = matches!(door.method, Method::Post | Method::Delete) || door.upgrade;
            acts && !declared.scopes.iter().all(|scope| scope.ends_with(":read"))
        });
        changes && self.app.audit.file().is_some() && self.level() == AuditLevel::All
    }

    fn entry<'a>(
        &'a self,
        event: Event,
        allowed: bool,
        code: Option<&'a str>,
        rule: Option<&'a str>,
        status: Option<u16>,
        bytes_out: u64,
    ) -> Entry<'a> {
        let subject = self.subject.as_ref().map(|(name, value)| (*name, value.as_str()));
        Entry {
            time: SystemTime::now(),
            event,
            request_id: self.id,
            peer: self.peer,
            identity: self.principal.as_ref().map(|principal| &*principal.id),
            method: self.method.as_str(),
            endpoint: self.found.map(|(declared, _)| declared.name),
            allowed,
            code,
            rule: rule.or_else(|| self.permit.as_ref().map(Permit::rule)),
            status,
            duration: self.began.elapsed(),
            bytes_in: self.bytes_in.max(self.note.bytes_in()),
            bytes_out,
            subject: subject.or_else(|| self.note.text().map(|path| ("path", path))),
            facts: &self.facts,
        }
    }

    /// Writes how it ended.
    fn end(&mut self, event: Event, status: u16, error: Option<&ApiError>, bytes_out: u64) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let written = match self.level() {
            AuditLevel::All => true,
            AuditLevel::Deny | AuditLevel::Off => error.is_some(),
        };
        if !written {
            return;
        }
        self.facts.append(&mut self.note.take_facts());
        let bytes_out = bytes_out.max(self.note.bytes_out());
        let code = error.map(|error| error.code().as_str());
        let rule = error.and_then(ApiError::rule_name);
        let entry = self.entry(event, error.is_none(), code, rule, Some(status), bytes_out);
        if error.is_none() && self.is_durable() {
            // It has happened, and the intent is in the file: the answer stands even if this line cannot follow.
            let _ = self.app.audit.write_now(&entry);
        } else {
            self.app.audit.write(&entry);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.end(Event::Cut, 0, None, 0);
    }
}

/// Ends a request: its response, and its line once the last byte is known.
pub(super) fn answer(mut record: Record, outcome: Result<Served, ApiError>) -> Response<Body> {
    let id = HeaderValue::from_bytes(&record.id.digits()).unwrap_or_else(|_| HeaderValue::from_static("-"));
    let mut response = match outcome {
        Ok(served) => success(record, served),
        Err(error) => {
            let response = refusal(&record, &error);
            let bytes_out = axum::body::HttpBody::size_hint(response.body()).lower();
            record.end(Event::Call, response.status().as_u16(), Some(&error), bytes_out);
            response
        }
    };
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

fn success(mut record: Record, served: Served) -> Response<Body> {
    let Served { reply, slot, upgrade } = served;
    let status = reply.status;
    let (body, headers) = match reply.body {
        ReplyBody::Full(bytes) => {
            record.end(Event::Call, status.as_u16(), None, bytes.len() as u64);
            (Body::from(bytes), reply.headers)
        }
        ReplyBody::Stream(body) => {
            let announced = framing::announced(&reply.headers);
            (Body::new(Metered::new(body, status.as_u16(), announced, record, slot)), reply.headers)
        }
        ReplyBody::WebSocket(socket) => {
            let Some(mut upgrade) = upgrade else {
                let error =
                    ApiError::internal("The endpoint answered with a WebSocket where none was declared");
                record.end(Event::Call, 500, Some(&error), 0);
                return refusal(&record, &error);
            };
            if let Some(protocol) = socket.protocol {
                upgrade = upgrade.protocols([protocol.to_str().unwrap_or_default().to_owned()]);
            }
            let limit = socket.max_message_bytes;
            let upgrade = upgrade.read_buffer_size(socket.read_bytes);
            return upgrade.max_message_size(limit).max_frame_size(limit).on_upgrade(
                move |stream| async move {
                    let parting = (socket.run)(stream).await;
                    // Before the client can have seen the end, as with every other answer.
                    drop(slot);
                    record.end(Event::Call, status.as_u16(), None, 0);
                    parting.say().await;
                },
            );
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn refusal(record: &Record, error: &ApiError) -> Response<Body> {
    let detailed = record.found.is_some_and(|(_, door)| door.errors == ErrorStyle::Detail);
    let body = error.body(detailed.then(|| record.id.to_string()).as_deref());
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = error.http_status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(seconds) = error.retry_after_seconds() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some((name, value)) = error.further_header() {
        headers.insert(name, value.clone());
    }
    if record.unread {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
