//! The counts of a run, for people and for programs.

use crate::cli::report::Report;
use serde_json::{Value, json};
use std::fmt::Write;

/// Counts over every suite.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) total: usize,
    pub(super) passed: usize,
    pub(super) coverage: Vec<Measured<Gap>>,
    pub(super) mutation: Vec<Measured<Mutant>>,
}

/// How much of something is done, and what is missing.
#[derive(Debug)]
pub(super) struct Measured<T> {
    pub(super) total: usize,
    pub(super) done: usize,
    pub(super) missing: Vec<T>,
}

/// A rule of which keys are decided by no test.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) rule: String,
    pub(super) at: Option<String>,
    pub(super) keys: Vec<&'static str>,
    pub(super) whole: bool,
}

/// A change that no test notices.
#[derive(Debug)]
pub(super) struct Mutant {
    pub(super) rule: String,
    pub(super) key: &'static str,
    pub(super) change: String,
    pub(super) at: Option<String>,
}

impl Tally {
    /// Noticed mutants in a hundred; none where none were made.
    pub(super) fn score(&self) -> Option<usize> {
        let (total, done) = sums(&self.mutation);
        (done * 100).checked_div(total)
    }

    /// The last lines of the page.
    pub(super) fn human(&self, report: &Report) -> String {
        let mut text = String::new();
        let wrong = report.summary.errors - (self.total - self.passed).min(report.summary.errors);
        if self.total == 0 {
            text.push_str("no test was asked");
        } else {
            let _ = write!(text, "{}: {} passed", count(self.total, "test"), self.passed);
        }
        if self.passed < self.total {
            let _ = write!(text, ", {} failed", self.total - self.passed);
        }
        if wrong > 0 {
            let before = if self.total == 0 { ":" } else { "," };
            let _ = write!(text, "{before} {} in the files", count(wrong, "mistake"));
        }
        text.push('\n');
        if !self.coverage.is_empty() {
            self.gaps(&mut text);
        }
        if !self.mutation.is_empty() {
            self.survivors(&mut text);
        }
        text
    }

    fn gaps(&self, text: &mut String) {
        let (total, done) = sums(&self.coverage);
        let _ = writeln!(text, "\ncoverage: {done} of {} decided by a test", count(total, "rule key"));
        let gaps = || self.coverage.iter().flat_map(|measured| &measured.missing);
        let rows = gaps().map(|gap| {
            let keys = gap.keys.join(", ");
            let what = if gap.whole && gap.keys.len() > 1 { format!("nothing of it: {keys}") } else { keys };
            [gap.rule.clone(), gap.at.clone().unwrap_or_default(), what]
        });
        table(text, rows.collect());
    }

    fn survivors(&self, text: &mut String) {
        let (total, done) = sums(&self.mutation);
        let score = self.score().map_or_else(String::new, |score| format!(", score {score}"));
        let _ = writeln!(text, "\nmutants: {done} of {total} noticed{score}");
        let survivors = || self.mutation.iter().flat_map(|measured| &measured.missing);
        let rows = survivors().map(|mutant| {
            let what = format!("{}: {}", mutant.key, mutant.change);
            [mutant.rule.clone(), mutant.at.clone().unwrap_or_default(), what]
        });
        table(text, rows.collect());
    }

    /// The `tests` member of the report.
    pub(super) fn json(&self) -> Value {
        let mut value =
            json!({"total": self.total, "passed": self.passed, "failed": self.total - self.passed});
        let Some(members) = value.as_object_mut() else { return value };
        if !self.coverage.is_empty() {
            let (total, done) = sums(&self.coverage);
            let missing: Vec<Value> = (self.coverage.iter().flat_map(|measured| &measured.missing))
                .map(|gap| json!({"rule": gap.rule, "at": gap.at, "keys": gap.keys}))
                .collect();
            members
                .insert("coverage".to_owned(), json!({"total": total, "decided": done, "missing": missing}));
        }
        if !self.mutation.is_empty() {
            let (total, done) = sums(&self.mutation);
            let missing: Vec<Value> = (self.mutation.iter().flat_map(|measured| &measured.missing))
                .map(|one| json!({"rule": one.rule, "at": one.at, "key": one.key, "change": one.change}))
                .collect();
            let score = self.score();
            let mutation = json!({"total": total, "noticed": done, "score": score, "survivors": missing});
            members.insert("mutation".to_owned(), mutation);
        }
        value
    }
}

fn sums<T>(all: &[Measured<T>]) -> (usize, usize) {
    (all.iter().map(|one| one.total).sum(), all.iter().map(|one| one.done).sum())
}

fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Rows of three columns, the first two as wide as their widest.
fn table(text: &mut String, rows: Vec<[String; 3]>) {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let (first, second) = (width(0), width(1));
    for [rule, at, what] in &rows {
        let _ = writeln!(text, "  {rule:first$}  {at:second$}  {what}");
    }
}
