//! What was measured, a line a figure: the median, the spread, and the goal beside it.

use std::process::ExitCode;

/// What a median should be.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

pub use Goal::{AtLeast, AtMost};

/// One figure, of as many rounds as there are values.
pub struct Row {
    what: String,
    unit: &'static str,
    goal: Goal,
    values: Vec<f64>,
}

impl Row {
    pub fn new(what: impl Into<String>, unit: &'static str, goal: Goal, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { what: what.into(), unit, goal, values }
    }

    fn median(&self) -> f64 {
        self.values[self.values.len() / 2]
    }

    fn holds(&self) -> bool {
        match self.goal {
            AtLeast(goal) => self.median() >= goal,
            AtMost(goal) => self.median() <= goal,
        }
    }
}

/// Prints all, and fails where a goal is missed.
pub fn print(rows: &[Row]) -> ExitCode {
    println!("{:<48} {:>10} {:>23} {:>15} {:>8}", "", "median", "from, to", "goal", "");
    for row in rows {
        let shown = |value: f64| if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
        let spread = format!("{} to {}", shown(row.values[0]), shown(row.values[row.values.len() - 1]));
        let goal = match row.goal {
            AtLeast(goal) => format!("at least {goal}"),
            AtMost(goal) => format!("at most {goal}"),
        };
        let verdict = if row.holds() { "" } else { "MISSED" };
        let Row { what, unit, .. } = row;
        println!("{what:<48} {:>10} {spread:>23} {goal:>15} {unit:<8} {verdict}", shown(row.median()));
    }
    if rows.iter().all(Row::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
