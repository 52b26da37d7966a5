//! FILE_OPS: what every file handler shares. Paths go through [`crate::guard`], work through [`crate::files`]; what is
//! here translates between the wire and those two.
//!
//! Wherever a parameter `path` is accepted, `path_base64` is too: standard base64 of a name that is no UTF-8. Answers
//! name such an entry twice: lossy under `name` or `path`, and exactly under `name_base64` or `path_base64`.

mod encoded;
mod fault;
mod intake;
mod multipart;
mod names;
mod range;
mod raw;
mod receive;
mod scene;

pub(super) mod download;
pub(super) mod files_archive;
pub(super) mod files_delete;
pub(super) mod files_download_stream;
pub(super) mod files_grep;
pub(super) mod files_list;
pub(super) mod files_mkdir;
pub(super) mod files_move;
pub(super) mod files_search;
pub(super) mod files_stat;
pub(super) mod files_upload_stream;
pub(super) mod upload;

pub(super) use fault::of_guard;

/// What fuzzers ask; see [`crate::probe`].
pub(crate) mod probe {
    pub(crate) use super::multipart::taken_apart;
    use super::range::Range;

    pub(crate) fn range(text: &str, size: u64) -> Option<Option<(u64, u64)>> {
        Range::read(text, size).map(|range| match range {
            Range::Of { first, last } => Some((first, last)),
            Range::Outside => None,
        })
    }

    pub(crate) fn disposition(name: &[u8]) -> String {
        super::raw::disposition(name)
    }
}
