//! The `request` of a test: an endpoint or a request line, and what the call carries.

use super::line;
use super::read::{mapping, unknown_key, unknown_word};
use crate::decide::{Op, VariableUse};
use crate::diag::{Code, Diagnostic, Suggestion, quoted, suggest};
use crate::lower::{Context, alternatives};
use crate::matchers::{signal, url};
use crate::parse::{Entry, Node, NodeKind};
use crate::resolved::EndpointIx;
use crate::rules;
use crate::scope::ScopeSet;
use crate::source::{Span, Spanned};
use std::net::IpAddr;

/// The keys of a request.
const KEYS: [&str; 20] = [
    "endpoint",
    "path",
    "source",
    "destination",
    "cwd",
    "op",
    "scopes",
    "identity",
    "name",
    "command",
    "shell",
    "language",
    "signal",
    "url",
    "address",
    "port",
    "variable",
    "bytes",
    "request_bytes",
    "carries",
];

const OPS: [&str; 5] = ["read", "write", "delete", "list", "run"];

/// Who calls.
#[derive(Debug, Clone, Default)]
pub enum Caller {
    /// Nobody says: scopes are not asked.
    #[default]
    Anybody,
    /// Somebody with these scopes.
    With(ScopeSet),
    /// The holder of a token of the policy, by its id.
    Token(Spanned<String>),
}

/// One call, as a test describes it.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The endpoint.
    pub endpoint: EndpointIx,
    /// Who calls.
    pub caller: Caller,
    /// The command that the path names.
    pub name: Option<String>,
    /// Paths by parameter, as written.
    pub paths: Vec<(String, String)>,
    /// What is done to the paths; none: what the endpoint does.
    pub op: Option<Op>,
    /// The program.
    pub command: Option<String>,
    /// The value of the `shell` field.
    pub shell: Option<String>,
    /// The language of a snippet.
    pub language: Option<String>,
    /// The signal.
    pub signal: Option<u8>,
    /// The URL.
    pub url: Option<url::Target>,
    /// The addresses that its host resolves to.
    pub addresses: Vec<IpAddr>,
    /// The loopback port.
    pub port: Option<u16>,
    /// Variables, and how they are used.
    pub variables: Vec<(String, VariableUse)>,
    /// Size of the file, answer or transfer.
    pub bytes: Option<u64>,
    /// Size of the request body.
    pub request_bytes: Option<u64>,
}

impl Ask {
    /// A call of which nothing else is said.
    #[must_use]
    pub fn of(endpoint: EndpointIx) -> Self {
        Self {
            endpoint,
            caller: Caller::Anybody,
            name: None,
            paths: Vec::new(),
            op: None,
            command: None,
            shell: None,
            language: None,
            signal: None,
            url: None,
            addresses: Vec::new(),
            port: None,
            variables: Vec::new(),
            bytes: None,
            request_bytes: None,
        }
    }
}

/// Reads a request; none where it is so wrong that it asks of nothing.
pub(super) fn read(cx: &mut Context<'_>, node: Node<'_>) -> Option<Ask> {
    if let NodeKind::Text { text, .. } = &node.kind {
        return endpoint(cx, text, node.span);
    }
    let span = node.span;
    let mut entries = mapping(cx, "`request`", node)?;
    let Some(at) = entries.iter().position(|entry| entry.key == "endpoint") else {
        let place = entries.first().map_or(span, |entry| entry.key_span);
        let message = "this request names no endpoint";
        let help =
            "add `endpoint:` with an id such as `files_list`, or a request line such as `GET /files/list`";
        cx.emit(Diagnostic::new(Code::TestAssertsNothing, message).at(place).help(help));
        return None;
    };
    let entry = entries.remove(at);
    let text = cx.value_of(entry.key_span, entry.value.via, |cx| cx.text("`endpoint`", entry.value))?;
    let mut ask = endpoint(cx, &text.value, text.span);
    // Where the endpoint is wrong the rest is still read for its own mistakes.
    let mut nowhere = Ask::of(EndpointIx(0));
    let mut sound = true;
    for entry in entries {
        let target = ask.as_mut().unwrap_or(&mut nowhere);
        sound &= cx.value_of(entry.key_span, entry.value.via, |cx| member(cx, entry, target)).is_some();
    }
    ask.filter(|_| sound)
}

/// The call of an endpoint, as it is named.
fn endpoint(cx: &mut Context<'_>, written: &str, span: Span) -> Option<Ask> {
    if let Some(line) = line::read(written, cx.catalogue) {
        return Some(Ask { name: line.name, paths: line.paths, ..Ask::of(line.endpoint) });
    }
    let finding =
        Diagnostic::new(Code::UnknownEndpoint, format!("unknown endpoint {}", quoted(written))).at(span);
    let near: Vec<String> = suggest::endpoint(written, cx.catalogue).into_iter().map(str::to_owned).collect();
    let finding = if near.is_empty() {
        finding.help("list the ids with `agent-sandbox-server endpoints`")
    } else {
        finding.help(format!("did you mean {}?", alternatives(near.iter().map(String::as_str))))
    };
    let finding = near.iter().fold(finding, |finding, near| {
        finding.suggest(Suggestion::review(format!("write `{near}`"), span, cx.quoted_like(span, near)))
    });
    cx.emit(finding);
    None
}

