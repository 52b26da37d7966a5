//! Commands whose text is awkward.

use crate::raw::post;
use crate::server::Setup;
use serde_json::json;

#[test]
fn row_31_a_heredoc_is_one_argument() {
    let server = Setup::new().start();
    let command = "sh -c \"cat <<'E'\nfirst $x\n  'second' \\\"third\\\"\nE\n\"";
    let answer = post(server.port, "/shell", &json!({ "command": command }).to_string()).json();
    assert_eq!(
        (&answer["stdout"], &answer["exit_code"]),
        (&json!("first $x\n  'second' \"third\"\n"), &json!(0)),
        "{answer}"
    );
}

#[test]
fn row_32_a_long_command_runs_or_is_refused() {
    let server = Setup::new().start();
    let words = "0123456 ".repeat(25_000);
    let many = post(server.port, "/shell", &json!({ "command": format!("echo {words}") }).to_string());
    assert_eq!((many.status, &many.json()["stdout"]), (200, &json!(format!("{}\n", words.trim_end()))));
    // The kernel takes no single word of more than 128 KiB.
    let long = "x".repeat(200_000);
    let one = post(server.port, "/shell", &json!({ "command": format!("echo {long}") }).to_string());
    assert_eq!((one.status, one.code().as_str()), (413, "request_too_large"), "{}", one.json());
}
