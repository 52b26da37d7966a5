//! The limits that a container puts on the server: cgroup version 2 or 1, and which.

use std::path::{Path, PathBuf};

/// What the server's cgroup allows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cgroup {
    /// 1 or 2; none where neither is mounted.
    pub version: Option<u8>,
    /// Bytes of memory allowed.
    pub memory_limit: Option<u64>,
    /// Bytes of memory in use, page cache that can be given back left out.
    pub memory_used: Option<u64>,
    /// Processors' worth of time allowed.
    pub cpus: Option<f64>,
}

/// A limit of version 1 that means none: the largest multiple of a page.
const UNLIMITED: u64 = 1 << 60;

impl Cgroup {
    /// Of this process.
    #[must_use]
    pub fn own() -> Self {
        let membership = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::read(&membership, Path::new("/sys/fs/cgroup"))
    }

    /// From the text of `/proc/self/cgroup` and the place where the file system is mounted.
    #[must_use]
    pub fn read(membership: &str, mount: &Path) -> Self {
        let path_of = |wanted: &str| {
            membership.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':');
                let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
                controllers.split(',').any(|controller| controller == wanted).then_some(path)
            })
        };
        if mount.join("cgroup.controllers").exists() {
            return Self::second(&mount.join(path_of("").unwrap_or("/").trim_start_matches('/')), mount);
        }
        let place = |controller: &str| {
            let root = mount.join(controller);
            let own = root.join(path_of(controller).unwrap_or("/").trim_start_matches('/'));
            // In a container the path is the host's, and the own group is mounted as the root.
            let place = if own.exists() { own } else { root };
            place.exists().then_some(place)
        };
        let (memory, cpu) = (place("memory"), place("cpu").or_else(|| place("cpu,cpuacct")));
        let version = (memory.is_some() || cpu.is_some()).then_some(1);
        let number =
            |place: &Option<PathBuf>, file: &str| text(&place.as_ref()?.join(file))?.parse::<i64>().ok();
        let unsigned = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let used = unsigned(number(&memory, "memory.usage_in_bytes"));
        let cache = memory.as_ref().and_then(|place| stat(&place.join("memory.stat"), "total_inactive_file"));
        let (quota, period) = (number(&cpu, "cpu.cfs_quota_us"), number(&cpu, "cpu.cfs_period_us"));
        Self {
            version,
            memory_limit: unsigned(number(&memory, "memory.limit_in_bytes"))
                .filter(|limit| *limit < UNLIMITED),
            memory_used: used.map(|used| used.saturating_sub(cache.unwrap_or(0))),
            cpus: quota.zip(period).and_then(|(quota, period)| share(quota as f64, period as f64)),
        }
    }

    /// Version 2: the tightest limit from the own group up to the mount.
    fn second(own: &Path, mount: &Path) -> Self {
        let groups: Vec<&Path> = own.ancestors().take_while(|group| group.starts_with(mount)).collect();
        let memory_limit =
            groups.iter().filter_map(|group| text(&group.join("memory.max"))?.parse().ok()).min();
        let cpus = groups
            .iter()
            .filter_map(|group| {
                let max = text(&group.join("cpu.max"))?;
                let (quota, period) = max.split_once(' ')?;
                share(quota.parse().ok()?, period.parse().ok()?)
            })
            .min_by(f64::total_cmp);
        let used: Option<u64> = text(&own.join("memory.current")).and_then(|text| text.parse().ok());
        let cache = stat(&own.join("memory.stat"), "inactive_file").unwrap_or(0);
        Self {
            version: Some(2),
            memory_limit,
            memory_used: used.map(|used| used.saturating_sub(cache)),
            cpus,
        }
    }
}

fn share(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

fn text(file: &Path) -> Option<String> {
    Some(std::fs::read_to_string(file).ok()?.trim().to_owned())
}

/// One line of a `memory.stat`.
fn stat(file: &Path, name: &str) -> Option<u64> {
    let text = text(file)?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn version_two_takes_the_tightest_limit_on_the_way_up() {
        let root = tree(&[
            ("cgroup.controllers", "cpu memory\n"),
            ("a/memory.max", "1000\n"),
            ("a/cpu.max", "150000 100000\n"),
            ("a/b/memory.max", "max\n"),
            ("a/b/cpu.max", "max 100000\n"),
            ("a/b/memory.current", "700\n"),
            ("a/b/memory.stat", "anon 1\ninactive_file 200\n"),
        ]);
        assert_eq!(
            Cgroup::read("0::/a/b\n", root.path()),
            Cgroup { version: Some(2), memory_limit: Some(1000), memory_used: Some(500), cpus: Some(1.5) }
        );
    }

    #[test]
    fn version_one_and_its_huge_number_for_no_limit() {
        let root = tree(&[
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/memory.usage_in_bytes", "500\n"),
            ("cpu/cpu.cfs_quota_us", "50000\n"),
            ("cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(
            Cgroup::read("3:memory:/docker/x\n2:cpu,cpuacct:/docker/x\n", root.path()),
            Cgroup { version: Some(1), memory_limit: None, memory_used: Some(500), cpus: Some(0.5) }
        );
        assert_eq!(Cgroup::read("", Path::new("/nonexistent")), Cgroup::default());
    }
}