/// Reads one key of a request; none where it is wrong, which is reported.
fn member(cx: &mut Context<'_>, entry: Entry<'_>, ask: &mut Ask) -> Option<()> {
    let what = format!("`{}`", entry.key);
    let word = |cx: &mut Context<'_>, node| cx.text(&what, node).map(|text| text.value.into_owned());
    match &*entry.key {
        role @ ("path" | "source" | "destination" | "cwd") => {
            ask.paths.push((role.to_owned(), word(cx, entry.value)?));
        }
        "op" => {
            let text = cx.text(&what, entry.value)?;
            ask.op = Op::from_name(&text.value);
            if ask.op.is_none() {
                unknown_word(cx, "operation", &text.value, text.span, &OPS);
                return None;
            }
        }
        "scopes" => {
            let scopes = rules::scopes::of_token(cx, entry.value)?;
            let set = ScopeSet::parse(scopes.iter().map(|scope| &*scope.value)).ok()?;
            ask.caller = Caller::With(set);
        }
        "identity" => ask.caller = Caller::Token(cx.text(&what, entry.value)?.spanned()),
        "name" => ask.name = Some(word(cx, entry.value)?),
        "command" => ask.command = Some(command(cx, entry.value)?),
        "shell" => ask.shell = Some(word(cx, entry.value)?),
        "language" => ask.language = Some(word(cx, entry.value)?),
        "signal" => ask.signal = Some(signal_of(cx, entry.value)?),
        "url" => {
            let text = cx.text(&what, entry.value)?;
            let target = url::Target::parse(&text.value);
            ask.url = Some(
                target.or_else(|| refused(cx, &text.value, text.span, "no URL with a scheme and a host"))?,
            );
        }
        "address" => {
            let text = cx.text(&what, entry.value)?;
            let address = text.value.parse().ok();
            ask.addresses.push(address.or_else(|| refused(cx, &text.value, text.span, "no IP address"))?);
        }
        "port" => ask.port = u16::try_from(number(cx, &what, "a port", &entry.value)?).ok(),
        "variable" => ask.variables.push((word(cx, entry.value)?, VariableUse::Set)),
        "carries" => ask.variables.push((word(cx, entry.value)?, VariableUse::Carry)),
        "bytes" => ask.bytes = Some(size(cx, &what, &entry.value)?),
        "request_bytes" => ask.request_bytes = Some(size(cx, &what, &entry.value)?),
        _ => {
            unknown_key(cx, &entry, &KEYS, "a request");
            return None;
        }
    }
    Some(())
}

/// A program, a command line of which the first word counts, or an argument list.
fn command(cx: &mut Context<'_>, node: Node<'_>) -> Option<String> {
    let node = match node.kind {
        NodeKind::Seq(items) if !items.is_empty() => items.into_iter().next()?,
        kind => Node { kind, ..node },
    };
    let text = cx.text("`command`", node)?;
    let first = text.value.split_whitespace().next().map(str::to_owned);
    first.or_else(|| refused(cx, &text.value, text.span, "no program"))
}

fn signal_of(cx: &mut Context<'_>, node: Node<'_>) -> Option<u8> {
    if let NodeKind::Int(number) = node.kind
        && let Ok(number) = u8::try_from(number)
    {
        return Some(number);
    }
    let text = cx.text("`signal`", node)?;
    signal::number(&text.value).or_else(|| {
        unknown_word(
            cx,
            "signal",
            &text.value,
            text.span,
            &["SIGINT", "SIGKILL", "SIGTERM", "SIGCONT", "SIGTSTP"],
        );
        None
    })
}

fn size(cx: &mut Context<'_>, what: &str, node: &Node<'_>) -> Option<u64> {
    if let NodeKind::Text { text, .. } = &node.kind {
        if let Ok(bytes) = rules::parse_size(text) {
            return Some(bytes);
        }
        let message = format!("{} in {what} is no size", quoted(text));
        cx.emit(
            Diagnostic::new(Code::InvalidSize, message)
                .at(node.span)
                .help("write bytes, or a unit: `5MB`, `4KiB`"),
        );
        return None;
    }
    number(cx, what, "a size", node)
}

fn number(cx: &mut Context<'_>, what: &str, takes: &str, node: &Node<'_>) -> Option<u64> {
    if let NodeKind::Int(number) = node.kind
        && let Ok(number) = u64::try_from(number)
    {
        return Some(number);
    }
    let report = cx.wrong_type(what, takes, node);
    cx.emit(report);
    None
}

fn refused<T>(cx: &mut Context<'_>, written: &str, span: Span, why: &str) -> Option<T> {
    cx.emit(Diagnostic::new(Code::UnknownValue, format!("{} is {why}", quoted(written))).at(span));
    None
}
