//! Splits a command line into words as Python's `shlex.split(text)` does, which is what the wire format promises.
//!
//! Check and execution share this one split: a second splitter that read `#` or `\r` otherwise would be a way around
//! the command rules. Nothing in here knows a shell: `;`, `&&`, `$( )` and newlines are ordinary text.

/// Why a text is no command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// A quote is opened and never closed.
    #[error("no closing quotation")]
    NoClosingQuote,
    /// The text ends in a backslash.
    #[error("no escaped character")]
    NoEscapedCharacter,
}

/// Where the reader stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between words.
    Blank,
    /// Inside a word, outside quotes.
    Word,
    /// Inside the quotes of this character.
    Quoted(char),
    /// Just behind a backslash; the state to go back to.
    Escaped(Within),
}

/// What a backslash stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Word,
    DoubleQuotes,
}

/// The words of `text`. An empty or blank text has none.
///
/// # Errors
/// An unclosed quote, or a backslash at the very end.
pub fn split(text: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    let mut word = String::new();
    // Quotes make a word even where nothing is in them.
    let mut quoted = false;
    let mut state = State::Blank;
    for c in text.chars() {
        match state {
            State::Blank | State::Word => match c {
                ' ' | '\t' | '\r' | '\n' => {
                    if quoted || !word.is_empty() {
                        words.push(std::mem::take(&mut word));
                        quoted = false;
                    }
                    state = State::Blank;
                }
                '\\' => state = State::Escaped(Within::Word),
                '\'' | '"' => {
                    quoted = true;
                    state = State::Quoted(c);
                }
                _ => {
                    word.push(c);
                    state = State::Word;
                }
            },
            State::Quoted(quote) => match c {
                _ if c == quote => state = State::Word,
                '\\' if quote == '"' => state = State::Escaped(Within::DoubleQuotes),
                _ => word.push(c),
            },
            State::Escaped(Within::Word) => {
                word.push(c);
                state = State::Word;
            }
            State::Escaped(Within::DoubleQuotes) => {
                // Between double quotes a backslash escapes only itself and the quote; elsewhere it stays.
                if c != '\\' && c != '"' {
                    word.push('\\');
                }
                word.push(c);
                state = State::Quoted('"');
            }
        }
    }
    match state {
        State::Quoted(_) => return Err(WordsError::NoClosingQuote),
        State::Escaped(_) => return Err(WordsError::NoEscapedCharacter),
        State::Blank | State::Word => {}
    }
    if quoted || !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

#[cfg(test)]
mod tests;
