//! A policy, of which no more is kept than a start needs: of a compiled set that is a file, its head.

use super::{SET, decoded, stream, whole};
use policy_lang::form::{self, Again, Head, HeadReader};
use std::fs::File;
use std::io::{ErrorKind, Read, Result, Seek};
use std::path::Path;

/// What is read of a set at once. It is small and on the stack, because memory that a start touches first is dear.
const PIECE: usize = 8 * 1024;

/// A policy as it was read.
#[derive(Debug)]
pub(crate) enum Policy {
    /// A document, or a compiled set that is no file.
    Text(String),
    /// A compiled set, which is read whole when its paths are wanted.
    Head(Head, Again),
}

impl Policy {
    /// Its text; of a compiled set perhaps without the paths.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Head(head, _) => head.text(),
        }
    }

    /// All of its text.
    pub(crate) fn whole(self) -> std::result::Result<String, String> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Head(_, again) => again.read(),
        }
    }
}

/// Reads a policy.
///
/// # Errors
/// Where it cannot be opened or read, or is not UTF-8.
pub(crate) fn policy(path: &Path) -> Result<Policy> {
    let mut file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() == 0 {
        return decoded(stream(file)?).map(Policy::Text);
    }
    let mut piece = [0; PIECE];
    let first = read(&mut file, &mut piece)?;
    if !form::begins_a_set(first) {
        file.rewind()?;
        return decoded(whole(file)?).map(Policy::Text);
    }
    let (mut head, mut length) = (HeadReader::default(), first.len() as u64);
    head.push(first);
    loop {
        let next = read(&mut file, &mut piece)?;
        if next.is_empty() || length > SET {
            break;
        }
        length += next.len() as u64;
        head.push(next);
    }
    match head.finish() {
        Ok(head) => Ok(Policy::Head(head, Again::new(move || again(file, length)))),
        Err(whole) => decoded(whole).map(Policy::Text),
    }
}

fn read<'a>(file: &mut File, piece: &'a mut [u8]) -> Result<&'a [u8]> {
    loop {
        match file.read(piece) {
            Ok(read) => return Ok(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The file as a whole, which had so many bytes.
fn again(mut file: File, length: u64) -> std::result::Result<String, String> {
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    let read = file.rewind().and_then(|()| file.take(length + 1).read_to_end(&mut bytes));
    read.and_then(|_| decoded(bytes)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{PIECE, Policy, policy};
    use std::io::Write;

    fn kind(text: &[u8]) -> &'static str {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        match policy(file.path()).unwrap() {
            Policy::Text(read) => {
                assert_eq!(read.as_bytes(), text);
                "text"
            }
            Policy::Head(head, _) => {
                assert!(text.starts_with(head.text().as_bytes()));
                "head"
            }
        }
    }

    #[test]
    fn of_a_set_the_head_is_kept_and_of_all_else_everything() {
        let first = "{\"format\":\"agent-sandbox-policy\",\"format_version\":3,\n";
        let long = "x".repeat(2 * PIECE);
        for (text, wanted) in [
            (format!("{first}\"tokens\":null,\n\"paths\":[\n\"{long}\"]}}\n"), "head"),
            (format!("{first}\"tokens\":\"{long}\",\n\"paths\":[]}}\n"), "head"),
            (format!("{first}\"tokens\":\"{long}\"}}\n"), "text"),
            (format!(" {first}\n\"paths\":[]}}\n"), "text"),
            (format!("preset: {long}\n"), "text"),
            (String::new(), "text"),
        ] {
            assert_eq!(kind(text.as_bytes()), wanted, "{text:.80}");
        }
    }
}
