//! Rows into sums by session, agent, turn or day.

use rusqlite::{Connection, Row, params};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is summed up together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// All turns of a session.
    Session,
    /// All turns of an agent.
    Agent,
    /// Each turn by itself.
    Turn,
    /// All turns of a day, in UTC.
    Day,
}

/// Which turns are looked at. Times are epoch seconds; a turn belongs to the time at which it began.
#[derive(Debug, Clone, Default)]
pub struct Span {
    /// Only of this session.
    pub session_id: Option<String>,
    /// Only of this agent.
    pub agent_id: Option<String>,
    /// Only from then on.
    pub from: Option<f64>,
    /// Only before then.
    pub to: Option<f64>,
}

/// Rows by key, and everything together.
#[derive(Debug, Serialize)]
pub struct Report {
    /// In the order of their keys.
    pub rows: Vec<Value>,
    /// As a row, without a key.
    pub totals: Value,
}

#[derive(Debug, Default)]
struct Sum {
    turns: i64,
    tokens: [Option<i64>; 5],
    costs: BTreeMap<String, f64>,
    /// When it was said, how much is used, of how much.
    context: Option<(f64, i64, Option<i64>)>,
}

const TOKENS: [&str; 5] =
    ["input_tokens", "output_tokens", "thought_tokens", "cached_read_tokens", "cached_write_tokens"];

/// Sums up.
///
/// # Errors
/// Those of the database.
pub fn report(db: &Connection, grouping: Grouping, span: &Span) -> rusqlite::Result<Report> {
    let key = match grouping {
        Grouping::Session => "sessions.session_id",
        Grouping::Agent => "sessions.agent_id",
        Grouping::Turn => "turns.turn_id",
        Grouping::Day => "date(coalesce(turns.started_at, turns.queued_at), 'unixepoch')",
    };
    let sql = format!(
        "SELECT {key}, usage.at, usage.input_tokens, usage.output_tokens, usage.thought_tokens, usage.cached_read_tokens,
            usage.cached_write_tokens, usage.cost_total - usage.cost_before, usage.currency, usage.context_used,
            usage.context_size
         FROM turns JOIN sessions ON sessions.no = turns.session
            LEFT JOIN usage ON usage.session = turns.session AND usage.turn_id = turns.turn_id
         WHERE (?1 IS NULL OR sessions.session_id = ?1) AND (?2 IS NULL OR sessions.agent_id = ?2)
            AND (?3 IS NULL OR coalesce(turns.started_at, turns.queued_at) >= ?3)
            AND (?4 IS NULL OR coalesce(turns.started_at, turns.queued_at) < ?4)"
    );
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = query.query(params![span.session_id, span.agent_id, span.from, span.to])?;
    let (mut sums, mut totals) = (BTreeMap::<String, Sum>::new(), Sum::default());
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        sums.entry(key).or_default().add(row)?;
        totals.add(row)?;
    }
    // How full the contexts of several sessions are is no sum of anything.
    totals.context = None;
    let rows = sums.iter().map(|(key, sum)| sum.shown(Some(key))).collect();
    Ok(Report { rows, totals: totals.shown(None) })
}

impl Sum {
    fn add(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.turns += 1;
        for (at, sum) in self.tokens.iter_mut().enumerate() {
            if let Some(count) = row.get::<_, Option<i64>>(2 + at)? {
                *sum = Some(sum.unwrap_or(0).saturating_add(count));
            }
        }
        if let (Some(cost), Some(currency)) =
            (row.get::<_, Option<f64>>(7)?, row.get::<_, Option<String>>(8)?)
        {
            *self.costs.entry(currency).or_default() += cost;
        }
        if let (Some(at), Some(used)) = (row.get::<_, Option<f64>>(1)?, row.get::<_, Option<i64>>(9)?)
            && self.context.is_none_or(|(before, ..)| at >= before)
        {
            self.context = Some((at, used, row.get(10)?));
        }
        Ok(())
    }

    fn shown(&self, key: Option<&str>) -> Value {
        let mut shown = json!({"turns": self.turns, "reported": self.reported()});
        let mut put = |name: &str, value: Value| {
            if let Some(members) = shown.as_object_mut() {
                members.insert(name.to_owned(), value);
            }
        };
        if let Some(key) = key {
            put("key", key.into());
        }
        for (name, count) in TOKENS.iter().zip(self.tokens) {
            if let Some(count) = count {
                put(name, count.into());
            }
        }
        let costs: Vec<Value> = self
            .costs
            .iter()
            .map(|(currency, amount)| json!({"amount": amount, "currency": currency}))
            .collect();
        match costs.as_slice() {
            [] => {}
            [cost] => put("cost", cost.clone()),
            // Amounts of different currencies are not added up.
            _ => put("costs", Value::Array(costs)),
        }
        if let Some((_, used, size)) = self.context {
            put("context", json!({"used": used, "size": size}));
        }
        shown
    }

    fn reported(&self) -> &'static str {
        let tokens = self.tokens.iter().any(Option::is_some);
        match (tokens, self.context.is_some(), self.costs.is_empty()) {
            (true, ..) => "full",
            (false, true, _) => "context_only",
            (false, false, false) => "cost_only",
            (false, false, true) => "none",
        }
    }
}
