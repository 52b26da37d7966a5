//! Memory, load and disk, as the server may use them: within the limits of its cgroup.

use std::path::Path;

use super::Cgroup;

/// Bytes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// What there is: the machine's, or what the cgroup allows of it.
    pub total: u64,
    /// What can still be had.
    pub available: u64,
}

impl Memory {
    /// Now.
    #[must_use]
    pub fn now(cgroup: &Cgroup) -> Self {
        Self::read(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default(), cgroup)
    }

    /// From the text of `/proc/meminfo`.
    #[must_use]
    pub fn read(meminfo: &str, cgroup: &Cgroup) -> Self {
        let line = |name: &str| {
            let kilobytes: u64 = meminfo
                .lines()
                .find_map(|line| line.strip_prefix(name)?.trim().strip_suffix("kB")?.trim().parse().ok())?;
            kilobytes.checked_mul(1024)
        };
        let total = line("MemTotal:").unwrap_or(0);
        let available = line("MemAvailable:").or_else(|| line("MemFree:")).unwrap_or(0);
        match cgroup.memory_limit.filter(|limit| *limit < total) {
            Some(limit) => {
                let left = limit.saturating_sub(cgroup.memory_used.unwrap_or(0));
                Self { total: limit, available: left.min(available) }
            }
            None => Self { total, available },
        }
    }
}

/// Bytes of the file system that holds a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk {
    /// Its size.
    pub total: u64,
    /// What the server may still write.
    pub free: u64,
}

/// The file system that holds `path`; zeros where it cannot be asked.
#[must_use]
pub fn disk(path: &Path) -> Disk {
    rustix::fs::statvfs(path).map_or(Disk { total: 0, free: 0 }, |found| Disk {
        total: found.f_blocks.saturating_mul(found.f_frsize),
        free: found.f_bavail.saturating_mul(found.f_frsize),
    })
}

/// Load over 1, 5 and 15 minutes; of the whole machine, also in a container.
#[must_use]
pub fn load() -> [f64; 3] {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut numbers = text.split(' ').map_while(|number| number.parse().ok());
    [(); 3].map(|()| numbers.next().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_what_it_is_allowed() {
        let meminfo = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n";
        let machine = Memory { total: 1_024_000, available: 409_600 };
        assert_eq!(Memory::read(meminfo, &Cgroup::default()), machine);
        let limited = Cgroup { memory_limit: Some(500_000), memory_used: Some(200_000), ..Cgroup::default() };
        assert_eq!(Memory::read(meminfo, &limited), Memory { total: 500_000, available: 300_000 });
        let loose = Cgroup { memory_limit: Some(u64::MAX), ..Cgroup::default() };
        assert_eq!(Memory::read(meminfo, &loose), machine);
        assert_eq!(Memory::read("nonsense", &Cgroup::default()), Memory { total: 0, available: 0 });
    }
}
