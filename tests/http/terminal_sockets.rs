//! Terminals and the tunnel through real sockets.

use crate::raw::{get, post, request};
use crate::server::{PATIENCE, Server, Setup};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::stream::MaybeTlsStream;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, connect};

pub type Socket = WebSocket<MaybeTlsStream<TcpStream>>;

pub fn open(server: &Server, body: &Value) -> String {
    let answer = post(server.port, "/pty/sessions", &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()["session_id"].as_str().unwrap().to_owned()
}

pub fn attach(port: u16, session: &str, more: &str) -> Socket {
    let (socket, _) = connect(format!("ws://localhost:{port}/pty?session_id={session}{more}")).unwrap();
    wait_no_longer_than(&socket, 2 * PATIENCE);
    socket
}

/// What never comes is a failure, and no test that hangs.
fn wait_no_longer_than(socket: &Socket, time: Duration) {
    let MaybeTlsStream::Plain(stream) = socket.get_ref() else { panic!("a plain socket is wanted") };
    stream.set_read_timeout(Some(time)).unwrap();
}

pub fn say(socket: &mut Socket, frame: &Value) {
    if let Err(error) = socket.send(Message::Text(frame.to_string().into())) {
        let rest: Vec<_> = std::iter::from_fn(|| next(socket).ok()).collect();
        panic!("{frame} was not taken ({error}); before that came {rest:?}");
    }
}

/// The next JSON frame; `None` at the end, with the close code in its place.
pub fn next(socket: &mut Socket) -> Result<Value, u16> {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => return Ok(serde_json::from_str(&text).unwrap()),
            Ok(Message::Close(frame)) => return Err(frame.map_or(1005, |frame| frame.code.into())),
            Ok(_) => {}
            Err(_) => return Err(1006),
        }
    }
}

/// Reads until the output so far holds `wanted`; everything read, and the offset behind it.
fn until(socket: &mut Socket, wanted: &str) -> (String, u64) {
    let (mut seen, mut behind) = (String::new(), 0);
    while !seen.contains(wanted) {
        let frame = next(socket).unwrap();
        if frame["type"] == "output" {
            let data = frame["data"].as_str().unwrap();
            seen.push_str(data);
            behind = frame["offset"].as_u64().unwrap() + data.len() as u64;
        }
    }
    (seen, behind)
}

/// Types a line again and again until what it prints has come: a shell that is just being interrupted drops what it has
/// read, and nothing tells when it is over that.
fn typed_until(socket: &mut Socket, line: &str, wanted: &str) {
    let (mut seen, until) = (String::new(), Instant::now() + PATIENCE);
    while !seen.contains(wanted) {
        assert!(Instant::now() < until, "`{line}` was never taken: {seen:?}");
        say(socket, &json!({"type": "input", "data": line}));
        wait_no_longer_than(socket, Duration::from_secs(1));
        while !seen.contains(wanted)
            && let Ok(frame) = next(socket)
        {
            seen.push_str(frame["data"].as_str().unwrap_or_default());
        }
    }
    wait_no_longer_than(socket, 2 * PATIENCE);
}

