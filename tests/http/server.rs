//! Starts the real server with a policy, an environment and a base directory of its own, and stops it again.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[path = "machine.rs"]
pub mod machine;

/// How long anything that must happen is waited for. It fails nothing that is right: a busy machine may stand still for
/// many seconds.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// How a server is to be started.
#[derive(Debug, Default, Clone)]
pub struct Setup {
    policy: Option<String>,
    env: Vec<(String, String)>,
    args: Vec<String>,
    files: Vec<(String, String)>,
    links: Vec<(String, String)>,
    host: Option<String>,
    port: Option<String>,
    no_base_dir: bool,
    user: Option<u32>,
    under: Vec<String>,
    within: Option<PathBuf>,
}

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub port: u16,
    pub pty_port: Option<u16>,
    pub dir: TempDir,
    stderr: Arc<Mutex<Vec<String>>>,
    reader: JoinHandle<()>,
    _state: TempDir,
}

/// A server that did not start.
#[derive(Debug)]
pub struct Refusal {
    pub status: i32,
    pub stderr: String,
}

impl Setup {
    pub fn new() -> Self {
        Self::default()
    }

    /// The policy document; `{base}` stands for the base directory.
    pub fn policy(mut self, text: &str) -> Self {
        self.policy = Some(text.to_owned());
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub fn port(mut self, port: &str) -> Self {
        self.port = Some(port.to_owned());
        self
    }

    /// Without `--base-dir`, so that the policy or the environment names it.
    pub fn no_base_dir(mut self) -> Self {
        self.no_base_dir = true;
        self
    }

    /// Runs it as this user and group, to whom the base directory then belongs.
    pub fn user(mut self, id: u32) -> Self {
        self.user = Some(id);
        self
    }

    /// Runs it as the child of this command.
    pub fn under(mut self, command: &[&str]) -> Self {
        self.under = command.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Where its directory is made, instead of among the temporary files.
    pub fn within(mut self, dir: &Path) -> Self {
        self.within = Some(dir.to_owned());
        self
    }

    /// A file beneath the base directory.
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// A symbolic link beneath the base directory, and what it names.
    pub fn link(mut self, path: &str, target: &str) -> Self {
        self.links.push((path.to_owned(), target.to_owned()));
        self
    }

    /// Starts it; a server that refuses is a failed test.
    pub fn start(&self) -> Server {
        self.try_start().unwrap_or_else(|refusal| panic!("the server did not start: {}", refusal.stderr))
    }

    /// Starts it, or says how it refused.
    pub fn try_start(&self) -> Result<Server, Refusal> {
        let dir = self.within.clone().unwrap_or_else(std::env::temp_dir);
        let dir = tempfile::tempdir_in(dir).unwrap();
        let base = base(&dir);
        std::fs::create_dir(&base).unwrap();
        for (path, text) in &self.files {
            let path = base.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        for (path, target) in &self.links {
            std::os::unix::fs::symlink(fill(target, &base), base.join(path)).unwrap();
        }
        let binary = env!("CARGO_BIN_EXE_agent-sandbox-server");
        let mut command = match self.under.split_first() {
            None => Command::new(binary),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(binary);
                command
            }
        };
        if let Some(id) = self.user {
            for path in [dir.path(), &base] {
                std::os::unix::fs::chown(path, Some(id), Some(id)).unwrap();
            }
            command.uid(id).gid(id);
        }
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // State of its own, too; a root of its own has that already.
        let state = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(state.path(), self.user, self.user).unwrap();
        if self.under.first().is_none_or(|word| word != "sh") {
            command.env("ABX_STATE_DIR", state.path());
        }
        let host = self.host.as_deref().unwrap_or("127.0.0.1");
        let port = self.port.as_deref().unwrap_or("0");
        command.args(["serve", "--host", host, "--port", port, "--pty-port", "0"]);
        if !self.no_base_dir {
            command.arg("--base-dir").arg(&base);
        }
        if let Some(policy) = &self.policy {
            let path = dir.path().join("policy.yaml");
            std::fs::write(&path, fill(policy, &base)).unwrap();
            command.arg("--policy").arg(path);
        }
        command.args(self.args.iter().map(|arg| fill(arg, &base)));
        command.envs(self.env.iter().map(|(name, value)| (name, fill(value, &base))));
        run(command, dir, state)
    }
}

/// `{base}` and `{dir}` in a text.
pub fn fill(text: &str, base: &Path) -> String {
    let dir = base.parent().unwrap_or(base);
    text.replace("{base}", &base.display().to_string()).replace("{dir}", &dir.display().to_string())
}

fn base(dir: &TempDir) -> PathBuf {
    dir.path().join("base")
}

fn run(mut command: Command, dir: TempDir, state: TempDir) -> Result<Server, Refusal> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = Arc::new(Mutex::new(Vec::new()));
    let lines = BufReader::new(child.stderr.take().unwrap());
    let kept = Arc::clone(&stderr);
    let reader = std::thread::spawn(move || {
        for line in lines.split(b'\n').map_while(Result::ok) {
            kept.lock().unwrap().push(String::from_utf8_lossy(&line).into_owned());
        }
    });
    // Counted in turns: time in which all of this was stopped is none in which it could have started.
    let turn = Duration::from_millis(2);
    for _ in 0..PATIENCE.as_millis() / turn.as_millis() {
        let listening = stderr.lock().unwrap().iter().find_map(|line| ports(line));
        if let Some((port, pty_port)) = listening {
            return Ok(Server { child, port, pty_port, dir, stderr, reader, _state: state });
        }
        if let Some(status) = child.try_wait().unwrap() {
            reader.join().unwrap();
            let stderr = stderr.lock().unwrap().join("\n");
            return Err(Refusal { status: status.code().unwrap_or(-1), stderr });
        }
        std::thread::sleep(turn);
    }
    panic!("the server neither listens nor ends");
}

/// The ports of HTTP and of terminals in the line that names them.
pub fn ports(line: &str) -> Option<(u16, Option<u16>)> {
    let rest = line.split_once("listening on http://")?.1;
    let (http, pty) =
        rest.split_once(", terminals on ws://").map_or((rest, None), |(http, pty)| (http, Some(pty)));
    let port = |text: &str| text.rsplit_once(':')?.1.trim_end_matches("/pty").parse().ok();
    Some((port(http)?, pty.and_then(port)))
}

impl Server {
    pub fn base(&self) -> PathBuf {
        base(&self.dir)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The server itself, where it is the child of another command.
    pub fn inner_pid(&self) -> u32 {
        let outer = self.pid();
        let children = std::fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap();
        children.trim().parse().unwrap()
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// What it has written to stderr so far.
    pub fn stderr(&self) -> Vec<String> {
        self.stderr.lock().unwrap().clone()
    }

    /// Waits until a line of stderr holds `text`.
    pub fn wait_for(&self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(line) = self.stderr().into_iter().find(|line| line.contains(text)) {
                return line;
            }
            assert!(Instant::now() < until, "`{text}` never came: {:#?}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The audit line of a request.
    pub fn audit_of(&self, request_id: &str) -> serde_json::Value {
        serde_json::from_str(&self.wait_for(&format!("\"request_id\":\"{request_id}\""))).unwrap()
    }

    /// Waits until stderr holds so many lines with `text`.
    pub fn wait_for_count(&self, text: &str, count: usize) {
        let until = Instant::now() + PATIENCE;
        while self.stderr().iter().filter(|line| line.contains(text)).count() < count {
            assert!(Instant::now() < until, "`{text}` never came {count} times: {:#?}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Shows the end of its log beside a test that failed.
    #[expect(clippy::print_stderr, reason = "for whoever reads of the failure")]
    fn show(&self) {
        const LINES: usize = 60;
        let log = self.stderr.lock().map(|lines| lines.clone()).unwrap_or_default();
        eprintln!("the log of the server on port {}, {} lines:", self.port, log.len());
        for line in log.iter().skip(log.len().saturating_sub(LINES)) {
            eprintln!("  {line}");
        }
    }

    pub fn signal(&self, name: &str) {
        let done =
            Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// Stops it and gives its exit status and everything it wrote.
    pub fn stop(self) -> (Option<i32>, Vec<String>) {
        self.stop_and(|| ())
    }

    /// The same; looks at what it leaves before its directory goes.
    pub fn stop_and(mut self, look: impl FnOnce()) -> (Option<i32>, Vec<String>) {
        self.signal("TERM");
        let status = self.child.wait().unwrap();
        look();
        // What it wrote last may still be on its way through the pipe.
        let until = Instant::now() + PATIENCE;
        while !self.reader.is_finished() {
            assert!(Instant::now() < until, "something that it started still writes to its log");
            std::thread::sleep(Duration::from_millis(2));
        }
        (status.code(), self.stderr())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone after `stop`.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            self.show();
        }
    }
}

/// Whether floods and races run at full length.
pub fn full() -> bool {
    std::env::var_os("FULL_COUNTS").is_some_and(|value| value == "1")
}
