//! Mistakes whose meaning is plain: reported, mended in memory, and read again.
//!
//! Every mend keeps each byte's place, so the findings of the next reading point into the text as written.

use std::ops::Range;

use super::super::context::Context;
use super::items::{Items, Kind};
use super::syntax::SyntaxError;
use crate::diag::{Code, Diagnostic, Suggestion, quoted};

/// The text with its mends.
#[derive(Debug)]
pub(super) struct Mended {
    text: String,
    /// Scalars that were written without the quotes they need.
    unquoted: Vec<Range<usize>>,
    tabs: bool,
}

impl Mended {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), unquoted: Vec::new(), tabs: false }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a scalar stands where one was written without its quotes: its text is then the source as it stands.
    pub(super) fn is_unquoted(&self, range: &Range<usize>) -> bool {
        self.unquoted.iter().any(|unquoted| unquoted.start < range.end && range.start < unquoted.end)
    }

    /// Reports an error, and mends the text where it can. True asks for another reading.
    pub(super) fn mend(&mut self, context: &mut Context<'_>, items: &Items<'_>, error: &SyntaxError) -> bool {
        if let Some(range) = self.unquoted_scalar(items, error) {
            let written = context.text.get(range.clone()).unwrap_or("").to_owned();
            context.report(must_be_quoted(context, &written, range.clone()));
            self.replace(&range, b'x');
            self.unquoted.push(range);
            return true;
        }
        if !self.tabs
            && let Some(tab) = self.indenting_tab(error)
        {
            let finding = Diagnostic::new(Code::Syntax, "a tab indents this line")
                .at_saying(context.span(tab), "tab")
                .help("YAML indents with spaces only; replace every leading tab by two spaces");
            context.report(finding);
            self.tabs = true;
            self.untab();
            return true;
        }
        // A tab is no measure of indentation: what follows from a wrong guess is not told as a second mistake.
        if !self.tabs {
            context.report(error.finding(context));
        }
        false
    }

    /// A scalar that begins like something else in YAML: `*`, `@defaults`, `{a,b}_x`.
    fn unquoted_scalar(&self, items: &Items<'_>, error: &SyntaxError) -> Option<Range<usize>> {
        // `*_stream:` is read as an alias whose name ends in the colon.
        // In flow style an empty value of the alias comes between.
        if let Some(last) = items.list.iter().rev().find(|item| !item.range.is_empty())
            && matches!(last.kind, Kind::UnknownAlias)
            && self.text.get(last.range.clone()).is_some_and(|alias| alias.ends_with(':'))
        {
            return Some(last.range.start..last.range.end - 1);
        }
        let at = error.range().start;
        let rest = self.text.get(at..)?;
        if rest.starts_with(['@', '`', '*']) {
            return Some(at..at + token(rest));
        }
        let start = self.text.get(..at)?.rfind(['\n', '\r']).map_or(0, |found| found + 1);
        let line = self.text.get(start..)?;
        let start = start + (line.len() - line.trim_start_matches([' ', '-']).len());
        let line = self.text.get(start..)?.split(['\n', '\r']).next()?;
        let key = line.find(": ").or_else(|| line.strip_suffix(':').map(str::len))?;
        let key_text = line.get(..key)?;
        (key_text.starts_with(['{', '[', '*']) && is_balanced(key_text)).then_some(start..start + key)
    }

    /// The first tab in the indentation of the error's line, or of the next.
    fn indenting_tab(&self, error: &SyntaxError) -> Option<Range<usize>> {
        let at = error.range().start;
        let mut start = self.text.get(..at)?.rfind(['\n', '\r']).map_or(0, |found| found + 1);
        for _ in 0..2 {
            let line = self.text.get(start..)?;
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = line.get(..indent)?.find('\t') {
                return Some(start + tab..start + tab + 1);
            }
            if !error.is_tab() {
                return None;
            }
            start += line.find(['\n', '\r'])? + 1;
        }
        None
    }

    fn untab(&mut self) {
        let mut indenting = true;
        let mended = self.text.chars().map(|character| {
            indenting = matches!(character, '\n' | '\r') || (indenting && matches!(character, ' ' | '\t'));
            if indenting && character == '\t' { ' ' } else { character }
        });
        self.text = mended.collect();
    }

    fn replace(&mut self, range: &Range<usize>, with: u8) {
        let placeholder = char::from(with).to_string().repeat(range.len());
        if self.text.get(range.clone()).is_some() {
            self.text.replace_range(range.clone(), &placeholder);
        }
    }
}

/// The finding at a scalar that needs quotes to be one.
pub(super) fn must_be_quoted(context: &Context<'_>, written: &str, range: Range<usize>) -> Diagnostic {
    let span = context.span(range);
    let escaped = written.replace('\\', "\\\\").replace('"', "\\\"");
    Diagnostic::new(Code::Syntax, format!("{} must be quoted", quoted(written)))
        .at(span)
        .help(format!("without quotes YAML takes it for {}", meaning(written)))
        .suggest(Suggestion::review("put it in quotes", span, format!("\"{escaped}\"")))
}

fn meaning(written: &str) -> &'static str {
    match written.chars().next() {
        Some('*') => "an alias",
        Some('{') => "a mapping",
        Some('[') => "a list",
        _ => "a reserved character",
    }
}

/// The length of a plain scalar by what can end one: a comma or bracket, a comment, a colon with a blank, the line.
fn token(rest: &str) -> usize {
    let line = rest.split(['\n', '\r']).next().unwrap_or("");
    let ends = [line.find([',', ']', '}']), line.find(": "), line.find(" #")];
    let end = ends.into_iter().flatten().min().unwrap_or(line.len());
    let text = line.get(..end).unwrap_or(line).trim_end();
    text.strip_suffix(':').unwrap_or(text).len().max(1)
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for character in text.chars() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' | '\'' | ' ' => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
