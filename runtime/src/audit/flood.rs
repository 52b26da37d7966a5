//! Refusals that repeat. The first of a kind are written one by one; the rest of the same stretch becomes one line with
//! their exact number.

use super::entry::{Entry, stamp, text};
use std::collections::HashMap;
use std::fmt::Write;
use std::time::{Duration, Instant, SystemTime};

/// Equal refusals that are written in full
const WRITTEN: u64 = 20;
/// in one stretch of this length.
const STRETCH: Duration = Duration::from_secs(5);
/// Kinds that are told apart at the same time; beyond, everything is summarised as one kind.
const KINDS: usize = 512;

/// What becomes of a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It gets a line of its own.
    Written,
    /// It is in a summary.
    Counted,
}

/// What makes refusals equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Kind {
    identity: Option<String>,
    endpoint: Option<String>,
    code: Option<String>,
    rule: Option<String>,
    status: Option<u16>,
}

#[derive(Debug)]
struct Stretch {
    began: Instant,
    seen: u64,
}

/// The kinds of the present stretch.
#[derive(Debug, Default)]
pub(super) struct Flood(HashMap<Kind, Stretch>);

impl Flood {
    /// Counts a refusal.
    pub(super) fn judge(&mut self, entry: &Entry<'_>, now: Instant) -> Verdict {
        let mut kind = Kind {
            identity: entry.identity.map(str::to_owned),
            endpoint: entry.endpoint.map(str::to_owned),
            code: entry.code.map(str::to_owned),
            rule: entry.rule.map(str::to_owned),
            status: entry.status,
        };
        if self.0.len() >= KINDS && !self.0.contains_key(&kind) {
            kind = Kind::default();
        }
        let stretch = self.0.entry(kind).or_insert(Stretch { began: now, seen: 0 });
        stretch.seen += 1;
        if stretch.seen <= WRITTEN { Verdict::Written } else { Verdict::Counted }
    }

    /// Ends the stretches that are over, or all, and appends their summaries.
    pub(super) fn collect(&mut self, now: Instant, all: bool, batch: &mut Vec<u8>) {
        self.0.retain(|kind, stretch| {
            let over = all || now.saturating_duration_since(stretch.began) >= STRETCH;
            if over && stretch.seen > WRITTEN {
                batch.extend_from_slice(kind.summary(stretch.seen - WRITTEN).as_bytes());
            }
            !over
        });
    }
}

impl Kind {
    fn summary(&self, count: u64) -> String {
        let mut line = format!("{{\"time\":\"{}\",\"event\":\"summary\"", stamp(SystemTime::now()));
        text(&mut line, "identity", self.identity.as_deref());
        text(&mut line, "endpoint", self.endpoint.as_deref());
        text(&mut line, "decision", Some("deny"));
        text(&mut line, "code", self.code.as_deref());
        text(&mut line, "rule", self.rule.as_deref());
        if let Some(status) = self.status {
            let _ = write!(line, ",\"status\":{status}");
        }
        let _ = writeln!(line, ",\"count\":{count}}}");
        line
    }
}

#[cfg(test)]
mod tests {
    use super::{Flood, STRETCH, Verdict, WRITTEN};
    use crate::audit::{Entry, Event};
    use crate::endpoint::RequestId;
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, Instant, SystemTime};

    #[test]
    fn counts_are_exact() {
        let entry = Entry {
            time: SystemTime::UNIX_EPOCH,
            event: Event::Call,
            request_id: RequestId { boot: 0, number: 0 },
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            identity: None,
            method: "GET",
            endpoint: Some("shell"),
            allowed: false,
            code: Some("unauthorized"),
            rule: None,
            status: Some(401),
            duration: Duration::ZERO,
            bytes_in: 0,
            bytes_out: 0,
            subject: None,
            facts: &[],
        };
        let (mut flood, start, mut batch) = (Flood::default(), Instant::now(), Vec::new());
        let written = (0..1000).filter(|_| flood.judge(&entry, start) == Verdict::Written).count() as u64;
        assert_eq!(written, WRITTEN);
        flood.collect(start + STRETCH - Duration::from_millis(1), false, &mut batch);
        assert_eq!(batch, b"");
        flood.collect(start + STRETCH, false, &mut batch);
        let line: serde_json::Value = serde_json::from_slice(&batch).unwrap();
        assert_eq!(line["count"], 1000 - WRITTEN);
        assert_eq!(line["code"], "unauthorized");
        assert_eq!(flood.judge(&entry, start + STRETCH), Verdict::Written);
    }
}
