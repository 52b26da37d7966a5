//! `base_dir`: an absolute directory that relative paths start from. Never the root, and nothing of the kernel's.

use crate::diag::{Code, Diagnostic};
use crate::lower::Context;
use crate::parse::Node;
use crate::rules::glob;
use crate::source::Spanned;

/// File systems of the kernel; nothing in or below them is ever a base directory.
pub const KERNEL: [&str; 3] = ["proc", "sys", "dev"];

/// What to write instead.
pub(crate) const HELP: &str = "name the directory that the sandbox works in, such as `/home/user`";

/// Why a path is no base directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It does not begin with `/`.
    Relative,
    /// It is the root.
    Root,
    /// It is in a file system of the kernel.
    Kernel,
    /// It holds `..`.
    Parent,
    /// It holds a NUL.
    Nul,
    /// It holds a glob character.
    Glob,
}

impl Fault {
    /// What is said of whatever names the directory: `base_dir`, a flag, a variable.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::Relative => "must be an absolute path",
            Self::Root => "cannot be `/`",
            Self::Kernel => "cannot be in `/proc`, `/sys` or `/dev`",
            Self::Parent => "must not contain `..`",
            Self::Nul => "contains a NUL character",
            Self::Glob => "is one directory, not a glob",
        }
    }
}

/// The path without empty and `.` components and without a trailing slash.
///
/// # Errors
/// Why it is no base directory.
pub fn normalise(path: &str) -> Result<String, Fault> {
    if path.contains('\0') {
        return Err(Fault::Nul);
    }
    if !path.starts_with('/') {
        return Err(Fault::Relative);
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    match parts.first() {
        None => Err(Fault::Root),
        _ if parts.contains(&"..") => Err(Fault::Parent),
        Some(first) if KERNEL.contains(first) => Err(Fault::Kernel),
        _ if glob::is_glob(path) => Err(Fault::Glob),
        _ => Ok(format!("/{}", parts.join("/"))),
    }
}

pub(crate) fn read(cx: &mut Context<'_>, node: Node<'_>) -> Option<Spanned<String>> {
    let text = cx.text("`base_dir`", node)?;
    match normalise(&text.value) {
        Ok(value) => Some(Spanned { value, span: text.span }),
        Err(fault) => {
            let report =
                Diagnostic::new(Code::InvalidPath, format!("`base_dir` {}", fault.why())).at(text.span);
            cx.emit(report.help(HELP));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_directories() {
        for (path, wanted) in [
            ("/home/user", Ok("/home/user")),
            ("/home//user/./", Ok("/home/user")),
            ("/development", Ok("/development")),
            ("home", Err(Fault::Relative)),
            ("", Err(Fault::Relative)),
            ("~/x", Err(Fault::Relative)),
            ("/", Err(Fault::Root)),
            ("//.", Err(Fault::Root)),
            ("/proc", Err(Fault::Kernel)),
            ("/dev/shm", Err(Fault::Kernel)),
            ("//sys/fs", Err(Fault::Kernel)),
            ("/a/../b", Err(Fault::Parent)),
            ("/a\0b", Err(Fault::Nul)),
            ("/home/*", Err(Fault::Glob)),
        ] {
            assert_eq!(normalise(path).as_deref(), wanted.as_ref().map(|path| &**path), "{path:?}");
        }
    }
}