/// Waits until a process with this word in its command line runs.
fn started(word: &str) {
    let until = Instant::now() + PATIENCE;
    let runs = || {
        let found = std::process::Command::new("pgrep").args(["-f", word]).output().unwrap();
        found.status.success()
    };
    while !runs() {
        assert!(Instant::now() < until, "{word} never ran");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_terminal_speaks_the_protocol_on_both_ports() {
    let server = Setup::new().start();
    for port in [server.port, server.pty_port.unwrap()] {
        let id = open(&server, &json!({"shell": "/bin/sh", "cols": 91, "rows": 17, "env": {"PS1": "$"}}));
        let mut socket = attach(port, &id, "");
        let started = next(&mut socket).unwrap();
        assert_eq!((&started["event"], &started["session_id"]), (&json!("started"), &json!(id)));
        say(&mut socket, &json!({"type": "input", "data": "stty size; echo é€; exit 3\n"}));
        let (seen, _) = until(&mut socket, "é€\r\n");
        assert!(seen.contains("17 91\r\n"), "{seen:?}");
        let last = loop {
            match next(&mut socket) {
                Ok(frame) if frame["type"] == "event" => break frame,
                Ok(_) => {}
                Err(code) => panic!("closed with {code} before the end"),
            }
        };
        assert_eq!((&last["event"], &last["exit_code"]), (&json!("exited"), &json!(3)));
        assert_eq!(next(&mut socket), Err(1000));
        let shown = get(server.port, &format!("/pty/sessions/{id}")).json();
        assert_eq!((&shown["alive"], &shown["exit_code"]), (&json!(false), &json!(3)));
    }
}

// runtime 47
#[test]
fn a_session_outlives_its_socket_and_is_replayed_from_an_offset() {
    let server = Setup::new().start();
    let id = open(&server, &json!({"shell": "/bin/sh", "env": {"PS1": "$"}}));
    let mut first = attach(server.port, &id, "");
    say(&mut first, &json!({"type": "input", "data": "echo on''e\n"}));
    let (_, behind) = until(&mut first, "one\r\n");
    drop(first);
    let mut second = attach(server.port, &id, &format!("&offset={behind}"));
    say(&mut second, &json!({"type": "input", "data": "echo tw''o\n"}));
    let (seen, _) = until(&mut second, "two\r\n");
    assert!(!seen.contains("one\r\n"), "{seen:?}");
    let refused = connect(format!("ws://localhost:{}/pty?session_id={id}&takeover=false", server.port));
    assert!(matches!(refused, Err(Error::Http(answer)) if answer.status() == 409));
    let mut third = attach(server.port, &id, "&offset=0");
    let (seen, _) = until(&mut third, "two\r\n");
    assert!(seen.contains("one\r\n"), "the scrollback is replayed: {seen:?}");
    let code = loop {
        if let Err(code) = next(&mut second) {
            break code;
        }
    };
    assert_eq!(code, 4001);
    let closed = request(server.port, "DELETE", &format!("/pty/sessions/{id}"), &[], None);
    assert_eq!(closed.json(), json!({"status": "closed", "session_id": id}));
    assert_eq!(get(server.port, &format!("/pty/sessions/{id}")).status, 404);
}

#[test]
fn of_many_that_do_not_take_over_one_is_attached() {
    let server = Setup::new().start();
    let id = open(&server, &json!({"shell": "/bin/sh"}));
    let url = format!("ws://localhost:{}/pty?session_id={id}&takeover=false", server.port);
    for _ in 0..10 {
        let sockets: Vec<_> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8).map(|_| scope.spawn(|| connect(&url))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let refused =
            |answer: &Result<_, Error>| matches!(answer, Err(Error::Http(answer)) if answer.status() == 409);
        assert_eq!(sockets.iter().filter(|socket| refused(socket)).count(), 7);
        let shown = get(server.port, &format!("/pty/sessions/{id}")).json();
        assert_eq!(shown["attached"], true, "whoever has been answered is attached");
        let (mut socket, _) = sockets.into_iter().find_map(Result::ok).unwrap();
        socket.close(None).unwrap();
        // The answer to a farewell: the place is free.
        while socket.read().is_ok() {}
    }
}

// security 56, 182
#[test]
fn control_frames_do_what_they_say_and_nothing_else() {
    let server = Setup::new()
        .policy(&json!({"endpoints": {"pty_connect": {"params": {"allowed_signals": [2]}}}}).to_string())
        .start();
    let id = open(&server, &json!({"shell": "/bin/sh", "env": {"PS1": "$"}}));
    let mut socket = attach(server.port, &id, "");
    for nothing in ["{", "7", "{\"type\":\"other\"}", "{\"type\":\"resize\",\"cols\":-1,\"rows\":2}"] {
        socket.send(Message::Text(nothing.into())).unwrap();
    }
    say(&mut socket, &json!({"type": "signal", "signal": "SIGKILL"}));
    say(&mut socket, &json!({"type": "resize", "cols": 120, "rows": 40}));
    let nap = format!("sleep 600.{}", server.pid());
    say(&mut socket, &json!({"type": "input", "data": format!("stty size; {nap}; echo wo''ken $?\n")}));
    until(&mut socket, "40 120\r\n");
    started(&format!("^{nap}"));
    say(&mut socket, &json!({"type": "signal", "signal": "SIGINT"}));
    typed_until(&mut socket, "echo ali''ve\n", "alive\r\n");
    socket.send(Message::Binary(vec![1, 2].into())).unwrap();
    let code = loop {
        if let Err(code) = next(&mut socket) {
            break code;
        }
    };
    assert_eq!(code, 1003);
}

// security 143
#[test]
fn there_are_ten_sessions_and_not_one_more() {
    let server = Setup::new().start();
    let ids: Vec<String> = (0..10).map(|_| open(&server, &json!({"shell": "/bin/sh"}))).collect();
    let refused = post(server.port, "/pty/sessions", "{}");
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_sessions"));
    request(server.port, "DELETE", &format!("/pty/sessions/{}", ids[0]), &[], None);
    open(&server, &json!({"shell": "/bin/sh"}));
    assert_eq!(get(server.port, "/pty/sessions").json()["sessions"].as_array().unwrap().len(), 10);

    // A command on a terminal takes a place as well, whichever way it came.
    let url = format!("ws://localhost:{}/v2/sandboxes/box/execute/ws", server.port);
    let (mut socket, _) = tokio_tungstenite::tungstenite::connect(&url).unwrap();
    let execute = json!({"type": "execute", "command": "cat", "pty": true});
    say(&mut socket, &execute);
    let refused = next(&mut socket).unwrap();
    assert_eq!(
        (&refused["type"], &refused["error"]),
        (&json!("error"), &json!("Too many terminal sessions"))
    );
    request(server.port, "DELETE", &format!("/pty/sessions/{}", ids[1]), &[], None);
    let (mut socket, _) = tokio_tungstenite::tungstenite::connect(&url).unwrap();
    say(&mut socket, &execute);
    assert_eq!(next(&mut socket).unwrap()["type"], "started");
    assert_eq!(post(server.port, "/pty/sessions", "{}").code(), "too_many_sessions");
}

#[test]
fn ten_that_come_at_once_all_find_a_place() {
    let server = Setup::new().start();
    for _ in 0..5 {
        let ids: Vec<String> = std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..10).map(|_| scope.spawn(|| open(&server, &json!({"shell": "/bin/sh"})))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        for id in ids {
            request(server.port, "DELETE", &format!("/pty/sessions/{id}"), &[], None);
        }
    }
}

// runtime 52
#[test]
fn a_raw_tunnel_carries_bytes_to_the_port_that_is_named() {
    use std::io::{Read, Write};
    let server = Setup::new().start();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(1) {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 5];
            stream.read_exact(&mut bytes).unwrap();
            bytes.reverse();
            stream.write_all(&bytes).unwrap();
        }
    });
    let dial = |port: &str| {
        let mut request = format!("ws://localhost:{}/tunnel", server.port).into_client_request().unwrap();
        request.headers_mut().insert("x-sandbox-port", port.parse().unwrap());
        connect(request)
    };
    let (mut socket, _) = dial(&port.to_string()).unwrap();
    socket.send(Message::Binary(b"abcde".to_vec().into())).unwrap();
    assert_eq!(socket.read().unwrap(), Message::Binary(b"edcba".to_vec().into()));
    let own = server.port.to_string();
    for (port, status) in
        [(own.as_str(), 403), ("0", 403), ("80", 403), ("65536", 400), ("x", 400), ("1025", 404)]
    {
        match dial(port) {
            Err(Error::Http(answer)) => assert_eq!(answer.status(), status, "{port}"),
            other => panic!("{port}: {other:?}"),
        }
    }
}

