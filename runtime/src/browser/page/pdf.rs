//! How many pages a document has: the count at the root of its page tree, found by its own table of objects.

use regex::bytes::Regex;
use std::sync::LazyLock;

/// Compiles a pattern of this file; none that is written here fails.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static ROOT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"/Root\s+(\d+)\s+\d+\s+R"));
static PAGES: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"/Pages\s+(\d+)\s+\d+\s+R"));
static COUNT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"/Count\s+(\d+)"));

/// The pages of a document; none where it cannot be followed.
pub(super) fn pages(document: &[u8]) -> Option<u64> {
    let table = Table::read(document)?;
    let root = number(ROOT.as_ref()?, table.trailer)?;
    let pages = number(PAGES.as_ref()?, table.object(root)?)?;
    number(COUNT.as_ref()?, table.object(pages)?)
}

/// The number that a pattern finds first.
fn number(pattern: &Regex, text: &[u8]) -> Option<u64> {
    digits(pattern.captures(text)?.get(1)?.as_bytes())
}

fn digits(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Where each object begins.
struct Table<'a> {
    document: &'a [u8],
    entries: &'a [u8],
    first: u64,
    trailer: &'a [u8],
}

/// Bytes of one entry.
const ENTRY: usize = 20;

impl<'a> Table<'a> {
    fn read(document: &'a [u8]) -> Option<Self> {
        let tail = document.get(memchr::memmem::rfind(document, b"startxref")? + 9..)?;
        let at = digits(tail.split(|byte| *byte == b'%').next()?)?;
        let table = document.get(usize::try_from(at).ok()?..)?.strip_prefix(b"xref")?.trim_ascii_start();
        let line = table.iter().position(|byte| *byte == b'\n')?;
        let (head, entries) = table.split_at_checked(line + 1)?;
        let first = digits(head.split(|byte| *byte == b' ').next()?)?;
        let trailer = entries.get(memchr::memmem::find(entries, b"trailer")?..)?;
        Some(Self { document, entries, first, trailer })
    }

    /// An object, from its number to its end.
    fn object(&self, number: u64) -> Option<&'a [u8]> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?.checked_mul(ENTRY)?;
        let at = usize::try_from(digits(self.entries.get(place..place + 10)?)?).ok()?;
        let text = self.document.get(at..)?;
        text.get(..memchr::memmem::find(text, b"endobj")?)
    }
}

#[cfg(test)]
mod tests {
    use super::pages;

    /// A document of three objects, one of which is a page that speaks of pages.
    fn document(count: &str) -> Vec<u8> {
        let objects = [
            "1 0 obj\n<</Type /Catalog /Pages 2 0 R>>\nendobj\n".to_owned(),
            format!("2 0 obj\n<</Type /Pages /Count {count}>>\nendobj\n"),
            "3 0 obj\n<</Type /Page /Parent 2 0 R>>\nstream /Type /Page /Type /Page endstream\nendobj\n"
                .to_owned(),
        ];
        let (mut text, mut entries) = ("%PDF-1.4\n".to_owned(), "0000000000 65535 f \n".to_owned());
        for object in objects {
            entries.push_str(&format!("{:010} 00000 n \n", text.len()));
            text.push_str(&object);
        }
        let at = text.len();
        format!("{text}xref\n0 4\n{entries}trailer\n<</Size 4 /Root 1 0 R>>\nstartxref\n{at}\n%%EOF\n")
            .into_bytes()
    }

    #[test]
    fn the_count_is_that_of_the_page_tree() {
        assert_eq!(pages(&document("7")), Some(7));
        assert_eq!(pages(&document("many")), None);
    }

    #[test]
    fn a_document_that_leads_nowhere_has_none() {
        let whole = document("7");
        for cut in 0..whole.len() - 8 {
            let _ = pages(&whole[..cut]);
            let _ = pages(&whole[cut..]);
        }
        assert_eq!(pages(b""), None);
        assert_eq!(pages(b"startxref\n99999999999999999999\n%%EOF"), None);
    }
}
