//! Load, memory, disk, uptime.
//!
//! # Request
//! Nothing.
//!
//! # Response
//! `{"cpu_load_1m", "cpu_load_5m", "cpu_load_15m", "memory_used_mb", "memory_total_mb", "memory_percent", "disk_used_gb",
//! "disk_total_gb", "disk_percent", "uptime_seconds", "limited_by"}`. Memory is that of the cgroup where one limits it, and
//! `limited_by` says so; load is the machine's. Uptime is the server's.
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
//! curl -H "X-Access-Token: $ABX_SERVER_TOKEN" http://localhost:9000/system/metrics
//! ```

use std::path::Path;

use serde_json::json;

use super::system_info::gigabytes;
use crate::endpoint::{Answer, Call, Reply};
use crate::system::{Cgroup, Memory, disk, load};

pub(crate) async fn call(call: Call) -> Answer {
    let cgroup = Cgroup::own();
    let memory = Memory::now(&cgroup);
    let disk = disk(Path::new(call.permit().state().policy.base_dir()));
    let [one, five, fifteen] = load();
    let used = memory.total.saturating_sub(memory.available);
    let disk_used = disk.total.saturating_sub(disk.free);
    Ok(Reply::ok(&json!({
        "cpu_load_1m": one,
        "cpu_load_5m": five,
        "cpu_load_15m": fifteen,
        "memory_used_mb": used >> 20,
        "memory_total_mb": memory.total >> 20,
        "memory_percent": percent(used, memory.total),
        "disk_used_gb": gigabytes(disk_used),
        "disk_total_gb": gigabytes(disk.total),
        "disk_percent": percent(disk_used, disk.total),
        "uptime_seconds": (call.app().started.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        "limited_by": cgroup
            .version
            .filter(|_| cgroup.memory_limit.is_some())
            .map(|version| format!("cgroup v{version}")),
    })))
}

/// A share with one decimal.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1000.0).round() / 10.0 }
}
