//! A change of a document as the lines that go and come.

use crate::explain::edits::{TextEdit, apply};

/// Lines that are shown around a change.
const CONTEXT: usize = 1;

/// In the form of `diff -u`, indented to stand in a list.
pub(super) fn unified(file: &str, before: &str, edits: &[TextEdit]) -> String {
    let Some(after) = apply(before, edits) else { return String::new() };
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let room = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let from = head.saturating_sub(CONTEXT);
    let mut text = format!("     {file}, line {}\n", head + 1);
    let mut line = |mark: char, line: &str| text.push_str(&format!("     {mark} {line}\n"));
    old.iter().take(head).skip(from).for_each(|shared| line(' ', shared));
    old.iter().take(old.len() - tail).skip(head).for_each(|gone| line('-', gone));
    new.iter().take(new.len() - tail).skip(head).for_each(|come| line('+', come));
    old.iter().skip(old.len() - tail).take(CONTEXT).for_each(|shared| line(' ', shared));
    text
}
