//! A server whose group has little memory and few processes, as a container has: what its figures say, and what a program
//! that takes too much costs.
//!
//! Only root can make such a group: elsewhere the test says so and passes.

use crate::raw::{get, post};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Memory of the group, in MiB.
const MEMORY: u64 = 300;

/// Processes and threads of the group.
const TASKS: &str = "96";

/// Directories of the control groups; removed when dropped, which the server must be before.
struct Group {
    version: &'static str,
    places: Vec<PathBuf>,
}

impl Group {
    /// A new group with these bounds, by whichever version this machine has.
    fn new() -> Option<Self> {
        let name = format!("abx-test-{}", std::process::id());
        let all = Path::new("/sys/fs/cgroup");
        let bytes = (MEMORY << 20).to_string();
        let mut group = Self { version: "cgroup v1", places: Vec::new() };
        let (memory, tasks) = (all.join("memory").join(&name), all.join("pids").join(&name));
        if memory.parent().is_some_and(Path::exists) {
            group.add(&memory, &[("memory.limit_in_bytes", &bytes)])?;
            // Where nothing is counted of what is swapped out, there is no such file.
            let _ = std::fs::write(memory.join("memory.memsw.limit_in_bytes"), &bytes);
            group.add(&tasks, &[("pids.max", TASKS)])?;
        } else {
            group.version = "cgroup v2";
            let place = all.join(&name);
            group.add(&place, &[("memory.max", &bytes), ("pids.max", TASKS)])?;
            let _ = std::fs::write(place.join("memory.swap.max"), "0");
        }
        Some(group)
    }

    fn add(&mut self, place: &Path, bounds: &[(&str, &str)]) -> Option<()> {
        std::fs::create_dir(place).ok()?;
        self.places.push(place.to_owned());
        bounds.iter().try_for_each(|(name, value)| std::fs::write(place.join(name), value)).ok()
    }

    /// A server in it.
    fn start(&self) -> Server {
        let enter: Vec<_> =
            self.places.iter().map(|place| format!("echo $$ > {}/cgroup.procs", place.display())).collect();
        let script = format!("{}; exec \"$0\" \"$@\"", enter.join("; "));
        Setup::new().under(&["/bin/sh", "-c", &script]).start()
    }

    /// How many tasks are in it.
    fn tasks(&self) -> usize {
        let place = self.places.last().unwrap();
        std::fs::read_to_string(place.join("pids.current")).unwrap().trim().parse().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for place in &self.places {
            let begun = Instant::now();
            while std::fs::remove_dir(place).is_err() && begun.elapsed() < PATIENCE {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

fn shell(server: &Server, body: &Value) -> (u16, Value) {
    let answer = post(server.port, "/shell", &body.to_string());
    (answer.status, answer.json())
}

// runtime 28
#[test]
fn row_28_what_takes_too_much_ends_and_the_server_does_not() {
    let Some(group) = Group::new() else {
        eprintln!("skipped: no control group can be made here");
        return;
    };
    let server = group.start();
    let told = get(server.port, "/system/info").json();
    assert_eq!((&told["memory_total_mb"], &told["limited_by"]), (&json!(MEMORY), &json!(group.version)));
    let told = get(server.port, "/system/metrics").json();
    assert_eq!((&told["memory_total_mb"], &told["limited_by"]), (&json!(MEMORY), &json!(group.version)));

    // Twice the memory there is.
    let hog = json!({"command": format!("python3 -c 'print(len(b\"x\" * ({MEMORY} << 21)))'")});
    let killed = json!({"stdout": "", "stderr": "", "exit_code": -9, "signal": 9});
    assert_eq!(shell(&server, &hog), (200, killed));

    // More processes than there may be, each of which makes two. The command itself makes one, which it still can.
    let before = group.tasks();
    let bomb = json!({"command": "sh -c 'f() { f | f & }; (f) & exec sleep 600'", "timeout": 1});
    let (status, answer) = shell(&server, &bomb);
    assert_eq!((status, &answer["code"]), (500, &json!("timeout")), "{answer}");
    assert_eq!(get(server.port, "/health").status, 200);
    assert_eq!(shell(&server, &json!({"command": "echo fine"})).1["stdout"], "fine\n");
    let begun = Instant::now();
    // Threads of the server come and go.
    while group.tasks() > before + 8 {
        assert!(begun.elapsed() < PATIENCE, "{} tasks where {before} were", group.tasks());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
