//! `test`: asks policies the calls of their tests, and says what the tests leave out.

mod load;
mod measure;
mod view;

use super::Exit;
use super::check_config::{Format, print_as};
use super::output::Output;
use super::report::Report;
use clap::Args;
use load::Group;
use policy_lang::render::{self, RenderOptions};
use policy_lang::testing::{Suite, run};

/// Run policy tests: calls with the answers that are expected of the policy
///
/// A FILE holds `tests:`, beside the `policy:` that they are about, or is a template with `server_tests:`. A test is a
/// `request` (an endpoint or a request line, and what the call carries) and what to `expect` (the verdict, its code, status
/// and rule, the limits that hold). Nothing runs: each call is decided as the server would decide it.
///
/// Exit status: 0 every test passed, 1 one failed, a suite is wrong, or --min-score is missed, 2 usage, 3 a file cannot be
/// read, 70 internal error.
#[derive(Debug, Args)]
pub(super) struct Test {
    /// Suite, or template with tests; may be given several times
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Policy to test, in place of the one that each suite names
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// Preset to use in place of the policy's
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// List the rules that no test decides
    #[arg(long)]
    coverage: bool,
    /// Change each rule in turn and list the changes that no test notices, with a score
    #[arg(long)]
    mutate: bool,
    /// Fail where fewer mutants in a hundred are noticed
    #[arg(long, value_name = "PERCENT", requires = "mutate", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_score: Option<u8>,
    /// One JSON document on stdout, whatever happens; the same as --format json
    #[arg(long)]
    json: bool,
    /// How to print the result
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Format>,
}

impl Test {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let format = if self.json { Format::Json } else { self.format.unwrap_or(Format::Human) };
        let mut report = Report::new("test", false);
        let options = RenderOptions { color: output.colour(), ..RenderOptions::default() };
        let mut page = String::new();
        match load::groups(&self) {
            Ok(groups) => self.ask(&groups, &mut report, &mut page, options),
            Err(failure) => report.refuse(failure),
        }
        if format == Format::Human {
            output.print(&page);
            if let Some(message) = &report.message {
                output.complain(message, report.help.as_deref());
            }
            return report.exit();
        }
        print_as(&report, format, output)
    }

    fn ask(&self, groups: &[Group], report: &mut Report, page: &mut String, options: RenderOptions) {
        let mut tally = view::Tally::default();
        for group in groups {
            let mut findings = group.findings();
            if let Some(policy) = &group.outcome.policy {
                for suite in &group.suites {
                    let asked = run(suite, policy, &|place| group.locate(place));
                    tally.passed += asked.iter().filter(|asked| asked.fault.is_none()).count();
                    tally.total += asked.len();
                    findings.extend(asked.into_iter().filter_map(|asked| asked.fault));
                }
            }
            report.findings(&group.outcome.sources, &findings);
            let drawn = render::human(&group.outcome.sources, &findings, options);
            if !page.is_empty() && !drawn.is_empty() {
                page.push('\n');
            }
            page.push_str(&drawn);
            report.tested(&group.outcome);
            self.measure(group, &mut tally);
        }
        if let (Some(wanted), Some(score)) = (self.min_score, tally.score())
            && score < usize::from(wanted)
        {
            report.fail(
                Exit::Failure,
                format!("{score} of 100 mutants are noticed, and --min-score asks for {wanted}"),
            );
        }
        if !page.is_empty() {
            page.push('\n');
        }
        page.push_str(&tally.human(report));
        report.tests = Some(tally.json());
    }

    /// What the tests of one policy leave out.
    fn measure(&self, group: &Group, tally: &mut view::Tally) {
        let suites: Vec<&Suite> = group.suites.iter().collect();
        if self.coverage {
            tally.coverage.extend(measure::coverage(group, &suites));
        }
        if self.mutate {
            tally.mutation.extend(measure::mutation(group, &suites, self.preset.as_deref()));
        }
    }
}
