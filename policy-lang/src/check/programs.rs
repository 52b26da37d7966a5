//! Programs that run other programs: to allow one is to allow all.

/// Why a program, by the name of its file, allows everything; none for a program that does not.
pub(super) fn runs_anything(program: &str) -> Option<&'static str> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is = |list: &[&str]| list.contains(&name) || list.contains(&plain);
    if is(SHELLS) {
        Some("a shell runs any command that it is given")
    } else if is(INTERPRETERS) {
        Some("an interpreter runs any code that it is given, and code starts any program")
    } else if is(RUNNERS) {
        Some("it runs the program that its arguments name")
    } else {
        None
    }
}

const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "nu", "pwsh", "rbash", "sh", "tcsh", "zsh"];

const INTERPRETERS: &[&str] = &[
    "awk", "bun", "deno", "gawk", "gdb", "ghc", "irb", "java", "julia", "lua", "luajit", "mawk", "nawk",
    "node", "nodejs", "octave", "perl", "php", "pypy", "python", "Rscript", "ruby", "sqlite", "tclsh",
    "ts-node", "tsx", "wish",
];

const RUNNERS: &[&str] = &[
    "apt",
    "apt-get",
    "busybox",
    "capsh",
    "cargo",
    "chroot",
    "chrt",
    "cmake",
    "docker",
    "doas",
    "dpkg",
    "ed",
    "emacs",
    "env",
    "ex",
    "expect",
    "fakeroot",
    "find",
    "firejail",
    "flock",
    "gcc",
    "git",
    "go",
    "gradle",
    "ionice",
    "ld.so",
    "less",
    "m4",
    "make",
    "man",
    "mvn",
    "nc",
    "ncat",
    "nice",
    "ninja",
    "nohup",
    "npm",
    "npx",
    "nsenter",
    "parallel",
    "pip",
    "pipx",
    "pnpm",
    "podman",
    "proot",
    "rpm",
    "rsync",
    "run-parts",
    "runuser",
    "rustc",
    "rvim",
    "screen",
    "script",
    "sed",
    "setarch",
    "setpriv",
    "setsid",
    "socat",
    "ssh",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tar",
    "taskset",
    "time",
    "timeout",
    "tmux",
    "toybox",
    "unshare",
    "uv",
    "uvx",
    "vi",
    "vim",
    "watch",
    "xargs",
    "yarn",
    "zip",
];

#[cfg(test)]
mod tests {
    use super::runs_anything;

    #[test]
    fn versions_and_directories_do_not_hide_a_program() {
        for program in
            ["python3", "python3.11", "/usr/bin/python3", "bash", "/bin/sh", "env", "sqlite3", "git"]
        {
            assert!(runs_anything(program).is_some(), "{program}");
        }
        for program in ["ls", "cat", "grep", "/opt/app/run", "pythonic", "wc"] {
            assert_eq!(runs_anything(program), None, "{program}");
        }
    }
}
