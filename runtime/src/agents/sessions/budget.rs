//! What a session may use up, and what it has. Agents report late, so that one turn may overshoot; by how much is said.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The part of a budget at which its caller is warned.
const WARNED: f64 = 0.8;

/// What may be used; without limit where a member is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Money, in `currency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The currency of `cost`; `USD` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Tokens of all kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

/// What has been used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Money by currency, over the whole session.
    pub cost: BTreeMap<String, f64>,
    /// Tokens of all turns whose agents say.
    pub tokens: u64,
    /// Turns that were started.
    pub turns: u64,
    /// The last cumulative cost that the running agent has told, by currency: a new process may count anew.
    pub told: BTreeMap<String, f64>,
}

/// One measure of a budget that is used up, or nearly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// `cost`, `tokens` or `turns`.
    pub measure: &'static str,
    /// What may be used.
    pub limit: f64,
    /// What has been used.
    pub used: f64,
    /// By how much it is passed.
    pub over: f64,
    /// Of a cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

impl Budget {
    /// What is wrong with it, in words.
    ///
    /// # Errors
    /// A cost that is no amount.
    pub fn check(&self) -> Result<(), &'static str> {
        match self.cost {
            Some(cost) if !cost.is_finite() || cost < 0.0 => Err("budget.cost must not be negative"),
            _ => Ok(()),
        }
    }

    fn currency(&self) -> &str {
        self.currency.as_deref().unwrap_or("USD")
    }

    /// Every measure with its limit and what is used of it.
    fn measures(&self, spent: &Spent) -> impl Iterator<Item = Mark> {
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
        let count = |limit: Option<u64>, used: u64| limit.map(|limit| (limit as f64, used as f64));
        let cost = self.cost.map(|limit| (limit, spent.cost.get(self.currency()).copied().unwrap_or(0.0)));
        let currency = self.currency().to_owned();
        [
            ("cost", cost),
            ("tokens", count(self.tokens, spent.tokens)),
            ("turns", count(self.turns, spent.turns)),
        ]
        .into_iter()
        .filter_map(move |(measure, pair)| {
            let (limit, used) = pair?;
            let currency = (measure == "cost").then(|| currency.clone());
            Some(Mark { measure, limit, used, over: (used - limit).max(0.0), currency })
        })
    }

    /// The first measure that leaves nothing for a further turn.
    #[must_use]
    pub fn exhausted(&self, spent: &Spent) -> Option<Mark> {
        self.measures(spent).find(|mark| mark.used >= mark.limit)
    }

    /// The first measure that a running turn has passed. The number of turns is looked at before a turn alone.
    #[must_use]
    pub fn exceeded(&self, spent: &Spent) -> Option<Mark> {
        self.measures(spent).find(|mark| mark.measure != "turns" && mark.used > mark.limit)
    }

    /// The first measure that is nearly used up.
    #[must_use]
    pub fn nearly(&self, spent: &Spent) -> Option<Mark> {
        self.measures(spent).find(|mark| mark.limit > 0.0 && mark.used >= WARNED * mark.limit)
    }
}

impl Spent {
    /// Takes the cumulative cost of a usage update.
    pub fn take_cost(&mut self, update: &Value) {
        let Some(cost) = update.get("cost") else { return };
        let amount = cost.get("amount").and_then(Value::as_f64).filter(|amount| amount.is_finite());
        let currency = cost.get("currency").and_then(Value::as_str);
        if let (Some(amount), Some(currency)) = (amount, currency) {
            let told = self.told.insert(currency.to_owned(), amount).unwrap_or(0.0);
            // Less than before: the agent has begun to count anew.
            let more = if amount >= told { amount - told } else { amount };
            *self.cost.entry(currency.to_owned()).or_insert(0.0) += more.max(0.0);
        }
    }

    /// Takes the usage of a prompt's answer.
    pub fn take_tokens(&mut self, usage: &Value) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let total = count("totalTokens").unwrap_or_else(|| {
            count("inputTokens").unwrap_or(0).saturating_add(count("outputTokens").unwrap_or(0))
        });
        self.tokens = self.tokens.saturating_add(total);
    }

    /// The agent starts anew and counts from nothing, or goes on: what it says next decides.
    pub fn restarted(&mut self) {
        self.told.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Mark, Spent};
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn costs_are_told_as_sums() {
        let mut spent = Spent::default();
        for (amount, sum) in [(0.1, 0.1), (0.25, 0.25), (0.25, 0.25), (0.05, 0.3)] {
            spent.take_cost(&json!({"used": 1, "size": 2, "cost": {"amount": amount, "currency": "USD"}}));
            assert!((spent.cost["USD"] - sum).abs() < 1e-9, "{spent:?}");
        }
        spent.take_cost(&json!({"cost": {"amount": "1", "currency": "USD"}}));
        spent.take_cost(&json!({}));
        assert!((spent.cost["USD"] - 0.3).abs() < 1e-9);
    }

    #[test]
    fn tokens_are_added_up() {
        let mut spent = Spent::default();
        spent.take_tokens(&json!({"totalTokens": 10, "inputTokens": 9}));
        spent.take_tokens(&json!({"inputTokens": 2, "outputTokens": 3}));
        spent.take_tokens(&json!({}));
        assert_eq!(spent.tokens, 15);
    }

    #[test]
    fn what_is_used_up() {
        let budget = Budget { cost: Some(1.0), turns: Some(2), ..Budget::default() };
        let spent =
            |cost: f64, turns| Spent { cost: [("USD".to_owned(), cost)].into(), turns, ..Spent::default() };
        let mark = |measure, limit, used, over| {
            Some(Mark { measure, limit, used, over, currency: (measure == "cost").then(|| "USD".to_owned()) })
        };
        assert_eq!(budget.exhausted(&spent(0.5, 1)), None);
        assert_eq!(budget.exhausted(&spent(1.0, 1)), mark("cost", 1.0, 1.0, 0.0));
        assert_eq!(budget.exceeded(&spent(1.0, 2)), None);
        assert_eq!(budget.exceeded(&spent(1.5, 0)), mark("cost", 1.0, 1.5, 0.5));
        assert_eq!(budget.exhausted(&spent(0.0, 2)), mark("turns", 2.0, 2.0, 0.0));
        assert_eq!(budget.nearly(&spent(0.79, 0)), None);
        assert_eq!(budget.nearly(&spent(0.8, 0)), mark("cost", 1.0, 0.8, 0.0));
        let euros = Budget { currency: Some("EUR".to_owned()), ..budget };
        assert_eq!(euros.exhausted(&spent(5.0, 0)), None);
    }

    proptest! {
        #[test]
        fn spending_never_falls(amounts in prop::collection::vec(0.0f64..100.0, 0..20)) {
            let (mut spent, mut last) = (Spent::default(), 0.0);
            for amount in amounts {
                spent.take_cost(&json!({"cost": {"amount": amount, "currency": "USD"}}));
                let now = spent.cost["USD"];
                prop_assert!(now >= last);
                last = now;
            }
        }
    }
}
