//! `diff`: what a change of a policy opens, at which line, with an example.

mod accept;
mod git;
mod load;
mod pairs;
mod report;
mod view;

use super::Exit;
use super::check_config::Source;
use super::check_config::commands::template;
use super::output::Output;
use super::report::{github, sarif};
use clap::{Args, ValueEnum};
use load::Sides;
use report::Comparison;
use report::DiffReport;

/// Say what a change of a policy opens and closes, with the line and a call that shows it
///
/// OLD and NEW are each a template, a bare document, a compiled set, `-`, `git:REV:path`, or a directory whose files are
/// matched by name. Every key of every endpoint is compared by what is decided, not by what is written; each call that is
/// shown was put to both sides.
///
/// Exit status: 0 compared, 1 a document has errors or an accept file needs work, 2 usage, 3 a named input cannot be
/// read, 4 access was widened and --deny-widening asks, 70 internal error. It is the same in every format.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// What holds today
    #[arg(value_name = "OLD")]
    old: String,
    /// What shall hold
    #[arg(value_name = "NEW")]
    new: String,
    /// Fail where a call is permitted that was refused, unless the accept file lets it through
    #[arg(long)]
    deny_widening: bool,
    /// Widenings that were reviewed: under `accept` a list of `endpoint`, `key`, `reason`, `author`, `expires`
    #[arg(long, value_name = "FILE")]
    accept: Option<String>,
    /// Groups that `ABX_SERVER_ENABLED_GROUPS` opens where these policies are served
    #[arg(long, value_name = "A,B")]
    enabled_groups: Option<String>,
    /// Commands and routes that NEW is served with, and OLD too unless --old-commands is given
    #[arg(long, value_name = "FILE|MODULE")]
    commands: Option<String>,
    /// Commands and routes that OLD is served with
    #[arg(long, value_name = "FILE|MODULE")]
    old_commands: Option<String>,
    /// One JSON document on stdout, whatever happens; the same as --format json
    #[arg(long)]
    json: bool,
    /// How to print the result
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Format>,
}

/// How a comparison is printed. Every format is a view of the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: the lines of both sides, underlined
    Human,
    /// One document
    Json,
    /// SARIF 2.1.0, which marks the lines that widened
    Sarif,
    /// Workflow commands, shown beside the lines of a pull request
    Github,
}

impl Diff {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let format = if self.json { Format::Json } else { self.format.unwrap_or(Format::Human) };
        let mut report = DiffReport::new(self.deny_widening, output.colour());
        self.judge(&mut report);
        match format {
            Format::Human => {
                output.print(&report.page());
                if let Some(message) = &report.base.message {
                    output.complain(message, report.base.help.as_deref());
                }
            }
            Format::Json => output.print(&report.document()),
            Format::Sarif => output.print(&sarif::render(&report.flat())),
            Format::Github => output.print(&github::render(&report.flat())),
        }
        report.base.exit()
    }

    fn judge(&self, report: &mut DiffReport) {
        let names = match pairs::pairs(&self.old, &self.new) {
            Ok(names) => names,
            Err(failure) => return report.base.refuse(failure),
        };
        // A template that is asked what it declares is not given the secrets that these policies name.
        let asked = self.commands.is_some() || self.old_commands.is_some();
        let policies: Vec<Source> = if asked { names.sources() } else { Vec::new() };
        let commands = |name: Option<&String>| {
            name.map(|name| template(name, &policies)).transpose().map(Option::unwrap_or_default)
        };
        let declared = (
            commands(self.old_commands.as_ref().or(self.commands.as_ref())),
            commands(self.commands.as_ref()),
        );
        let (before, after) = match declared {
            (Ok(before), Ok(after)) => (before, after),
            (Err(failure), _) | (_, Err(failure)) => return report.base.refuse(failure),
        };
        if let Some(name) = &self.accept {
            match accept::accepted(name) {
                Ok(file) => report.take(file),
                Err(failure) => return report.base.refuse(failure),
            }
        }
        for (old, new) in names.matched {
            let sides = [load::Side::of(&before), load::Side::of(&after)];
            let groups = self.enabled_groups.as_deref();
            match load::compare(old, new, sides, groups) {
                Ok(Sides { old: Ok(old), new: Ok(new), diff }) => {
                    report.compared.push(Comparison { old, new, diff });
                }
                Ok(Sides { old, new, .. }) => {
                    for outcome in [old.err(), new.err()].into_iter().flatten() {
                        report.refused(&outcome);
                    }
                }
                Err(failure) => report.base.refuse(failure),
            }
        }
        report.added = names.added;
        report.removed = names.removed;
        report.finish();
    }
}

/// What clap says of a wrong call, as the document that `--json` promises.
pub(super) fn usage(message: &str) -> String {
    let mut report = DiffReport::new(false, false);
    report.base.fail(Exit::Usage, message);
    report.document()
}
