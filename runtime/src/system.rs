//! Facts about the machine, read from procfs and the cgroup file system. Knows nothing of HTTP.

mod cgroup;
mod memory;
pub(crate) mod ports;

pub use cgroup::Cgroup;
pub use memory::{Disk, Memory, disk, load};
pub use ports::{Listening, listening};
