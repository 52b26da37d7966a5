//! Which element is meant: CSS, `text=…`, `xpath=…`, and chains of them with `>>`, as Playwright writes them.
//!
//! `text=Word` is the smallest element whose text holds the word, whatever the case; in quotes the text must be exactly
//! that. A selector that begins with a quote is a text, one that begins with `//` an XPath, any other is CSS.

use super::super::error::BrowserError;
use serde::Serialize;

/// One step of a chain: looked for within what the step before it found.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Step {
    engine: &'static str,
    body: String,
    /// Of a text: nothing more and nothing less.
    exact: bool,
}

/// Reads a selector.
pub(super) fn parse(selector: &str) -> Result<Vec<Step>, BrowserError> {
    parts(selector).into_iter().map(step).collect()
}

/// Splits at `>>` outside quotes.
fn parts(selector: &str) -> Vec<&str> {
    let (mut parts, mut begun, mut quote, mut escaped) = (Vec::new(), 0, None, false);
    let mut rest = selector.char_indices().peekable();
    while let Some((at, char)) = rest.next() {
        match (char, quote) {
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            ('"' | '\'', None) => quote = Some(char),
            (_, Some(open)) if char == open => quote = None,
            ('>', None) if rest.peek().is_some_and(|(_, next)| *next == '>') => {
                parts.push(selector.get(begun..at).unwrap_or_default());
                rest.next();
                begun = at + 2;
            }
            _ => {}
        }
    }
    parts.push(selector.get(begun..).unwrap_or_default());
    parts
}

fn step(part: &str) -> Result<Step, BrowserError> {
    let part = part.trim();
    let named = part.split_once('=').filter(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
    });
    let (engine, body) = match named {
        Some(("css", body)) => ("css", body),
        Some(("text", body)) => ("text", body),
        Some(("xpath", body)) => ("xpath", body),
        Some((name, _)) => {
            let why = format!("selector: unknown engine `{name}`; there are css, text and xpath");
            return Err(BrowserError::Selector(why));
        }
        None if part.starts_with(['"', '\'']) => ("text", part),
        None if part.starts_with("//") || part.starts_with("..") => ("xpath", part),
        None => ("css", part),
    };
    let body = body.trim();
    let quoted = |quote| body.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let exact = if engine == "text" { quoted('"').or_else(|| quoted('\'')) } else { None };
    let (body, exact) = match exact {
        Some(inner) => (inner.replace("\\\"", "\"").replace("\\'", "'"), true),
        None => (body.to_owned(), false),
    };
    if body.is_empty() {
        return Err(BrowserError::Selector("selector: a part of it is empty".to_owned()));
    }
    Ok(Step { engine, body, exact })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn selectors_are_read_as_playwright_reads_them() {
        let read = |selector: &str| match parse(selector) {
            Err(error) => error.to_string(),
            Ok(steps) => {
                let steps = steps.iter().map(|step| {
                    format!("{}{}[{}]", step.engine, if step.exact { "!" } else { "" }, step.body)
                });
                steps.collect::<Vec<_>>().join(" ")
            }
        };
        for (selector, wanted) in [
            ("#a .b", "css[#a .b]"),
            ("css=#a", "css[#a]"),
            ("a[href=\"x=y\"]", "css[a[href=\"x=y\"]]"),
            ("a > b", "css[a > b]"),
            ("text=Log in", "text[Log in]"),
            ("text= \"Log in\" ", "text![Log in]"),
            ("'it\\'s'", "text![it's]"),
            ("//div[@id='x']", "xpath[//div[@id='x']]"),
            ("#form >> text=\"a >> b\" >> css=i", "css[#form] text![a >> b] css[i]"),
            ("role=button", "selector: unknown engine `role`; there are css, text and xpath"),
            ("", "selector: a part of it is empty"),
            ("a >> ", "selector: a part of it is empty"),
        ] {
            assert_eq!(read(selector), wanted, "{selector}");
        }
    }
}
