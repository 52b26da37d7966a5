//! Paths on the wire that are no rows of one endpoint: encodings, odd names, special files, many at once.

use crate::raw::{get, post, request};
use crate::server::{Server, Setup};
use std::time::{Duration, Instant};

/// A file beside the base directory that no answer may show.
fn server() -> Server {
    Setup::new().file("../outside/secret.txt", "canary").file("a.txt", "a").start()
}

#[test]
fn row_11_what_is_encoded_twice_is_a_name() {
    let server = server();
    for (spelling, status) in [
        ("%2e%2e%2foutside%2fsecret.txt", 403),
        ("..%2foutside/secret.txt", 403),
        ("a/%2e%2e/%2e%2e/outside/secret.txt", 403),
        ("%252e%252e%252foutside%252fsecret.txt", 404),
        ("..%252foutside%252fsecret.txt", 404),
        ("..%c0%afoutside%c0%afsecret.txt", 404),
        ("%c0%ae%c0%ae/outside/secret.txt", 404),
        ("%u002e%u002e/outside/secret.txt", 404),
        ("%EF%BC%8E%EF%BC%8E/outside/secret.txt", 404),
        ("..%EF%BC%8Foutside%EF%BC%8Fsecret.txt", 404),
        ("..%5coutside%5csecret.txt", 404),
    ] {
        for (method, door) in [
            ("GET", "/download"),
            ("GET", "/files/download-stream"),
            ("GET", "/files/list"),
            ("DELETE", "/files"),
        ] {
            let answer = request(server.port, method, &format!("{door}?path={spelling}"), &[], None);
            let code = if status == 403 { "path_not_allowed" } else { "not_found" };
            assert_eq!((answer.status, answer.code().as_str()), (status, code), "{method} {door} {spelling}");
            assert!(!String::from_utf8_lossy(&answer.body).contains("canary"));
        }
    }
    assert_eq!(std::fs::read(server.base().join("../outside/secret.txt")).unwrap(), b"canary");
}

#[test]
fn row_20_control_bytes_are_names_and_never_break_a_line() {
    let names = ["new\nline", "escape\u{1b}[2J", "return\r", "tab\t", "delete\u{7f}"];
    let setup = names.iter().fold(Setup::new(), |setup, name| setup.file(name, "text"));
    let server = setup.start();
    for name in names {
        let encoded: String = name.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = get(server.port, &format!("/download?path={encoded}"));
        assert_eq!((answer.status, &answer.json()["content_base64"]), (200, &"dGV4dA==".into()), "{name:?}");
        let line = server.audit_of(answer.id());
        assert_eq!(line["path"], *name);
    }
    let stray = |line: &String| line.chars().any(char::is_control);
    assert_eq!(server.stderr().into_iter().filter(stray).collect::<Vec<_>>(), [] as [String; 0]);
}

#[test]
fn row_23_a_fifo_holds_nobody_up() {
    let server = server();
    let made = std::process::Command::new("mkfifo").arg(server.base().join("fifo")).status();
    assert!(made.unwrap().success());
    let bodies = [
        ("/upload", r#"{"path":"fifo","content_base64":"YQ=="}"#, 400),
        ("/files/upload-stream", r#"{"path":"fifo","content_base64":"YQ=="}"#, 400),
        ("/files/archive", r#"{"paths":["."]}"#, 200),
        ("/files/search", r#"{"path":".","pattern":"fifo"}"#, 200),
        ("/files/grep", r#"{"path":".","pattern":"a"}"#, 200),
    ];
    let asked = |answer: crate::raw::Answer, wanted: u16, begun: Instant, what: &str| {
        assert_eq!(answer.status, wanted, "{what}: {}", answer.json());
        assert!(wanted == 200 || answer.code() == "not_a_regular_file", "{what}: {}", answer.json());
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {:?}", begun.elapsed());
    };
    for target in ["/download?path=fifo", "/files/download-stream?path=fifo"] {
        let begun = Instant::now();
        asked(get(server.port, target), 400, begun, target);
    }
    for (target, body, wanted) in bodies {
        let begun = Instant::now();
        asked(post(server.port, target, body), wanted, begun, target);
    }
}

#[test]
fn row_25_one_of_many_uploads_wins() {
    use base64::Engine as _;
    let server = server();
    let contents: Vec<String> = (0..64).map(|turn| format!("upload {turn}")).collect();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let uploads: Vec<_> = contents
            .iter()
            .map(|content| {
                let content = base64::engine::general_purpose::STANDARD.encode(content);
                let body = serde_json::json!({"path": "new", "content_base64": content, "overwrite": false});
                scope.spawn(move || post(server.port, "/upload", &body.to_string()))
            })
            .collect();
        uploads.into_iter().map(|upload| upload.join().unwrap()).collect()
    });
    let winners: Vec<_> = (0..64).filter(|turn| answers[*turn].status == 200).collect();
    assert_eq!(winners.len(), 1, "{winners:?}");
    let lost = answers.iter().filter(|answer| answer.code() == "already_exists" && answer.status == 409);
    assert_eq!(lost.count(), 63);
    assert_eq!(std::fs::read_to_string(server.base().join("new")).unwrap(), contents[winners[0]]);
    let names: Vec<_> =
        std::fs::read_dir(server.base()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing is left over: {names:?}");
}

#[test]
fn row_29_odd_paths_are_names_inside_the_base() {
    let server = server();
    let base = server.base().display().to_string();
    for (spelling, path) in [
        ("~", "/~"),
        ("~root", "/~root"),
        ("~/a.txt", "/~/a.txt"),
        ("file:///etc/passwd", "/file:/etc/passwd"),
        ("C:%5cx", "/C:\\x"),
        ("$HOME", "/$HOME"),
        ("a%20b", "/a b"),
        ("a+b", "/a b"),
        ("...", "/..."),
    ] {
        let answer = get(server.port, &format!("/files/stat?path={spelling}")).json();
        assert_eq!(
            (&answer["path"], &answer["exists"]),
            (&format!("{base}{path}").into(), &false.into()),
            "{spelling}"
        );
    }
    assert_eq!(get(server.port, "/files/stat?path=.").json()["path"], base);
    assert_eq!(get(server.port, "/files/list?path=.").json()["entries"][0]["name"], "a.txt");
}
