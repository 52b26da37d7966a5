//! A document written in any layout: indentations, block and flow, comments, blank lines, quotes, line ends.

use crate::random::Random;
use serde_json::Value;

/// The text of a document, laid out by chance. It says what `document` says.
pub(crate) fn write(random: &mut Random, document: &Value) -> String {
    let mut text = String::new();
    if random.one_in(6) {
        text.push_str("# about this file\n\n");
    }
    if random.one_in(3) {
        let step = 1 + random.below(4);
        text.push_str("name: importer\nserver:\n");
        block(random, document, step, step, &mut text);
        if random.one_in(2) {
            text.push_str("other:   {a:   1}\n");
        }
    } else {
        let step = 1 + random.below(4);
        block(random, document, 0, step, &mut text);
    }
    if random.one_in(5) {
        text.push_str("# the end\n");
    }
    if random.one_in(5) {
        text = text.replace('\n', "\r\n");
    }
    if random.one_in(8) {
        text.truncate(text.trim_end().len());
    }
    text
}

fn noise(random: &mut Random, indent: usize, text: &mut String) {
    if random.one_in(8) {
        text.push_str(if random.one_in(3) { "\n\n\n" } else { "\n" });
    }
    if random.one_in(9) {
        text.push_str(&" ".repeat(if random.one_in(3) { random.below(6) } else { indent }));
        text.push_str("#  a comment: {with, marks}\n");
    }
}

fn behind(random: &mut Random, text: &mut String) {
    match random.below(8) {
        0 => text.push_str("   # why"),
        1 => text.push_str("  "),
        _ => {}
    }
    text.push('\n');
}

fn gap(random: &mut Random) -> &'static str {
    if random.one_in(4) { "   " } else { " " }
}

fn block(random: &mut Random, value: &Value, indent: usize, step: usize, text: &mut String) {
    let Value::Object(members) = value else { panic!("a block is an object") };
    if members.is_empty() {
        text.push_str(&" ".repeat(indent));
        text.push_str("{}\n");
    }
    for (key, value) in members {
        noise(random, indent, text);
        text.push_str(&" ".repeat(indent));
        text.push_str(&scalar(random, key, true));
        text.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() && !random.one_in(3) => {
                behind(random, text);
                block(random, value, indent + step, step, text);
            }
            Value::Array(items) if !items.is_empty() && random.one_in(2) => {
                behind(random, text);
                let indent = if random.one_in(2) { indent } else { indent + step };
                for item in items {
                    noise(random, indent, text);
                    text.push_str(&" ".repeat(indent));
                    text.push('-');
                    text.push_str(gap(random));
                    text.push_str(&flow(random, item));
                    behind(random, text);
                }
            }
            _ => {
                text.push_str(gap(random));
                text.push_str(&flow(random, value));
                behind(random, text);
            }
        }
    }
}

fn flow(random: &mut Random, value: &Value) -> String {
    let comma = if random.one_in(3) { "," } else { ", " };
    let pad = if random.one_in(2) { " " } else { "" };
    match value {
        Value::Object(members) => {
            let inner: Vec<String> = members
                .iter()
                .map(|(key, value)| {
                    format!("{}:{}{}", scalar(random, key, true), gap(random), flow(random, value))
                })
                .collect();
            format!("{{{pad}{}{pad}}}", inner.join(comma))
        }
        Value::Array(items) => {
            let inner: Vec<String> = items.iter().map(|item| flow(random, item)).collect();
            format!("[{pad}{}{pad}]", inner.join(comma))
        }
        Value::String(text) => scalar(random, text, false),
        other => other.to_string(),
    }
}

/// Plain where it can be, else in quotes.
fn scalar(random: &mut Random, text: &str, key: bool) -> String {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-'))
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    if plain && (key || !random.one_in(3)) {
        return text.to_owned();
    }
    if random.one_in(2) && !text.contains('\'') {
        return format!("'{text}'");
    }
    serde_json::to_string(text).unwrap()
}
