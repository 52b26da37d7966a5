//! A YAML text formatted line by line.
//!
//! Indentation is structure, so a stack of columns tells how deep a line stands: each column of the text has its column in
//! the result. Lines within a scalar or a flow collection move with the line on which it begins.

use super::flow;
use crate::parse::Layout;
use std::ops::Range;

/// The text with the lines of `regions` formatted.
pub(super) fn format(text: &str, layout: &Layout, regions: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for region in regions {
        out.push_str(text.get(from..region.start).unwrap_or_default());
        Formatter { text, layout, stack: Vec::new(), shift: 0, blank: 0, pending: Vec::new() }
            .region(region.clone(), &mut out);
        from = region.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// A column of the text, its column in the result, and whether the dashes of a list stand there.
#[derive(Debug, Clone, Copy)]
struct Frame {
    old: usize,
    new: usize,
    list: bool,
}

struct Formatter<'a> {
    text: &'a str,
    layout: &'a Layout,
    stack: Vec<Frame>,
    /// How far the last line of content moved to the right.
    shift: isize,
    /// Blank lines since the last line.
    blank: usize,
    /// Comments on lines of their own that wait for the line below: their column, their text, blank lines before them.
    pending: Vec<(usize, String, bool)>,
}

impl Formatter<'_> {
    fn region(mut self, region: Range<usize>, out: &mut String) {
        let mut at = region.start;
        let whole = region.end == self.text.len();
        while at < region.end {
            let rest = self.text.get(at..region.end).unwrap_or_default();
            let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let end = at + length;
            let line = self.text.get(at..end).unwrap_or_default();
            self.line(at, line, out);
            at = end;
        }
        self.comments(None, out);
        if whole && !out.is_empty() && !out.ends_with('\n') {
            out.push_str(if self.text.contains("\r\n") { "\r\n" } else { "\n" });
        }
    }

    fn line(&mut self, start: usize, line: &str, out: &mut String) {
        let newline = if line.ends_with("\r\n") {
            "\r\n"
        } else if line.ends_with('\n') {
            "\n"
        } else {
            ""
        };
        let bom = if start == 0 && line.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        let body = line.trim_start_matches('\u{feff}');
        let content = body.trim();
        let column = body.len() - body.trim_start_matches([' ', '\t']).len();
        let first = start + bom.len() + column;
        out.push_str(bom);
        if self.inside_scalar(start + bom.len(), first) {
            return self.moved(start + bom.len(), body, out);
        }
        if content.is_empty() {
            self.blank += 1;
            return;
        }
        if self.inside_flow(start + bom.len()) {
            self.gap(out);
            return self.continued(start, body, newline, out);
        }
        if content.starts_with('#') {
            let gap = std::mem::take(&mut self.blank) > 0;
            self.pending.push((column, format!("{}{newline}", body.trim()), gap));
            return;
        }
        self.content(column, first, start + line.len(), newline, out);
    }

    /// One blank line where there were some, none at the beginning.
    fn gap(&mut self, out: &mut String) {
        if std::mem::take(&mut self.blank) > 0 {
            self.blank_line(out);
        }
    }

    fn blank_line(&self, out: &mut String) {
        if !out.is_empty() && out != "\u{feff}" {
            out.push_str(if self.text.contains("\r\n") { "\r\n" } else { "\n" });
        }
    }

    /// A line of block structure.
    fn content(&mut self, column: usize, first: usize, end: usize, newline: &str, out: &mut String) {
        let dash = self.is_dash(first);
        let new = self.place(column, dash);
        let blank = std::mem::take(&mut self.blank) > 0;
        self.comments(Some((column, new)), out);
        if blank {
            self.blank_line(out);
        }
        self.shift = signed(new) - signed(column);
        out.extend(std::iter::repeat_n(' ', new));
        let (mut at, mut old, mut target) = (first, column, new);
        while self.is_dash(at) {
            let rest = self.text.get(at + 1..end).unwrap_or_default();
            let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            out.push('-');
            if rest.trim().is_empty() {
                out.push_str(newline);
                return;
            }
            out.push(' ');
            (at, old, target) = (at + 1 + gap, old + 1 + gap, target + 2);
            let nested = self.is_dash(at);
            self.stack.push(Frame { old, new: target, list: nested });
        }
        // What continues on further lines moves as far as its own beginning did.
        self.shift = signed(target) - signed(old);
        self.rest(at, end, out);
        out.push_str(newline);
    }

    /// The column of a line in the result. The stack is left with the line's own column on top.
    fn place(&mut self, column: usize, dash: bool) -> usize {
        while self.stack.last().is_some_and(|top| top.old > column) {
            self.stack.pop();
        }
        match self.stack.last().copied() {
            Some(top) if top.old == column && top.list == dash => top.new,
            // A list at the column of its key, and what comes after it.
            Some(top) if top.old == column && dash => self.push(column, top.new + 2, true),
            Some(top) if top.old == column => {
                self.stack.pop();
                match self.stack.last().copied().filter(|top| top.old == column) {
                    Some(under) => under.new,
                    None => self.push(column, top.new, dash),
                }
            }
            Some(top) => self.push(column, top.new + 2, dash),
            None => self.push(column, 0, dash),
        }
    }

    fn push(&mut self, old: usize, new: usize, list: bool) -> usize {
        self.stack.push(Frame { old, new, list });
        new
    }

    /// The comments before a line: at the line's column, or deeper where they stood in the block that ends there.
    fn comments(&mut self, next: Option<(usize, usize)>, out: &mut String) {
        for (column, comment, blank) in std::mem::take(&mut self.pending) {
            if blank {
                self.blank_line(out);
            }
            let new = match next {
                Some((old, new)) if column <= old => new,
                Some((old, new)) => new + (column - old).div_ceil(2).min(1) * 2,
                None => self.stack.iter().rfind(|frame| frame.old <= column).map_or(0, |frame| frame.new),
            };
            out.extend(std::iter::repeat_n(' ', new));
            out.push_str(&comment);
        }
    }

    /// From the first token of a line to its end: one blank after the colon, flow collections put right.
    fn rest(&self, from: usize, end: usize, out: &mut String) {
        let mut at = from;
        let scalars = &self.layout.scalars;
        let key =
            scalars.binary_search_by_key(&at, |scalar| scalar.start).ok().and_then(|at| scalars.get(at));
        if let Some(key) = key.filter(|key| key.end < end) {
            let behind = self.text.get(key.end..end).unwrap_or_default();
            let colon = behind.trim_start_matches(' ');
            if let Some(value) = colon.strip_prefix(':') {
                out.push_str(self.text.get(key.clone()).unwrap_or_default());
                out.push(':');
                let written = value.trim_start_matches([' ', '\t']);
                at = end - written.len();
                let comment = written.starts_with('#');
                if comment {
                    out.push_str(value.get(..value.len() - written.len()).unwrap_or_default());
                } else if !written.trim().is_empty() {
                    out.push(' ');
                }
            }
        }
        while at < end {
            let next = self.layout.flows.partition_point(|flow| flow.start < at);
            let Some(flow) = self.layout.flows.get(next).filter(|flow| flow.end <= end) else { break };
            out.push_str(self.text.get(at..flow.start).unwrap_or_default());
            out.push_str(&flow::format(self.text, flow, &self.layout.scalars));
            at = flow.end;
        }
        let tail = self.text.get(at..end).unwrap_or_default();
        out.push_str(tail.trim_end());
    }

    /// A line within a scalar: moved with its first line, its own blanks kept.
    fn moved(&mut self, start: usize, body: &str, out: &mut String) {
        // Blank lines counted before belong to the scalar as well.
        for _ in 0..std::mem::take(&mut self.blank) {
            self.blank_line(out);
        }
        let newline = if body.ends_with("\r\n") {
            "\r\n"
        } else if body.ends_with('\n') {
            "\n"
        } else {
            ""
        };
        if body.trim().is_empty() {
            return out.push_str(body);
        }
        let lead = body.len() - body.trim_start_matches(' ').len();
        let new = usize::try_from(signed(lead) + self.shift).unwrap_or(0);
        out.extend(std::iter::repeat_n(' ', new));
        let end = start + body.len() - newline.len();
        // Blanks at the end of the last line stand behind the scalar.
        let rest = body.get(lead..body.len() - newline.len()).unwrap_or_default();
        out.push_str(if self.goes_on(end) { rest } else { rest.trim_end() });
        out.push_str(newline);
    }

    /// Whether a scalar goes on behind the end of a line.
    fn goes_on(&self, end: usize) -> bool {
        let at = self.layout.scalars.partition_point(|scalar| scalar.end <= end);
        self.layout.scalars.get(at).is_some_and(|scalar| scalar.start < end)
    }

    /// A line within a flow collection.
    fn continued(&self, start: usize, body: &str, newline: &str, out: &mut String) {
        let lead = body.len() - body.trim_start_matches([' ', '\t']).len();
        let new = usize::try_from(signed(lead) + self.shift).unwrap_or(0);
        let end = start + body.len();
        out.extend(std::iter::repeat_n(' ', new));
        let rest = body.get(lead..body.len() - newline.len()).unwrap_or_default();
        out.push_str(if self.goes_on(end) { rest } else { rest.trim_end() });
        out.push_str(newline);
    }

    /// Whether the line that begins at `start` with its first character at `first` lies within a scalar of several lines.
    fn inside_scalar(&self, start: usize, first: usize) -> bool {
        let at = self.layout.scalars.partition_point(|scalar| scalar.end <= start);
        self.layout.scalars.get(at).is_some_and(|scalar| scalar.start < start && first < scalar.end)
    }

    fn inside_flow(&self, start: usize) -> bool {
        let at = self.layout.flows.partition_point(|flow| flow.end <= start);
        self.layout.flows.get(at).is_some_and(|flow| flow.start < start)
    }

    /// Whether an item of a list begins at a byte.
    fn is_dash(&self, at: usize) -> bool {
        let mut rest = self.text.get(at..).unwrap_or_default().bytes();
        rest.next() == Some(b'-')
            && rest.next().is_none_or(|next| matches!(next, b' ' | b'\t' | b'\n' | b'\r'))
    }
}

fn signed(column: usize) -> isize {
    isize::try_from(column).unwrap_or(isize::MAX)
}
