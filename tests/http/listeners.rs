//! Listeners of a program on addresses of both families, as the server lists them.

use crate::raw::{get, post};
use crate::server::{PATIENCE, Setup};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Listens on one port by three addresses, and says who it is, the port, and which addresses it got.
const PROGRAM: &str = "
import os, socket, sys
def listen(family, address, port):
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((address, port))
    made.listen()
    return made
kept = [listen(socket.AF_INET, '127.0.0.1', 0)]
port, got = kept[0].getsockname()[1], ['127.0.0.1']
for address in ('::', '::1'):
    try:
        kept.append(listen(socket.AF_INET6, address, port))
        got.append(address)
    except OSError:
        pass
print(os.getpid(), port, *got, flush=True)
sys.stdin.read()
";

// runtime 57
#[test]
fn row_57_each_address_of_a_port_is_listed_once() {
    let server = Setup::new().file("listens.py", PROGRAM).start();
    let started = post(
        server.port,
        "/process/start",
        &json!({"command": "python3 listens.py", "stdin": true}).to_string(),
    );
    let output = format!("/process/{}/output", started.json()["pid"]);
    let begun = Instant::now();
    let said = loop {
        let said = get(server.port, &output).json();
        assert!(begun.elapsed() < PATIENCE, "it never listened: {said}");
        match said["stdout"].as_str().and_then(|text| text.strip_suffix('\n')) {
            Some(line) => break line.to_owned(),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let mut words = said.split(' ');
    let mut number = || words.next().unwrap().parse::<u64>().unwrap();
    let (pid, port) = (number(), number());
    // A machine without the later family has the first address alone.
    let wanted: Vec<Value> = words.map(|address| json!([address, pid, address == "::"])).collect();
    let listed = get(server.port, "/ports").json();
    let mut found: Vec<Value> = listed["listening"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["port"] == port && one["pid"] == pid)
        .map(|one| json!([one["address"], one["pid"], one["wildcard"]]))
        .collect();
    found.sort_by_key(Value::to_string);
    assert_eq!(found, wanted, "{listed}");
}
