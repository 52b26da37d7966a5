//! The keys of a US keyboard.

use serde_json::{Value, json};

/// A key and what it writes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Its name: the character itself, or `Enter`, `Tab`.
    name: String,
    /// Where it is: `KeyA`, `Digit1`.
    code: String,
    /// Its number on Windows, which pages still read.
    number: u32,
    text: String,
}

/// Keys that are no letters: unshifted, shifted, code, number.
const OTHERS: [(char, char, &str, u32); 22] = [
    ('0', ')', "Digit0", 48),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
    (' ', ' ', "Space", 32),
];

/// The key that writes a character, if there is one.
pub(super) fn of(character: char) -> Option<Key> {
    let key = |name: &str, code: &str, number, text: &str| Key {
        name: name.to_owned(),
        code: code.to_owned(),
        number,
        text: text.to_owned(),
    };
    match character {
        '\n' | '\r' => return Some(key("Enter", "Enter", 13, "\r")),
        '\t' => return Some(key("Tab", "Tab", 9, "")),
        _ => {}
    }
    let text = character.to_string();
    if character.is_ascii_alphabetic() {
        let upper = character.to_ascii_uppercase();
        return Some(key(&text, &format!("Key{upper}"), u32::from(upper), &text));
    }
    let found = OTHERS.iter().find(|(plain, shifted, _, _)| character == *plain || character == *shifted);
    found.map(|(_, _, code, number)| key(&text, code, *number, &text))
}

impl Key {
    /// The event of its going down, which writes.
    pub(super) fn down(&self) -> Value {
        let kind = if self.text.is_empty() { "rawKeyDown" } else { "keyDown" };
        json!({
            "type": kind, "key": self.name, "code": self.code, "windowsVirtualKeyCode": self.number,
            "text": self.text, "unmodifiedText": self.text,
        })
    }

    /// The event of its coming up.
    pub(super) fn up(&self) -> Value {
        json!({ "type": "keyUp", "key": self.name, "code": self.code, "windowsVirtualKeyCode": self.number })
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn every_printable_character_of_ascii_has_a_key() {
        for byte in 32..127_u8 {
            assert!(of(char::from(byte)).is_some(), "{}", char::from(byte));
        }
        assert_eq!(of('é'), None);
        assert_eq!(of('中'), None);
        let key = of('A').unwrap();
        assert_eq!((&*key.name, &*key.code, key.number), ("A", "KeyA", 65));
    }
}
