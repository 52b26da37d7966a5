//! A change of a document as the lines that go and come.

use crate::diag::harmless_line;
use crate::explain::edits::{TextEdit, apply};

/// In the manner of `diff -u` with one line around each change, indented to stand in a list.
pub(super) fn unified(file: &str, before: &str, edits: &[TextEdit]) -> String {
    let mut text = String::new();
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| edit.byte_start);
    let mut hunk: Vec<TextEdit> = Vec::new();
    for edit in edits {
        // Changes of one line, or of neighbours, are shown together.
        let near = hunk.last().is_some_and(|last: &TextEdit| {
            let between = before.get(last.byte_end..edit.byte_start).unwrap_or_default();
            between.matches('\n').count() < 2
        });
        if !near && !hunk.is_empty() {
            show(&mut text, file, before, &hunk);
            hunk.clear();
        }
        hunk.push(edit);
    }
    show(&mut text, file, before, &hunk);
    text
}

fn show(text: &mut String, file: &str, before: &str, edits: &[TextEdit]) {
    let Some(after) = apply(before, edits) else { return };
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    text.push_str(&format!("     {}, line {}\n", harmless_line(file), head + 1));
    let mut put = |mark: char, line: &str| {
        text.push_str(format!("     {mark} {line}").trim_end());
        text.push('\n');
    };
    old.iter().take(head).skip(head.saturating_sub(1)).for_each(|shared| put(' ', shared));
    old.iter().take(old.len() - tail).skip(head).for_each(|gone| put('-', gone));
    new.iter().take(new.len() - tail).skip(head).for_each(|come| put('+', come));
    old.iter().skip(old.len() - tail).take(1).for_each(|shared| put(' ', shared));
}
