//! A flow collection on one line, its blanks put right: `{ a: 1 }`, `[a, b]`, `{}`.

use std::ops::Range;

/// The collection at `range`, in which scalars are left as they are. `scalars` are those of the whole text.
pub(super) fn format(text: &str, range: &Range<usize>, scalars: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(range.len() + 8);
    let mut scalars = scalars.iter().skip_while(|scalar| scalar.end <= range.start).peekable();
    let mut at = range.start;
    // Whether blanks stood before what comes next, where they are not settled by what stands around.
    let mut gap = false;
    while at < range.end {
        if let Some(scalar) = scalars.next_if(|scalar| scalar.start == at) {
            token(&mut out, gap, text.get(scalar.clone()).unwrap_or_default());
            (at, gap) = (scalar.end.max(at + 1), false);
            continue;
        }
        let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        at += character.len_utf8();
        match character {
            ' ' | '\t' => {
                gap = true;
                continue;
            }
            '{' => {
                token(&mut out, gap, "{ ");
            }
            '[' => token(&mut out, gap, "["),
            '}' => {
                trim(&mut out);
                out.push_str(if out.ends_with('{') { "}" } else { " }" });
            }
            ']' => {
                trim(&mut out);
                out.push(']');
            }
            ',' => {
                trim(&mut out);
                out.push_str(", ");
            }
            ':' => {
                trim(&mut out);
                out.push_str(": ");
            }
            // Anchors, aliases and tags.
            other => {
                let mut word = [0; 4];
                token(&mut out, gap, other.encode_utf8(&mut word));
            }
        }
        gap = false;
    }
    trim(&mut out);
    out
}

fn token(out: &mut String, gap: bool, text: &str) {
    if gap && !out.is_empty() && !out.ends_with([' ', '[']) {
        out.push(' ');
    }
    out.push_str(text);
}

fn trim(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Layout;

    #[test]
    fn blanks_are_put_right() {
        for (before, after) in [
            ("{a: 1,b: [ x,y ]}", "{ a: 1, b: [x, y] }"),
            ("{ }", "{}"),
            ("[ ]", "[]"),
            ("{a:   {b: c}  ,  d: 'x,  y'}", "{ a: { b: c }, d: 'x,  y' }"),
            ("{\"a\":1}", "{ \"a\": 1 }"),
            ("[&x a, *x, !!str 1]", "[&x a, *x, !!str 1]"),
            ("[a, ]", "[a,]"),
        ] {
            let layout = Layout::of(before);
            assert_eq!(format(before, &(0..before.len()), &layout.scalars), after, "{before}");
        }
    }
}
