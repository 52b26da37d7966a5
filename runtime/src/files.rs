//! Services over guarded handles: what the file endpoints do, without HTTP.
//!
//! Every function blocks and belongs on a blocking thread. A request path enters as a [`crate::guard::NormalPath`] and
//! goes through the guard; below a directory the services walk on handles of their own and judge each entry. Long
//! work asks its [`Stop`] whether it may go on.

pub mod archive;
mod claim;
pub mod delete;
mod descent;
pub mod encode;
mod error;
pub mod grep;
mod hits;
pub mod list;
pub mod mkdir;
pub mod pattern;
pub mod read;
pub mod relocate;
pub mod search;
mod spool;
pub mod stat;
mod stop;
mod times;
mod tree;
pub mod upload;
pub mod write;

pub use error::FilesError;
pub use spool::Spool;
pub use stop::Stop;
pub use times::{http_date, iso_utc};
pub use tree::{Access, End};
