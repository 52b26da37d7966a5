//! What a pull request waits for: `check-config`, `test` and `diff` as whole commands, and an editor at every keystroke.
//! `cargo bench -p runtime --bench gate`, or `-- NAME…` for some of them.
//!
//! Where `cedar` (`cargo install cedar-policy-cli`) and `check-jsonschema` (`pip install check-jsonschema`) are on `PATH`, they do the
//! same job on the same rules: validate them against a schema, and ask them the same calls. Cedar compares two policies only
//! with `symcc` and a solver, over requests whose paths no pattern folds, so that `diff` stands alone. Rounds are
//! interleaved; what counts is the ratio of the medians of one run.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a bench that meets something odd should stop, and says what it has measured"
)]

#[path = "../../../tests/lsp/client.rs"]
mod client;
mod editor;
mod inputs;
#[path = "../../../policy-lang/benches/support/policies.rs"]
#[expect(dead_code, reason = "each bench takes what it needs")]
mod policies;

use inputs::{CASES, Inputs};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds of each row; the first warms up and does not count.
const ROUNDS: usize = 8;

/// A command line: the program, and what it is asked.
type Line = (&'static str, Vec<&'static str>);

/// One row: what our command and those of others do.
struct Row {
    name: &'static str,
    ours: Vec<&'static str>,
    /// The status that says that it did what is measured.
    status: i32,
    others: Vec<Line>,
    /// The most that it may take.
    goal: Option<Duration>,
}

fn rows() -> Vec<Row> {
    let row = |name, ours, goal| Row { name, ours, status: 0, others: Vec::new(), goal };
    let goal = |ms| Some(Duration::from_millis(ms));
    vec![
        Row {
            others: vec![
                ("cedar", vec!["validate", "--schema", "lines.cedarschema", "--policies", "lines.cedar"]),
                ("check-jsonschema", vec!["--schemafile", "policy.schema.json", "lines.yaml"]),
            ],
            ..row("check_1000_lines", vec!["check-config", "--policy", "lines.yaml"], None)
        },
        Row {
            others: vec![(
                "cedar",
                vec![
                    "run-tests",
                    "--schema",
                    "lines.cedarschema",
                    "--policies",
                    "lines.cedar",
                    "--tests",
                    "suite.json",
                ],
            )],
            ..row("test_20000_cases", vec!["test", "suite.yaml"], goal(1000 * CASES as u64 / 100_000))
        },
        row("diff_1000_lines_one", vec!["diff", "lines.yaml", "lines-one.yaml"], goal(100)),
        row("diff_1000_lines_every", vec!["diff", "lines.yaml", "lines-every.yaml"], goal(100)),
        row("diff_100_kb_one", vec!["diff", "long.yaml", "long-one.yaml"], None),
        row("diff_100_kb_every", vec!["diff", "long.yaml", "long-every.yaml"], None),
        row("diff_100_kb_covered", vec!["diff", "long.yaml", "long-covered.yaml"], None),
    ]
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|part| name.contains(part.as_str()));
    let inputs = Inputs::new();
    let dir = inputs.dir.path();
    let there: Vec<&str> = ["cedar", "check-jsonschema"].into_iter().filter(|name| is_there(name)).collect();
    println!(
        "{:<22} {:<17} {:>9} {:>9} {:>9} {:>7} {:>7}",
        "", "", "median", "least", "most", "ratio", "goal"
    );
    for row in rows().iter().filter(|row| wanted(row.name)) {
        let present: Vec<&Line> = row.others.iter().filter(|(name, _)| there.contains(name)).collect();
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); 1 + present.len()];
        for round in 0..ROUNDS {
            let ours = run(env!("CARGO_BIN_EXE_agent-sandbox-server"), &row.ours, row.status, dir);
            let theirs = present.iter().map(|(name, args)| run(name, args, 0, dir));
            for (times, taken) in times.iter_mut().zip(std::iter::once(ours).chain(theirs)) {
                times.extend((round > 0).then_some(taken));
            }
        }
        let ours = median(&times[0]);
        let names = std::iter::once("ours").chain(present.iter().map(|(name, _)| *name));
        for (at, (name, times)) in names.zip(&times).enumerate() {
            let ratio = if at == 0 { String::new() } else { format!("{:.2}", ratio(ours, median(times))) };
            let goal = row
                .goal
                .filter(|_| at == 0)
                .map_or_else(String::new, |goal| format!("{} ms", goal.as_millis()));
            print(if at == 0 { row.name } else { "" }, name, times, &ratio, &goal);
        }
        for (name, _) in row.others.iter().filter(|(name, _)| !there.contains(name)) {
            println!("{:<22} {name:<17} not on PATH: left out", "");
        }
        if row.name.starts_with("test") {
            println!("{:<22} {:<17} {:.0} cases a second", "", "ours", CASES as f64 / ours.as_secs_f64());
        }
    }
    if wanted("editor") {
        print("editor_10000_lines", "ours", &editor::keystrokes(&inputs), "", "50 ms");
    }
}

fn is_there(name: &str) -> bool {
    let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn run(program: &str, args: &[&str], status: i32, dir: &Path) -> Duration {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env("CI_TOKEN", "a token of the bench").stdin(Stdio::null());
    let begun = Instant::now();
    let output = command.output().unwrap();
    let taken = begun.elapsed();
    assert_eq!(
        output.status.code(),
        Some(status),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    taken
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}

fn print(row: &str, name: &str, times: &[Duration], ratio: &str, goal: &str) {
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    let (least, most) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
    println!(
        "{row:<22} {name:<17} {:>9} {:>9} {:>9} {ratio:>7} {goal:>7}",
        ms(median(times)),
        ms(least),
        ms(most)
    );
}
