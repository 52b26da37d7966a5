//! Rules, names and bytes on the wire, against receivers on loopback.

use super::names::Lookup;
use super::*;
use crate::app::PolicyState;
use crate::auth::Tokens;
use crate::guard::{Guard, GuardOptions};
use axum::http::{HeaderMap, HeaderValue, Method};
use policy_lang::diag::Levels;
use policy_lang::endpoint::{Catalogue, EndpointId};
use policy_lang::parse::Format;
use policy_lang::stages::{Document, Inputs, compile_document};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// The rules of `agents_webhooks_set` under a policy that says `params` of it.
fn judge(params: &str) -> Judge {
    let policy =
        format!("base_dir: /tmp\nendpoints: {{agents_webhooks_set: {{enabled: true, params: {params}}}}}");
    let (catalogue, levels) = (Catalogue::builtin(), Levels::new(false));
    let document = Document { name: "policy.yaml", bytes: policy.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    let policy = outcome.policy.expect("a policy without faults");
    let tokens = Tokens::read(None, None, |_| None).unwrap();
    let guard = Guard::open(GuardOptions::new("/tmp"), None).unwrap();
    Judge::for_test(PolicyState::new(policy, tokens, guard, Vec::new(), None), EndpointId::AgentsWebhooksSet)
}

/// Answers each look-up with the next list, the last one for ever, and counts.
#[derive(Debug)]
struct Script {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Script {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let answers = answers.iter().map(|list| list.iter().map(|text| text.parse().unwrap()).collect());
        Arc::new(Self { answers: answers.collect(), asked: AtomicUsize::new(0) })
    }
}

impl Names for Script {
    fn lookup<'a>(&'a self, _: &'a str, port: u16) -> Lookup<'a> {
        let turn = self.asked.fetch_add(1, Ordering::Relaxed);
        let list = self.answers.get(turn).or(self.answers.last()).cloned().unwrap_or_default();
        Box::pin(async move { Ok(list.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()) })
    }
}

async fn verdict(judge: &Judge, url: &str) -> String {
    match judge.place(url).await {
        Ok(place) => place.addresses().iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        Err(error) => error.name().to_owned(),
    }
}

#[tokio::test]
async fn row_61_62_68_70_no_spelling_reaches_a_private_address() {
    let judge = judge("{block_private_networks: true}").with_names(Script::new(&[&["8.8.8.8"]]));
    for url in [
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b:1::1]/",
        "http://[2002:7f00:1::]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.localhost/",
        "http://ok.com@127.0.0.1/",
        "http://ok.com\\@127.0.0.1/",
        "http://metadata.google.internal/",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/plain,x",
        "ftp://ok.com/",
        "ws://ok.com/",
    ] {
        let said = verdict(&judge, url).await;
        // The backslash is a slash to every client: the host is `ok.com`, and the rest is a path.
        let wanted = if url.contains('\\') { "8.8.8.8:80" } else { "url_not_allowed" };
        assert_eq!(said, wanted, "{url}");
    }
    assert_eq!(verdict(&judge, "http://ok.com/").await, "8.8.8.8:80");
    assert_eq!(verdict(&judge, "https://ok.com:8443/x").await, "8.8.8.8:8443");
    assert_eq!(verdict(&judge, "http:ok.com").await, "8.8.8.8:80");
    assert_eq!(verdict(&judge, "http://user:word@ok.com/").await, "user_in_url");
    assert_eq!(verdict(&judge, "ok.com").await, "malformed");
}

#[tokio::test]
async fn metadata_is_refused_even_where_private_networks_are_open() {
    let judge = judge("{}").with_names(Script::new(&[&["169.254.169.254"]]));
    for url in
        ["http://169.254.169.254/", "http://[fe80::1]/", "http://metadata.google.internal/", "http://ok.com/"]
    {
        assert_eq!(verdict(&judge, url).await, "url_not_allowed", "{url}");
    }
    assert_eq!(verdict(&judge, "http://127.0.0.1:9/").await, "127.0.0.1:9");
}

#[tokio::test]
async fn row_71_an_allow_entry_fits_no_more_than_it_says() {
    let judge = judge("{url_allow: ['https://*.ok.com']}").with_names(Script::new(&[&["8.8.8.8"]]));
    for url in [
        "https://ok.com.evil.com/",
        "https://evil-ok.com/",
        "https://a.ok.com:444/",
        "http://a.ok.com/",
        "https://ok.com/",
        "https://a.ok.com%2eevil.com/",
        "https://a.ok.com./",
    ] {
        assert_eq!(verdict(&judge, url).await, "url_not_allowed", "{url}");
    }
    assert_eq!(verdict(&judge, "https://A.OK.com/").await, "8.8.8.8:443");
}

