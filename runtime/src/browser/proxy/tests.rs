//! The proxy by raw requests, against receivers on loopback.

use super::Proxy;
use crate::app::{App, PolicyState, Settings};
use crate::audit::Audit;
use crate::auth::Tokens;
use crate::browser::fence::{Fence, Trouble};
use crate::commands::Commands;
use crate::egress::{Lookup, Names};
use crate::env::Env;
use crate::guard::{Guard, GuardOptions};
use crate::process::{Engine, Environment, Programs, Setup};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::stages::{Document, Inputs, compile_document};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Answers look-ups in turn, from the beginning again, and counts.
#[derive(Debug)]
struct Turns(Vec<IpAddr>, AtomicUsize);

impl Names for Turns {
    fn lookup<'a>(&'a self, _: &'a str, port: u16) -> Lookup<'a> {
        let address = self.0[self.1.fetch_add(1, Ordering::Relaxed) % self.0.len()];
        Box::pin(async move { Ok(vec![SocketAddr::new(address, port)]) })
    }
}

/// A server of that policy for `browser_navigate`, a proxy of it, and its resolver.
async fn proxy(params: &str, answers: &[&str]) -> (Arc<App>, Proxy, Arc<Fence>, Arc<Turns>) {
    let policy =
        format!("base_dir: /tmp\nendpoints: {{browser_navigate: {{enabled: true, params: {params}}}}}");
    let (catalogue, levels) = (Catalogue::builtin(), Levels::new(false));
    let document = Document { name: "policy.yaml", bytes: policy.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    let policy = outcome.policy.expect("a policy without faults");
    let tokens = Tokens::read(None, None, |_| None).unwrap();
    let guard = Guard::open(GuardOptions::new("/tmp"), None).unwrap();
    let state = PolicyState::new(policy, tokens, guard, Vec::new(), None);
    let settings = Settings {
        host: "127.0.0.1".parse().unwrap(),
        http_port: 1,
        pty_port: 2,
        allow_origins: Vec::new(),
        allow_hosts: Vec::new(),
        sandbox_id: None,
        audit_file: None,
        state_dir: std::env::temp_dir(),
    };
    let setup = Setup {
        programs: Programs::from_path("".as_ref()),
        environment: Environment::new(Vec::new(), Vec::new()),
        identity: None,
        max_processes: 1,
        forward: None,
    };
    let engine = Engine::new(setup).unwrap();
    let app = Arc::new(App::new(
        state,
        settings,
        Audit::to_stderr().unwrap(),
        Env::read(),
        engine,
        Commands::default(),
    ));
    let answers = answers.iter().map(|text| text.parse().unwrap()).collect();
    let names = Arc::new(Turns(answers, AtomicUsize::new(0)));
    let fence = Arc::new(Fence::new(
        &app,
        "anonymous".into(),
        Some(Arc::clone(&names) as Arc<dyn Names>),
        Arc::default(),
    ));
    let proxy = Proxy::open(Arc::clone(&fence)).await.unwrap();
    (app, proxy, fence, names)
}

/// A receiver that answers each request with its own head, upgraded where that is asked, and counts connections.
async fn receiver() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, came) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&came);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let head = head(&mut stream).await;
                if head.starts_with(['\u{16}']) {
                    stream.write_all(b"encrypted").await.unwrap();
                    return;
                }
                let answer = if head.contains("Upgrade: websocket") {
                    format!("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n{head}")
                } else {
                    format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\nKeep-Alive: 5\r\n\r\n{head}", head.len())
                };
                stream.write_all(answer.as_bytes()).await.unwrap();
                let mut rest = [0; 64];
                while let Ok(read @ 1..) = stream.read(&mut rest).await {
                    stream.write_all(&rest[..read]).await.unwrap();
                }
            });
        }
    });
    (port, came)
}

/// Reads to the end of a head, of a piece of TLS, or of the stream.
async fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") && bytes != [22] {
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn send(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(text.as_bytes()).await.unwrap();
    head(stream).await
}

async fn ask(proxy: &Proxy, text: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.pages.port)).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let first = head(&mut stream).await;
    if first.contains("Content-Length: 0") || !first.contains("Content-Length") {
        return first;
    }
    first + &head(&mut stream).await
}

#[tokio::test]
async fn row_65_a_name_that_changes_its_answer_leads_nowhere_else() {
    let (port, came) = receiver().await;
    // Where the connection asked again, every one would be odd.
    let (_app, proxy, fence, names) = proxy("{}", &["127.0.0.1", "169.254.169.254"]).await;
    let url = format!("http://ok.test:{port}/");
    for turn in 0..500 {
        let answer = ask(&proxy, &format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert_eq!(answer.starts_with("HTTP/1.1 200"), turn % 2 == 0, "{turn}: {answer}");
    }
    assert_eq!((came.load(Ordering::Relaxed), names.1.load(Ordering::Relaxed)), (250, 500));
    assert_eq!(fence.trouble(&url), Some(Trouble::Refused("default:base".to_owned())));
}

#[tokio::test]
async fn a_request_is_passed_on_without_what_concerns_the_connection() {
    let (port, _) = receiver().await;
    let (_app, proxy, _, _) = proxy("{}", &["127.0.0.1"]).await;
    let request = format!(
        "GET http://ok.test:{port}/a%20b?c=d HTTP/1.1\r\nHost: evil.test\r\nX-Own: 1\r\nConnection: keep-alive, X-Hop\r\n\
         X-Hop: 1\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\nUpgrade: h2c\r\n\r\n"
    );
    let answer = ask(&proxy, &request).await;
    let (answered, passed) = answer.split_once("\r\n\r\n").unwrap();
    assert!(answered.starts_with("HTTP/1.1 200") && !answered.contains("Keep-Alive"), "{answered}");
    let mut lines: Vec<&str> = passed.trim_end().split("\r\n").collect();
    assert_eq!(lines.remove(0), "GET /a%20b?c=d HTTP/1.1");
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["Connection: close".to_owned(), format!("Host: ok.test:{port}"), "X-Own: 1".to_owned()]
    );
}

