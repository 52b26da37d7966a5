//! The compiled set: a merged policy on disk, in canonical JSON that is the same byte for byte on every machine.
//!
//! The first line holds the format tag, the format version and a checksum over every byte that follows. Then come, one a
//! line: what made it and for which endpoint table, the inputs, the rules with what they say, custom routes, tokens, and the
//! lists of paths. Places are packed per rule (see [`places`]); a list of paths stands in one text as in `PATH`, behind all
//! else (see [`tail`]), so that a large policy is a short text and a few long ones, which a server reads behind its open
//! port. The built-in rules, the default layer and the environment layer are not written: the first two are the tool's own,
//! the last belongs to the process that serves.
//! What holds for each endpoint is not written either: it is worked out from the rules by the code that merges layers,
//! so that a set cannot say one thing in its rules and another in its index.
//!
//! Reading refuses a set whole or takes it whole. A server leaves the entries of path rules to [`CompiledPolicy::prepare`], before which
//! it lets no call through that asks them.
//!
//! [`CompiledPolicy::prepare`]: crate::policy::CompiledPolicy::prepare

mod error;
mod foreign;
mod head;
pub mod inspect;
mod late;
mod places;
mod read;
mod shape;
mod tail;
mod values;
mod write;

pub use error::FormError;
pub use foreign::{Foreign, read_alone, read_foreign, vouch};
pub use head::{Again, Head, HeadReader, SetText};
pub use read::read;
pub(crate) use read::{Paths, read_with, uncompiled};
pub use write::write;

/// What every compiled set begins with; the version follows.
const TAG: &str = "{\"format\":\"agent-sandbox-policy\",\"format_version\":";

/// The format that this tool writes and reads.
pub const FORMAT_VERSION: u32 = 3;

/// The version of the tool that writes.
pub const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the first line says of every byte after it. It tells a set that was cut or damaged, as in an archive; who may
/// write the file may write a checksum that fits, which is why reading checks every value all the same.
#[must_use]
pub fn checksum(body: &str) -> String {
    hex(crc32fast::hash(body.as_bytes()))
}

fn hex(checksum: u32) -> String {
    format!("{checksum:08x}")
}

/// Whether a text is a compiled set, of whatever version, and not a policy document; also one that was laid out anew or
/// damaged, which is refused as a set rather than read as a document full of unknown keys.
#[must_use]
pub fn is_compiled(text: &str) -> bool {
    text.starts_with(TAG) || is_damaged(text)
}

/// Whether bytes begin as a compiled set does, however they go on.
#[must_use]
pub fn begins_a_set(bytes: &[u8]) -> bool {
    bytes.starts_with(TAG.as_bytes())
}

/// Whether a text says, near its beginning, what only the first line of a set does.
fn is_damaged(text: &str) -> bool {
    const NEAR: usize = 1024;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('{') {
        return false;
    }
    let end = text.char_indices().nth(NEAR).map_or(text.len(), |(at, _)| at);
    let head = text.get(..end).unwrap_or_default();
    let marks = ["\"agent-sandbox-policy\"", "\"format_version\"", "\"crc32\""];
    marks.iter().filter(|mark| head.contains(**mark)).count() > 1
}
