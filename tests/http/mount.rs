//! File systems that a test mounts. Only root can: elsewhere a test says so and passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mount that goes with its test.
#[derive(Debug)]
pub struct Mount(PathBuf);

impl Mount {
    /// A file system in memory of so many bytes; `None` where mounting is refused.
    pub fn tmpfs(size: &str, at: &Path) -> Option<Self> {
        Self::run(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], at)
    }

    /// What is at `at` already, to be made read-only and back.
    pub fn same(at: &Path) -> Option<Self> {
        Self::run(&["--bind", &at.display().to_string()], at)
    }

    /// The same, and read-only.
    pub fn read_only(at: &Path) -> Option<Self> {
        let mount = Self::same(at)?;
        mount.make("ro");
        Some(mount)
    }

    /// Makes it `ro` or `rw`. No file on it may be open for writing.
    pub fn make(&self, how: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,bind,{how}")]).arg(&self.0).status();
        assert!(done.is_ok_and(|status| status.success()), "a bind mount that cannot be made {how}");
    }

    fn run(args: &[&str], at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let status = Command::new("mount").args(args).arg(at).stderr(Stdio::null()).status();
        if status.is_ok_and(|status| status.success()) {
            return Some(Self(at.to_path_buf()));
        }
        eprintln!("skipped: nothing can be mounted here");
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a server that is still being killed may hold it.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
