//! The path guard: the only door between a request path and the file system.
//!
//! It knows nothing of HTTP. A caller brings a path as it was asked for, what it means to do with it, and a
//! [`PathJudge`], the path rules of one endpoint; it gets a handle on what was opened, or a typed refusal.
//!
//! # Contract
//!
//! - **Roots.** The directories that a policy names are opened once, at start, and every later access happens beneath
//!   those handles. Renaming a root or putting a link in its place changes nothing for a running server, and a reload keeps
//!   the handles of the directories that are still named.
//! - **Links to roots.** The way to the base directory is the operator's word, links and all. To any other root a link is
//!   followed only where children cannot have put it: never at or below another root, and only where nobody but root
//!   or the server's own user can have made it or moved it there; a reload follows none below anything that is held. Where a root cannot be reached, the
//!   nearest directory above it is held, and requests meet the link as any other. What lies in a root that was reached
//!   through a link is judged by its real place too: deny, `read_only`, sealed paths and kernel directories hold there, and
//!   where rules follow no links all but the base directory is refused.
//! - **Names are bytes.** A path is taken from `base_dir` where it is relative, then `.`, `..` and doubled slashes
//!   are taken out lexically ([`NormalPath`]). A path that is empty or holds a NUL is [`GuardError::InvalidPath`].
//! - **Judged twice.** The path as asked is judged before the file system is touched, so a refusal says nothing about
//!   what exists. Where a link lies on the way, each hop's whole expanded path is judged again before it is followed.
//! - **Links.** [`Symlinks::Within`] follows a link while what it names stays allowed; an absolute link that points
//!   back inside a root counts as inside. [`Symlinks::Deny`] refuses to pass through any. Acting on a link itself
//!   ([`Last::Itself`]: stat, delete, move) does not pass through it and works in both modes.
//! - **Opened without following.** After that the kernel (`openat2`, beneath the root, no links, no magic links), or
//!   where it lacks the call a walk on handles, opens exactly the path that was judged. A race ends in an error.
//! - **What was opened is checked**, not what its name suggests: kernel file systems (procfs, sysfs, devpts, cgroup, …)
//!   are refused wherever they are mounted, and content is only read from regular files; opening never blocks.
//! - **A trailing `/` or `/.`** asks for a directory and never makes the last part of a path escape its rule.
//! - **Recursion.** A tree operation judges every entry it meets; see [`PathJudge::narrows_below`].
//! - **The base directory** and what contains it is never removed, renamed or replaced.
//! - **Sealed paths** (the audit file, the state directory) are refused for every operation, also inside a root; and so is what
//!   the server knows of them by device and inode ([`Seals`]), under whatever name a handle on it was opened or an entry was
//!   found, so that renaming a directory above it, or a hard link, makes nothing of it reachable.

mod error;
mod foreign;
mod held;
mod hold;
mod judging;
mod kind;
mod open;
mod openat2;
mod options;
mod owner;
mod path;
mod place;
mod reach;
mod resolve;
mod root;
mod rules;
mod seals;
mod tree;
mod verdict;
mod walk;
mod way;

pub use error::GuardError;
pub use kind::{Kind, kind_of, ruled_out};
pub use open::{Last, Opened};
pub use openat2::Resolver;
pub use options::GuardOptions;
pub use owner::{give_directory, give_file};
pub use path::{NormalPath, is_below};
pub use place::Place;
pub use root::Guard;
pub use rules::EndpointRules;
pub(crate) use seals::identity;
pub use seals::{Identity, Seals};
pub use tree::{Dir, Listed, ListingBuffer};
pub use verdict::{Op, PathJudge, Refusal, RefusalKind, Symlinks};