#[tokio::test]
async fn row_64_every_address_of_a_name_must_pass() {
    for answer in [["10.0.0.1"].as_slice(), &["8.8.8.8", "10.0.0.1"], &["fd00::1"], &["8.8.8.8", "::1"]] {
        let judge = judge("{block_private_networks: true}").with_names(Script::new(&[answer]));
        assert_eq!(verdict(&judge, "http://ok.com/").await, "url_not_allowed", "{answer:?}");
    }
    let nothing = judge("{}").with_names(Script::new(&[&[]]));
    assert_eq!(verdict(&nothing, "http://ok.com/").await, "not_resolved");
}

#[tokio::test]
async fn row_65_a_name_that_changes_its_answer_leads_nowhere_else() {
    let judge = judge("{block_private_networks: true}");
    for _ in 0..1000 {
        let names = Script::new(&[&["8.8.8.8"], &["127.0.0.1"]]);
        let judge = judge.clone().with_names(Arc::clone(&names) as Arc<dyn Names>);
        let place = judge.place("http://ok.com/").await.unwrap();
        assert_eq!(place.addresses(), ["8.8.8.8:80".parse().unwrap()]);
        assert_eq!(names.asked.load(Ordering::Relaxed), 1);
        assert_eq!(verdict(&judge, "http://ok.com/").await, "url_not_allowed");
    }
}

/// A receiver that answers every connection with `answer` and then does `after`; gives its port and what it was sent.
async fn receiver(
    answer: &'static str,
    after: Duration,
) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sent, received) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\nbody") {
                let mut piece = [0; 1024];
                let read = stream.read(&mut piece).await.unwrap();
                head.extend_from_slice(&piece[..read]);
                // A greeting of TLS begins with 22.
                let asked = head.starts_with(b"GET") && head.ends_with(b"\r\n\r\n");
                if read == 0 || asked || head.starts_with(&[22]) {
                    break;
                }
            }
            sent.send(String::from_utf8_lossy(&head).into_owned()).unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            tokio::time::sleep(after).await;
        }
    });
    (port, received)
}

fn get(url: &str) -> Request<'_> {
    Request {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: bytes::Bytes::new(),
        time: Duration::from_secs(60),
    }
}

#[tokio::test]
async fn a_request_is_written_to_the_address_that_was_judged_and_the_answer_read() {
    let answer = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 5\r\n\r\nhello";
    let (port, mut received) = receiver(answer, Duration::ZERO).await;
    // The second look-up would lead astray.
    let names = Script::new(&[&["127.0.0.1"], &["8.8.8.8"]]);
    let judge = judge("{}").with_names(Arc::clone(&names) as Arc<dyn Names>);
    let url = format!("http://hook.test:{port}/in%20box?a=1#part");
    let headers = HeaderMap::from_iter([
        (axum::http::header::HOST, HeaderValue::from_static("elsewhere")),
        (axum::http::HeaderName::from_static("x-own"), HeaderValue::from_static("1")),
    ]);
    let request = Request { method: Method::POST, headers, body: "body".into(), ..get(&url) };
    let mut answer = send(&judge, request).await.unwrap();
    assert_eq!(answer.status, 302, "a redirect is not followed");
    assert_eq!(answer.bytes(5).await.unwrap(), "hello");
    let sent = received.recv().await.unwrap();
    assert!(sent.starts_with("POST /in%20box?a=1 HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("host: hook.test:{port}\r\n")), "{sent}");
    assert!(sent.contains("x-own: 1\r\n") && sent.contains("content-length: 4\r\n"), "{sent}");
    assert_eq!(names.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_goes_wrong_has_a_name() {
    let judge = judge("{}");
    let within = async |time: Duration, port: u16, most: u64| {
        let url = format!("http://127.0.0.1:{port}/");
        let request = Request { time, ..get(&url) };
        match send(&judge, request).await {
            Err(error) => error.name(),
            Ok(mut answer) => match answer.bytes(most).await {
                Ok(_) => "whole",
                Err(error) => error.name(),
            },
        }
    };
    let name = async |port: u16, most: u64| within(Duration::from_secs(60), port, most).await;
    let soon = Duration::from_millis(700);
    let long = Duration::from_secs(600);
    let (slow, _keep) = receiver("", long).await;
    assert_eq!(within(soon, slow, 10).await, "timeout");
    let (slow_body, _keep) = receiver("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello", long).await;
    assert_eq!(within(soon, slow_body, 10).await, "timeout");
    let (cut, _keep) = receiver("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello", Duration::ZERO).await;
    assert_eq!(name(cut, 10).await, "protocol");
    let (noise, _keep) = receiver("SSH-2.0-x\r\n", Duration::ZERO).await;
    assert_eq!(name(noise, 10).await, "protocol");
    let (large, _keep) = receiver("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", Duration::ZERO).await;
    assert_eq!(name(large, 4).await, "too_large");
    assert_eq!(name(large, 5).await, "whole");
    // Bound and not listening: nobody else gets the port meanwhile.
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    assert_eq!(name(closed.local_addr().unwrap().port(), 10).await, "not_connected");
    let url = format!("https://127.0.0.1:{noise}/");
    assert_eq!(send(&judge, get(&url)).await.unwrap_err().name(), "tls");
}
