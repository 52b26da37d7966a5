//! `check-config`: judges policy documents, and explains what they decide.

pub(super) mod commands;
mod explain;
mod fix;
mod levels;
mod load;
mod skipped;

use super::Exit;
use super::output::Output;
use super::report::{Report, github, human, json, junit, sarif};
use crate::boot::commands::Declared;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, ValueEnum};
pub(super) use levels::code;
pub(super) use load::{Source, format, sources};
use policy_lang::source::SourceMap;

/// Check a policy, and explain what it decides
///
/// Without --policy it checks what `serve` would load here, and says which source that was; only then do the variables of
/// this environment count. A FILE is a template with a `server:` block, a bare document in YAML or JSON, a compiled set, or
/// `-` for standard input.
///
/// Exit status: 0 clean, 1 findings (errors; warnings too with --strict; a missed --expect), 2 usage, 3 a named input
/// cannot be read or the result not be written, 70 internal error. It is the same in every format.
#[derive(Debug, Args)]
pub(super) struct CheckConfig {
    /// Document to check; may be given several times, each judged on its own
    #[arg(long, value_name = "FILE")]
    policy: Vec<String>,
    /// Preset to use in place of the document's
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Directory that relative paths start from, in place of the document's
    #[arg(long, value_name = "DIR")]
    base_dir: Option<String>,
    /// Commands and routes that `serve` would be given: checked too, and known to the policy
    #[arg(long, value_name = "FILE|MODULE")]
    commands: Option<String>,
    /// Let warnings fail as errors do
    #[arg(long)]
    strict: bool,
    /// Make the safe suggestions in the files, and check what comes out; none that could widen access is made
    #[arg(long)]
    fix: bool,
    /// With --fix: show the patch and write nothing
    #[arg(long, requires = "fix")]
    dry_run: bool,
    /// One JSON document on stdout, whatever happens; the same as --format json
    #[arg(long)]
    json: bool,
    /// How to print the result
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Format>,
    #[command(flatten)]
    levels: levels::LevelArgs,
    #[command(flatten)]
    explain: explain::ExplainArgs,
}

/// How a report is printed. Every format is a view of the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: the lines, underlined
    Human,
    /// One document
    Json,
    /// One line a finding, then a summary
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands, shown beside the lines of a pull request
    Github,
    /// JUnit XML, for test reports
    Junit,
}

impl Format {
    /// Whether a report of this form says which revision the policy is.
    const fn names_the_revision(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }
}

impl CheckConfig {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        let format = self.format();
        let mut report = Report::new("check-config", self.strict);
        let mut view = human::View::new(output.colour());
        // Counting out every key of every endpoint is only worth it where it is printed.
        let keys = format == Format::Json;
        self.judge(&mut report, &mut view, keys);
        print(&report, &view, format, output)
    }

    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format.unwrap_or(Format::Human) }
    }

    fn judge(&self, report: &mut Report, view: &mut human::View, keys: bool) {
        let levels = match self.levels.read(self.strict) {
            Ok(levels) => levels,
            Err(message) => return report.fail(Exit::Usage, message),
        };
        let mut sources = match load::sources(&self.policy) {
            Ok(sources) => sources,
            Err(failure) => return report.refuse(failure),
        };
        let declared = match &self.commands {
            None => Declared::default(),
            Some(name) => match commands::judge(name, &sources, &levels, report, view) {
                Ok(declared) => declared,
                Err(failure) => return report.refuse(failure),
            },
        };
        if self.explain.asked() && sources.len() > 1 {
            return report.fail(Exit::Usage, "--explain explains one policy; give --policy once");
        }
        for source in sources.iter_mut().filter(|_| self.fix) {
            if let Err(failure) = fix::fix(source, self, &levels, &declared, report, view) {
                return report.refuse(failure);
            }
        }
        let alone = sources.len() == 1;
        let mut left_out = Vec::new();
        for source in &sources {
            let done = load::compile(source, self, &levels, &declared, |run| {
                report.add(&run.outcome);
                report.subjects.extend(source.bytes.is_some().then(|| source.name.clone()));
                left_out.extend_from_slice(&run.outcome.left_out);
                view.add(source, &run.outcome, self.preset.as_deref());
                skipped::name(report, source, self, run);
                if alone {
                    report.resolve(&run.outcome, run.inputs.catalogue, keys);
                    self.explain.answer(report, view, run);
                }
            });
            if let Err(failure) = done {
                report.refuse(failure);
            }
        }
        if report.summary.errors == 0 && report.message.is_none() {
            let mut unused = self.levels.unused(&left_out);
            levels.apply(&mut unused);
            report.findings(&SourceMap::new(), &unused);
            view.drawn(&SourceMap::new(), &unused);
        }
    }
}

/// What clap says of a wrong call. Where the call asks for JSON, so is this; `None` prints as clap does.
pub(super) fn usage(mut error: clap::Error, output: &mut Output) -> Exit {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    let ours = ["check-config", "test"].into_iter().find(|command| first.as_deref() == Some(*command));
    let json = arguments.any(|argument| argument == "--json" || argument == "--format=json");
    if first.as_deref() == Some("check-config") {
        point_to_policy(&mut error);
    }
    let said = error.render().to_string();
    if first.as_deref() == Some("diff") && json {
        output.print(&super::diff::usage(said.trim_end()));
    } else if let (Some(command), true) = (ours, json) {
        let mut report = Report::new(command, false);
        report.fail(Exit::Usage, said.trim_end());
        output.print(&json::document(&report));
    } else {
        let _ = error.print();
    }
    Exit::Usage
}

/// A document that stands alone, as other tools take it.
fn point_to_policy(error: &mut clap::Error) {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(named))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && !named.starts_with('-')
    {
        let tip = format!("name the document with '--policy {named}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Prints a report; the exit status is the report's own.
fn print(report: &Report, view: &human::View, format: Format, output: &mut Output) -> Exit {
    if format != Format::Human {
        return print_as(report, format, output);
    }
    output.print(&view.render(report));
    if let Some(message) = &report.message {
        output.complain(message, report.help.as_deref());
    }
    report.exit()
}

/// Prints a report in a format for programs.
pub(super) fn print_as(report: &Report, format: Format, output: &mut Output) -> Exit {
    match format {
        Format::Human | Format::Json => output.print(&json::document(report)),
        Format::Jsonl => output.print(&json::lines(report)),
        Format::Sarif => output.print(&sarif::render(report)),
        Format::Github => output.print(&github::render(report)),
        Format::Junit => output.print(&junit::render(report)),
    }
    report.exit()
}