// runtime 2
#[test]
fn row_2_a_silent_command_outlives_seven_lost_sockets() {
    let server = Setup::new().start();
    let id = open(&server, &json!({"shell": "/bin/sh", "env": {"PS1": "$"}}));
    let mut socket = attach(server.port, &id, "");
    say(&mut socket, &json!({"type": "input", "data": "echo re''ady; sleep 60; echo never\n"}));
    let started = next(&mut socket).unwrap();
    // Not the echo of what was typed, which may come before the shell takes signals.
    until(&mut socket, "ready\r\n");
    for _ in 0..7 {
        drop(socket);
        socket = attach(server.port, &id, "");
        assert_eq!(next(&mut socket).unwrap(), started);
    }
    let shown = get(server.port, &format!("/pty/sessions/{id}")).json();
    assert_eq!((&shown["alive"], &shown["exit_code"]), (&json!(true), &Value::Null));
    say(&mut socket, &json!({"type": "signal", "signal": "SIGINT"}));
    typed_until(&mut socket, "echo ba''ck\n", "back\r\n");
}

// security 142
#[test]
fn row_142_input_pushed_into_a_terminal_reaches_no_other() {
    let server = Setup::new().start();
    let push = "import fcntl, sys; [fcntl.ioctl(open(sys.argv[1]), 0x5412, c.encode()) for c in \"id\\n\"]";
    let other = open(&server, &json!({"shell": "/bin/sh", "env": {"PS1": "$"}}));
    let seen = || get(server.port, &format!("/pty/sessions/{other}?offset=0")).json()["data"].clone();
    let mut socket = attach(server.port, &other, "");
    say(&mut socket, &json!({"type": "input", "data": "tty\n"}));
    let (text, _) = until(&mut socket, "/dev/pts/");
    let name = text.lines().find(|line| line.starts_with("/dev/pts/")).map(str::to_owned);
    // The prompt comes after it.
    let until = Instant::now() + PATIENCE;
    let at_rest = |data: &Value| data.as_str().is_some_and(|data| data.ends_with("\r\n$"));
    while !at_rest(&seen()) {
        assert!(Instant::now() < until, "{}", seen());
        std::thread::sleep(Duration::from_millis(20));
    }
    let before = seen();
    // A call has no terminal, and that of a session is not its own.
    for terminal in ["/dev/tty".to_owned(), name.unwrap_or_else(|| "/dev/tty".to_owned())] {
        let answer = post(server.port, "/shell", &json!({"command": format!("setpriv --bounding-set=-all --inh-caps=-all sh -c 'exec python3 -c \"$0\" \"$1\"' '{push}' {terminal}")}).to_string());
        assert_eq!(answer.status, 200, "{}", answer.json());
        assert_ne!(answer.json()["exit_code"], 0, "{terminal}: {}", answer.json());
    }
    // What is typed now comes behind whatever was pushed before.
    say(&mut socket, &json!({"type": "input", "data": "echo la''st\n"}));
    let until = Instant::now() + PATIENCE;
    while !seen().as_str().is_some_and(|data| data.ends_with("last\r\n$")) {
        assert!(Instant::now() < until, "{}", seen());
        std::thread::sleep(Duration::from_millis(20));
    }
    let wanted = format!("{}echo la''st\r\nlast\r\n$", before.as_str().unwrap());
    assert_eq!(seen(), wanted, "something was typed into another session");
}