#[tokio::test]
async fn what_is_no_request_of_a_browser_is_refused() {
    let (port, came) = receiver().await;
    let (_app, proxy, _, _) = proxy("{}", &["127.0.0.1"]).await;
    for target in [
        "GET / HTTP/1.1".to_owned(),
        format!("GET https://ok.test:{port}/ HTTP/1.1"),
        format!("GET ftp://ok.test:{port}/ HTTP/1.1"),
        "CONNECT ok.test HTTP/1.1".to_owned(),
        format!("CONNECT user@ok.test:{port} HTTP/1.1"),
        "no request".to_owned(),
    ] {
        let answer = ask(&proxy, &format!("{target}\r\nHost: x\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{target}: {answer}");
    }
    assert_eq!(came.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_tunnel_carries_what_is_encrypted_and_judges_what_is_not() {
    let (port, came) = receiver().await;
    let (_app, proxy, _, _) = proxy("{url_deny: ['ok.test/secret']}", &["127.0.0.1"]).await;
    let open = async || {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.pages.port)).await.unwrap();
        let opened = send(&mut stream, &format!("CONNECT ok.test:{port} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
        stream
    };
    let mut stream = open().await;
    stream.write_all(&[22]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "encrypted");

    let socket = |path: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nHost: evil\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n"
        )
    };
    let mut stream = open().await;
    let answer = send(&mut stream, &socket("/chat")).await;
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    let passed = head(&mut stream).await;
    assert!(
        passed.starts_with("GET /chat HTTP/1.1\r\n") && passed.contains(&format!("Host: ok.test:{port}")),
        "{passed}"
    );
    let mut echo = [0; 4];
    stream.write_all(b"ping").await.unwrap();
    stream.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"ping");

    let before = came.load(Ordering::Relaxed);
    for path in ["/secret", "/Secret/x", "/%73ecret"] {
        assert_eq!(send(&mut open().await, &socket(path)).await, "", "{path}");
    }
    // Each tunnel was connected before it said what it is for, and nothing was sent.
    assert_eq!(came.load(Ordering::Relaxed), before + 3);
    let answer = send(&mut open().await, "SSH-2.0-x\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn an_encrypted_socket_goes_only_where_no_path_could_be_refused() {
    let (port, _) = receiver().await;
    let params = "{url_allow: [ok.test, all.test, 'some.test/part'], url_deny: ['ok.test/secret']}";
    let (_app, proxy, fence, _) = proxy(params, &["127.0.0.1"]).await;
    for (host, by_page, by_socket) in [
        ("all.test", true, true),
        ("ok.test", true, false),
        ("some.test", true, false),
        ("no.test", false, false),
    ] {
        for (door, wanted) in [(proxy.pages.port, by_page), (proxy.sockets.port, by_socket)] {
            let mut stream = TcpStream::connect(("127.0.0.1", door)).await.unwrap();
            let _ = send(&mut stream, &format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
            let mut answer = String::new();
            // One that was refused already takes nothing more.
            let _ = stream.write_all(&[22]).await;
            let _ = stream.read_to_string(&mut answer).await;
            assert_eq!(answer == "encrypted", wanted, "{host}: {answer}");
        }
    }
    let rule = "policy:endpoints.browser_navigate";
    assert_eq!(fence.trouble(&format!("https://ok.test:{port}/")), Some(Trouble::Refused(rule.to_owned())));
    let (lines, _) = fence.console.take();
    let lines: Vec<_> = lines.into_iter().map(|line| (line.r#type, line.text)).collect();
    let told = |host: &str| {
        let text = format!(
            "A socket to wss://{host}:{port} was refused by {rule}: its path cannot be seen, and URL rules for its host \
             name paths"
        );
        ("warning".to_owned(), text)
    };
    assert_eq!(lines, [told("ok.test"), told("some.test")]);
}

#[tokio::test]
async fn the_door_of_sockets_takes_nothing_but_tunnels() {
    let (port, came) = receiver().await;
    let (_app, proxy, _, _) = proxy("{}", &["127.0.0.1"]).await;
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.sockets.port)).await.unwrap();
    let answer = send(&mut stream, &format!("GET http://ok.test:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(came.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_tunnel_to_what_is_refused_is_not_opened() {
    let (port, came) = receiver().await;
    let (_app, proxy, fence, _) = proxy("{block_private_networks: true}", &["127.0.0.1"]).await;
    for host in ["ok.test", "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1"] {
        let answer = ask(&proxy, &format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{host}: {answer}");
        let url = format!("https://{host}:{port}/anything");
        let wanted = Some(Trouble::Refused("policy:endpoints.browser_navigate".to_owned()));
        assert_eq!(fence.trouble(&url), wanted, "{host}");
    }
    assert_eq!(came.load(Ordering::Relaxed), 0);
}
