//! What a command says of a machine that does not answer.

use crate::run::run;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;

#[test]
fn a_server_that_is_silent_is_said_to_be() {
    // Connections are taken by the kernel, and nobody ever answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    let args = ["healthcheck", "--port", &port.to_string(), "--timeout", "0.05"];
    let ran = run(Path::new("."), &args, &BTreeMap::new(), "");
    let wanted = format!("agent-sandbox-server: 127.0.0.1:{port} does not answer within 0.05 s\n");
    assert_eq!((ran.exit, ran.stderr), (1, wanted));
}
