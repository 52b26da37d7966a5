//! The keys that lead to a place of a text. Told by indentation and brackets alone, because a text that is being written can
//! rarely be parsed.

/// Where a byte stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct At {
    /// The keys above it, outermost first, quotes taken off; `[]` stands for an element of a list.
    pub path: Vec<String>,
    /// The key of its own line or braces, when it stands behind the colon.
    pub key: Option<String>,
    /// What is written of the word up to it.
    pub word: String,
    /// Where that word begins.
    pub start: usize,
    /// Whether the word stands in quotes.
    pub quoted: bool,
}

/// Where the byte `offset` of a text stands. None within a comment.
#[must_use]
pub fn at(text: &str, offset: usize) -> Option<At> {
    let before = text.get(..offset)?;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.get(line_start..)?;
    if in_comment(line) {
        return None;
    }
    let (mut path, mut key) = (Vec::new(), None);
    let inline = inline(line);
    above(before.get(..line_start)?, inline.column, inline.item, &mut path);
    path.extend(inline.path);
    key = inline.key.or(key.take());
    let word_length = line.len() - line.rfind([' ', '\t', '{', '[', ',', '"', '\'']).map_or(0, |at| at + 1);
    // A word within quotes may hold blanks; the quote begins it.
    let quotes = line.matches('"').count() % 2 == 1 || line.matches('\'').count() % 2 == 1;
    let start = if quotes {
        line_start + line.rfind(['"', '\'']).map_or(0, |at| at + 1)
    } else {
        offset - word_length
    };
    let word = text.get(start..offset)?.to_owned();
    Some(At { path, key, word, start, quoted: quotes })
}

/// What a line says by itself, up to the place.
struct Inline {
    /// The column of its first word, behind the dashes.
    column: usize,
    /// Whether it begins with a dash.
    item: bool,
    path: Vec<String>,
    key: Option<String>,
}

/// Stands for a step that the lines above have told already.
const HERE: &str = "\0";

fn inline(line: &str) -> Inline {
    let column = line.len() - line.trim_start().len();
    let mut rest = line.trim_start();
    let mut indent = column;
    let item = rest == "-" || rest.starts_with("- ");
    while let Some(inner) = rest.strip_prefix('-').filter(|inner| inner.is_empty() || inner.starts_with(' '))
    {
        let trimmed = inner.trim_start();
        indent += rest.len() - trimmed.len();
        rest = trimmed;
    }
    let (mut path, mut key): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut characters = rest.chars().peekable();
    while let Some(character) = characters.next() {
        if let Some(open) = quote {
            if character == open {
                quote = None;
            } else {
                word.push(character);
            }
            continue;
        }
        match character {
            '"' | '\'' if word.trim().is_empty() => quote = Some(character),
            '{' => {
                // Braces right behind a dash are the element itself.
                let element = if item && path.is_empty() { HERE } else { "[]" };
                path.push(key.take().unwrap_or_else(|| element.to_owned()));
                word.clear();
            }
            '[' => {
                path.push(key.take().unwrap_or_else(|| "[]".to_owned()));
                path.push("[]".to_owned());
                word.clear();
            }
            '}' => {
                path.pop();
                key = None;
                word.clear();
            }
            ']' => {
                path.pop();
                path.pop();
                key = None;
                word.clear();
            }
            ',' => {
                key = None;
                word.clear();
            }
            ':' if characters.peek().is_none_or(|next| next.is_whitespace()) => {
                key = Some(word.trim().to_owned());
                word.clear();
            }
            other => word.push(other),
        }
    }
    path.retain(|step| step != HERE);
    Inline { column: if item { column } else { indent }, item, path, key }
}

/// The keys of the lines above that the line at a column belongs to.
fn above(text: &str, column: usize, item: bool, path: &mut Vec<String>) {
    let mut keys: Vec<String> = Vec::new();
    if item {
        keys.push("[]".to_owned());
    }
    // A list may stand at the column of its key.
    let mut limit = if item { column + 1 } else { column };
    for line in text.lines().rev() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let dashed = content == "-" || content.starts_with("- ");
        let inner = if dashed {
            indent + content.len() - content.trim_start_matches(['-', ' ']).len()
        } else {
            indent
        };
        if inner < limit
            && let Some(key) = open_key(content.trim_start_matches("- ").trim_start())
        {
            keys.push(key);
            limit = inner;
        }
        if dashed && indent < limit.max(1) && inner >= limit {
            // The line belongs to an element of a list whose first line this is.
            keys.push("[]".to_owned());
            limit = indent + 1;
        }
        if limit == 0 {
            break;
        }
    }
    path.extend(keys.into_iter().rev());
}

/// The key of a line that opens a block: nothing but a comment, an anchor or a tag stands behind its colon.
fn open_key(content: &str) -> Option<String> {
    let (key, rest) = match content.chars().next()? {
        quote @ ('"' | '\'') => {
            let inner = content.get(1..)?;
            let end = inner.find(quote)?;
            (inner.get(..end)?, inner.get(end + 1..)?.trim_start().strip_prefix(':')?)
        }
        _ => content.split_once(": ").or_else(|| content.strip_suffix(':').map(|key| (key, "")))?,
    };
    let rest = rest.trim();
    (rest.is_empty() || rest.starts_with(['#', '&', '!'])).then(|| key.trim().to_owned())
}

fn in_comment(line: &str) -> bool {
    let mut quote: Option<char> = None;
    let mut before = ' ';
    for character in line.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if matches!(character, '"' | '\'') && !before.is_alphanumeric() => quote = Some(character),
            None if character == '#' && before.is_whitespace() => return true,
            None => {}
        }
        before = character;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the `|` of a text stands: the path, the key, the word.
    fn shown(text: &str) -> String {
        let offset = text.find('|').unwrap();
        match at(&text.replacen('|', "", 1), offset) {
            None => "nowhere".to_owned(),
            Some(at) => format!("{} {:?} {:?}", at.path.join("."), at.key.unwrap_or_default(), at.word),
        }
    }

    #[test]
    fn places_are_told_in_every_style() {
        for (text, wanted) in [
            ("pre|", r#" "" "pre""#),
            ("server:\n  pre|", r#"server "" "pre""#),
            ("server:\n  preset: lo|", r#"server "preset" "lo""#),
            (
                "server:\n  endpoints:\n    shell:\n      limits:\n        ma|",
                r#"server.endpoints.shell.limits "" "ma""#,
            ),
            (
                "server:\n  endpoints:\n    shell:\n      enabled: true\n    up|",
                r#"server.endpoints "" "up""#,
            ),
            ("endpoints:\n  shell: { limits: { ma|", r#"endpoints.shell.limits "" "ma""#),
            ("endpoints:\n  shell: { enabled: t|", r#"endpoints.shell "enabled" "t""#),
            (
                "endpoints:\n  \"files_*\": { scopes: [\"files:r|",
                r#"endpoints.files_*.scopes.[] "" "files:r""#,
            ),
            ("auth:\n  tokens:\n    - id: ci\n      sc|", r#"auth.tokens.[] "" "sc""#),
            (
                "auth:\n  tokens:\n    - { id: ci, scopes: [files:read, fi|",
                r#"auth.tokens.[].scopes.[] "" "fi""#,
            ),
            ("a:\n  b:\n  - x|", r#"a.b.[] "" "x""#),
            ("a: 1 # com|", "nowhere"),
            ("a:\n  b: # why\n    c|", r#"a.b "" "c""#),
        ] {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }
}
