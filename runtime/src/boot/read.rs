//! Inputs are read whole, but no further than what could be of use: an input need not have an end.

mod policy;

pub(crate) use policy::{Policy, policy};

use policy_lang::form;
use policy_lang::source::MAX_DOCUMENT_BYTES;
use std::fs::File;
use std::io::{ErrorKind, Read, Result};
use std::path::Path;

/// What is read of a document: more than one may have, so that it is refused for its length, and enough more that a character
/// which is cut can be left out.
const DOCUMENT: u64 = MAX_DOCUMENT_BYTES as u64 + 4;

/// What is read of a compiled set, whose places are counted in 32 bits.
const SET: u64 = u32::MAX as u64 + 1;

/// Reads a file.
///
/// # Errors
/// Where it cannot be opened or read.
pub(crate) fn file(path: &Path) -> Result<Vec<u8>> {
    whole(File::open(path)?)
}

fn whole(mut file: File) -> Result<Vec<u8>> {
    let found = file.metadata()?;
    // A file of the kernel's has no size, and perhaps no end.
    if !found.is_file() || !(1..=DOCUMENT).contains(&found.len()) {
        return stream(file);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What was read as text.
fn decoded(mut bytes: Vec<u8>) -> Result<String> {
    if bytes.len() as u64 == DOCUMENT
        && let Err(cut) = std::str::from_utf8(&bytes)
        && cut.error_len().is_none()
    {
        bytes.truncate(cut.valid_up_to());
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads whatever comes.
///
/// # Errors
/// Where it cannot be read.
pub(crate) fn stream(mut from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.by_ref().take(DOCUMENT).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == DOCUMENT && form::begins_a_set(&bytes) {
        from.take(SET - DOCUMENT).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{DOCUMENT, policy, stream};
    use policy_lang::form;
    use std::io::{Read, repeat};

    #[test]
    fn what_has_no_end_is_read_as_far_as_it_could_be_of_use() {
        assert_eq!(stream(repeat(0)).unwrap().len() as u64, DOCUMENT);
        assert_eq!(stream(&b"preset: locked"[..]).unwrap(), b"preset: locked");
        let first = b"{\"format\":\"agent-sandbox-policy\",\"format_version\":3";
        assert!(form::begins_a_set(first));
        let set = first.chain(repeat(b' ').take(DOCUMENT));
        assert_eq!(stream(set).unwrap().len() as u64, DOCUMENT + first.len() as u64);
    }

    #[test]
    fn a_cut_character_is_no_fault_of_the_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long.yaml");
        std::fs::write(&path, format!("#{}", "€".repeat(6_000_000))).unwrap();
        let read = policy(&path).unwrap();
        let read = read.text();
        assert!(read.len() as u64 > DOCUMENT - 4 && read.ends_with('€'));
        std::fs::write(&path, b"a: \xff").unwrap();
        assert_eq!(policy(&path).unwrap_err().to_string(), "it is not UTF-8");
    }
}
