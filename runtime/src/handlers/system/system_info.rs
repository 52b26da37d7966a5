//! OS, CPU, memory, disk.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"os", "arch", "cpu_count", "memory_total_mb", "memory_available_mb", "disk_total_gb", "disk_free_gb",
//! "python_version", "server_version", "hostname", "limited_by"}`. In a container, processors and memory are what its
//! cgroup allows, and `limited_by` says `cgroup v1` or `cgroup v2`; else it is null. `python_version` is that of the
//! `python3` found, or null. Disk is the file system of the base directory.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_concurrency`.
//!
//! # Errors
//! None of its own.
//!
//! # Policy
//! The common keys.
//!
//! ```sh
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/system/info
//! ```

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use serde_json::json;
use tokio::sync::OnceCell;

use super::super::launch;
use crate::endpoint::{Answer, Call, Reply};
use crate::process::{Engine, Owner, Tool};
use crate::system::{Cgroup, Memory, disk};

/// The version of the `python3` found; asked once.
static PYTHON: OnceCell<Option<String>> = OnceCell::const_new();

pub(crate) async fn call(call: Call) -> Answer {
    let (processes, owner) = (Arc::clone(&call.app().processes), launch::owner(&call));
    let python = PYTHON.get_or_init(|| python(processes, owner)).await;
    let cgroup = Cgroup::own();
    let memory = Memory::now(&cgroup);
    let disk = disk(Path::new(call.permit().state().policy.base_dir()));
    let limited = cgroup.memory_limit.is_some() || cgroup.cpus.is_some();
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Ok(Reply::ok(&json!({
        "os": "Linux",
        "arch": std::env::consts::ARCH,
        // Within the quota of the cgroup and the processors that the server may run on.
        "cpu_count": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "memory_total_mb": memory.total >> 20,
        "memory_available_mb": memory.available >> 20,
        "disk_total_gb": gigabytes(disk.total),
        "disk_free_gb": gigabytes(disk.free),
        "python_version": python,
        "server_version": env!("CARGO_PKG_VERSION"),
        "hostname": hostname.trim(),
        "limited_by": cgroup.version.filter(|_| limited).map(|version| format!("cgroup v{version}")),
    })))
}

/// Bytes as the source document shows them: GiB with one decimal.
pub(super) fn gigabytes(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let gigabytes = bytes as f64 / f64::from(1 << 30);
    (gigabytes * 10.0).round() / 10.0
}

async fn python(processes: Arc<Engine>, owner: Owner) -> Option<String> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let ran = processes.run(Tool {
        name: "python3",
        arguments: vec!["-I".to_owned(), "--version".to_owned()],
        variables: &[],
        directory: rustix::fs::open("/", flags, Mode::empty()).ok()?,
        time: Duration::from_secs(5),
        keep: 256,
        owner,
    });
    let text = String::from_utf8(ran.await.ok()?.stdout.bytes).ok()?;
    Some(text.trim().strip_prefix("Python ")?.to_owned())
}
