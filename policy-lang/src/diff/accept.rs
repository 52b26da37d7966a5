//! The accept file: widenings that somebody reviewed, each for a time.
//!
//! ```yaml
//! accept:
//!   - endpoint: files_upload_stream   # an id, a glob over ids, or auth.tokens
//!     key: limits.max_bytes           # a rule key, or the id of an identity
//!     reason: nightly imports need room
//!     author: ada
//!     expires: 2027-03-31             # the last day
//! ```
//!
//! An entry that fits no widening is a finding, and so is one whose day has passed, which lets nothing through: what was
//! accepted once is never a standing permission.

use super::change::{Change, Subject};
use crate::endpoint::IdGlob;
use crate::parse::{Format, Node, NodeKind, parse};
use crate::source::{SourceId, SourceMap, Span};

/// One accepted widening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The endpoint's id, a glob over ids, or `auth.tokens`.
    pub endpoint: String,
    /// The rule key, or the id of an identity.
    pub key: String,
    /// Why it may be.
    pub reason: String,
    /// Who says so.
    pub author: String,
    /// The last day on which it holds, `YYYY-MM-DD`.
    pub expires: String,
    /// Where it stands.
    pub span: Span,
}

/// Something wrong with an accept file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `accept-invalid`, `accept-unused` or `accept-expired`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub help: &'static str,
    /// Where.
    pub span: Span,
}

/// Every code of a fault, with what it means.
pub const CODES: [(&str, &str); 3] = [
    ("accept-invalid", "an entry of the accept file that cannot be read"),
    ("accept-unused", "an entry of the accept file that fits no widening"),
    ("accept-expired", "an entry of the accept file whose last day has passed"),
];

const SHAPE: &str = "under `accept` stands a list; an entry has `endpoint`, `key`, `reason`, `author` and `expires: YYYY-MM-DD`";

impl Entry {
    /// Whether it speaks of this change.
    #[must_use]
    pub fn fits(&self, change: &Change) -> bool {
        let endpoint = match &change.subject {
            Subject::Endpoint(id) => {
                self.endpoint == *id || IdGlob::new(&self.endpoint).is_ok_and(|glob| glob.is_match(id))
            }
            other => self.endpoint == other.name(),
        };
        let identity = matches!(&change.subject, Subject::Identity(id) if *id == self.key);
        endpoint && (identity || self.key == change.aspect.as_str())
    }

    /// Whether it holds on a day, `YYYY-MM-DD`.
    #[must_use]
    pub fn holds(&self, today: &str) -> bool {
        today <= self.expires.as_str()
    }
}

/// Reads an accept file into `sources`: its entries, and what is wrong with others.
pub fn read(sources: &mut SourceMap, name: &str, bytes: Vec<u8>) -> (Vec<Entry>, Vec<Fault>) {
    let source = sources.add_bytes(name, bytes);
    let (root, found) = parse(sources, source, Format::Auto);
    let mut faults: Vec<Fault> = found
        .into_iter()
        .map(|found| Fault {
            code: "accept-invalid",
            message: found.message,
            help: SHAPE,
            span: found.primary.map_or(start(source), |label| label.span),
        })
        .collect();
    let mut entries = Vec::new();
    let whole = root.as_ref().map_or(start(source), |root| root.span);
    let members = root.as_ref().and_then(Node::entries).unwrap_or_default();
    for member in members.iter().filter(|member| member.key != "accept") {
        faults.push(invalid(format!("unknown key `{}`", member.key), member.key_span));
    }
    match root.as_ref().and_then(|root| root.get("accept")).map(|list| (&list.kind, list.span)) {
        Some((NodeKind::Seq(items), _)) => {
            for item in items {
                match entry(item) {
                    Ok(entry) => entries.push(entry),
                    Err((message, span)) => faults.push(invalid(message, span)),
                }
            }
        }
        Some((_, span)) => faults.push(invalid("`accept` is no list".to_owned(), span)),
        None if faults.is_empty() => faults.push(invalid("there is no `accept`".to_owned(), whole)),
        None => {}
    }
    (entries, faults)
}

/// What is wrong with entries beside the changes of a comparison: those that fit no widening, and those past their day.
#[must_use]
pub fn faults(entries: &[Entry], widened: &[&Change], today: &str) -> Vec<Fault> {
    let fault = |entry: &Entry| {
        let what = format!("`{}` of `{}`", entry.key, entry.endpoint);
        if !entry.holds(today) {
            return Some(Fault {
                code: "accept-expired",
                message: format!("what was accepted for {what} held until {}", entry.expires),
                help: "review it again, or take the entry out",
                span: entry.span,
            });
        }
        (!widened.iter().any(|change| entry.fits(change))).then(|| Fault {
            code: "accept-unused",
            message: format!("nothing widens {what}"),
            help: "take the entry out: it would let a later change through unseen",
            span: entry.span,
        })
    };
    entries.iter().filter_map(fault).collect()
}

const fn start(source: SourceId) -> Span {
    Span { source, start: 0, end: 0 }
}

fn invalid(message: String, span: Span) -> Fault {
    Fault { code: "accept-invalid", message, help: SHAPE, span }
}

fn entry(node: &Node<'_>) -> Result<Entry, (String, Span)> {
    const KEYS: [&str; 5] = ["endpoint", "key", "reason", "author", "expires"];
    let Some(members) = node.entries() else {
        return Err((format!("{} where an entry was expected", node.describe()), node.span));
    };
    if let Some(unknown) = members.iter().find(|member| !KEYS.contains(&&*member.key)) {
        return Err((format!("unknown key `{}`", unknown.key), unknown.key_span));
    }
    let text = |key: &str| {
        let value = node.get(key).ok_or_else(|| (format!("the entry has no `{key}`"), node.span))?;
        match &value.kind {
            NodeKind::Text { text, .. } if !text.trim().is_empty() => Ok((text.to_string(), value.span)),
            _ => Err((format!("`{key}` is {} where text was expected", value.describe()), value.span)),
        }
    };
    let (expires, day) = text("expires")?;
    if !is_day(&expires) {
        return Err((format!("`{expires}` is no day"), day));
    }
    Ok(Entry {
        endpoint: text("endpoint")?.0,
        key: text("key")?.0,
        reason: text("reason")?.0,
        author: text("author")?.0,
        expires,
        span: text("endpoint")?.1.to(text("key")?.1),
    })
}

/// `YYYY-MM-DD`, near enough: days are compared as texts.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, width: usize| {
        let plain = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| part.parse::<u32>().ok()).flatten()
    };
    match parts.as_slice() {
        [year, month, day] => {
            number(year, 4).is_some()
                && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    }
}
