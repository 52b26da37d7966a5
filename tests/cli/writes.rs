//! What commands write: into files whole, through links, into what is no file, and never over what they read.

use crate::run::{Ran, folder, run};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

const POLICY: &str = "preset: locked\n";

fn policy() -> tempfile::TempDir {
    folder(&[("p.yaml".to_owned(), POLICY.to_owned())].into())
}

fn compile(dir: &Path, output: &str) -> Ran {
    run(dir, &["compile", "--policy", "p.yaml", "-o", output], &BTreeMap::new(), "")
}

/// The bytes of the set that `p.yaml` compiles to.
fn set(dir: &Path) -> String {
    compile(dir, "-").stdout
}

fn text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).expect("the file is there")
}

#[test]
fn a_pipe_stays_a_pipe() {
    let dir = policy();
    let pipe = dir.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).expect("a pipe can be made");
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::read_to_string(pipe).expect("the pipe can be read"))
    };
    let ran = compile(dir.path(), "pipe");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(reader.join().expect("the reader ends"), set(dir.path()));
    assert!(fs::symlink_metadata(&pipe).expect("it is there").file_type().is_fifo());
}

#[test]
fn links_are_followed() {
    let dir = policy();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("sub")).expect("a folder can be made");
    fs::write(path("sub/old.set"), "old").expect("a file can be written");
    fs::set_permissions(path("sub/old.set"), PermissionsExt::from_mode(0o640)).expect("it is ours");
    symlink("sub/old.set", path("inner")).expect("a link can be made");
    symlink("inner", path("to-old")).expect("a link can be made");
    symlink("sub/new.set", path("to-new")).expect("a link can be made");
    for (link, target) in [("to-old", "sub/old.set"), ("to-new", "sub/new.set")] {
        let ran = compile(dir.path(), link);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert_eq!(text(dir.path(), target), set(dir.path()));
        assert!(path(link).is_symlink() && !path(target).is_symlink());
    }
    let mode = fs::metadata(path("sub/old.set")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let mut left: Vec<_> =
        fs::read_dir(path("sub")).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["new.set", "old.set"]);
}

#[test]
fn what_leads_nowhere_is_not_written() {
    let dir = policy();
    symlink("round", dir.path().join("round")).expect("a link can be made");
    for (output, why) in [
        ("round", "Too many levels of symbolic links (os error 40)"),
        ("absent/x.set", "No such file or directory (os error 2)"),
        (".", "is a directory"),
    ] {
        let ran = compile(dir.path(), output);
        assert_eq!((ran.exit, ran.stderr), (3, format!("error: cannot write `{output}`: {why}\n")));
    }
}

#[test]
fn an_input_is_not_written_over() {
    let dir = policy();
    let commands = "from agent_sandbox.server import SandboxServer\n";
    fs::write(dir.path().join("a.py"), commands).expect("a file can be written");
    symlink("p.yaml", dir.path().join("link")).expect("a link can be made");
    fs::hard_link(dir.path().join("p.yaml"), dir.path().join("twin")).expect("a link can be made");
    for (output, input) in [("p.yaml", "p.yaml"), ("link", "p.yaml"), ("twin", "p.yaml"), ("./a.py", "a.py")]
    {
        let call = ["compile", "--policy", "p.yaml", "--commands", "a.py", "-o", output];
        let ran = run(dir.path(), &call, &BTreeMap::new(), "");
        let wanted = format!("error: `{output}` is `{input}`, which is read: name another file with -o\n");
        assert_eq!((ran.exit, ran.stderr), (2, wanted));
        assert_eq!(
            (text(dir.path(), "p.yaml"), text(dir.path(), "a.py")),
            (POLICY.to_owned(), commands.to_owned())
        );
    }
    let ran = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"))
        .args(["compile", "--policy", "-", "-o", "p.yaml"])
        .current_dir(dir.path())
        .stdin(File::open(dir.path().join("p.yaml")).expect("it is there"))
        .output()
        .expect("the binary runs");
    assert_eq!((ran.status.code(), text(dir.path(), "p.yaml")), (Some(2), POLICY.to_owned()));
}

#[test]
fn an_open_file_goes_on() {
    let dir = policy();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        fs::write(dir.path().join("out"), "first\n").expect("a file can be written");
        let out = File::options().append(true).open(dir.path().join("out")).expect("it is there");
        let ran = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"))
            .args(["compile", "--policy", "p.yaml", "-o", name])
            .current_dir(dir.path())
            .stdout(out)
            .output()
            .expect("the binary runs");
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        assert_eq!(text(dir.path(), "out"), format!("first\n{}", set(dir.path())), "{name}");
    }
}

/// Every command that prints a result, each with its arguments.
const PRINT: &[&[&str]] = &[
    &["check-config", "--policy", "p.yaml"],
    &["check-config", "--policy", "p.yaml", "--json"],
    &["check-config", "--json", "--nonsense"],
    &["check-config", "--policy", "p.yaml", "--explain", "shell"],
    &["test", "tests.yaml"],
    &["compile", "--policy", "p.yaml", "-o", "-"],
    &["inspect", "p.set"],
    &["diff", "p.yaml", "q.yaml"],
    &["diff", "p.yaml", "q.yaml", "--json"],
    &["fmt", "-"],
    &["endpoints"],
    &["endpoints", "--json"],
    &["schema"],
    &["openapi"],
    &["rule", "syntax"],
    &["rule", "--all"],
    &["completions", "bash"],
    &["version"],
    &["--help"],
    &["--version"],
    &["serve", "--help"],
];

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let tests = "policy: p.yaml\ntests: [{name: a, request: {endpoint: shell}, expect: {verdict: deny}}]\n";
    let files = [("p.yaml", POLICY), ("q.yaml", "preset: hardened\n"), ("tests.yaml", tests)];
    let dir = folder(&files.map(|(name, text)| (name.to_owned(), text.to_owned())).into());
    assert_eq!(compile(dir.path(), "p.set").exit, 0);
    let call = |args: &[&str], stdout: Stdio| {
        let ran = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"))
            .args(args)
            .current_dir(dir.path())
            .stdin(File::open(dir.path().join("p.yaml")).expect("it is there"))
            .stdout(stdout)
            .output()
            .expect("the binary runs");
        (ran.status.code(), String::from_utf8(ran.stderr).expect("stderr is UTF-8"))
    };
    for args in PRINT {
        let full = File::options().write(true).open("/dev/full").expect("the device is there");
        let wanted = "error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!(call(args, full.into()), (Some(3), wanted.to_owned()), "{args:?}");
        // A reader that has gone away has what it wanted.
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let wanted = if args.contains(&"--nonsense") { 2 } else { 0 };
        assert_eq!(call(args, writer.into()), (Some(wanted), String::new()), "{args:?}");
    }
}
