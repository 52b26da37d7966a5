//! Each endpoint, refused and malformed; and what there is no browser for.

use crate::client::Client;
use crate::driver::{Driver, browsers_of, setup};
use crate::server::Setup;
use serde_json::{Value, json};

/// Every endpoint with a call of it that is in order.
const CALLS: [(&str, &str, Option<&str>); 8] = [
    ("browser_navigate", "/browser/navigate", Some(r#"{"url": "http://127.0.0.1:9/"}"#)),
    ("browser_screenshot", "/browser/screenshot", Some("{}")),
    ("browser_content", "/browser/content", None),
    ("browser_click", "/browser/click", Some(r#"{"selector": "a"}"#)),
    ("browser_type", "/browser/type", Some(r#"{"selector": "a", "text": "b"}"#)),
    ("browser_evaluate", "/browser/evaluate", Some(r#"{"script": "1"}"#)),
    ("browser_pdf", "/browser/pdf", Some("{}")),
    ("browser_console", "/browser/console", None),
];

fn ask(port: u16, token: Option<&str>, path: &str, body: Option<&str>) -> (u16, Value) {
    let method = if body.is_some() { "POST" } else { "GET" };
    let answer = Client::new(port).ask(method, path, token, body);
    (answer.status, answer.json())
}

#[test]
fn each_is_closed_until_a_rule_opens_it() {
    let server = Setup::new().start();
    for (id, path, body) in CALLS {
        let wanted = json!({
            "error": format!("Endpoint is disabled: {id}"), "type": "ValueError", "code": "endpoint_disabled",
            "rule": "default:opt-in:browser", "endpoint": id,
        });
        assert_eq!(ask(server.port, None, path, body), (404, wanted));
    }
}

#[test]
fn each_asks_for_its_scope() {
    let driver = Driver::start("{}");
    for (id, path, body) in CALLS {
        let (status, answer) = ask(driver.server.port, Some("secret-none"), path, body);
        assert_eq!(
            (status, &answer["code"], &answer["scope"]),
            (403, &json!("missing_scope"), &json!("browser:use")),
            "{id}"
        );
        assert_eq!(ask(driver.server.port, None, path, body).0, 401, "{id}");
    }
    assert_eq!(driver.browsers(), [0_i32; 0], "nothing was started for any of them");
}

#[test]
fn what_is_malformed_names_its_parameter_and_starts_nothing() {
    let driver = Driver::start("{}");
    let (missing, invalid) = ("missing_parameter", "invalid_parameter");
    for (path, body, code, parameter) in [
        ("/browser/navigate", json!({}), missing, "url"),
        ("/browser/navigate", json!({ "url": 1 }), invalid, "url"),
        ("/browser/navigate", json!({ "url": "" }), invalid, "url"),
        ("/browser/navigate", json!({ "url": "no url" }), invalid, "url"),
        ("/browser/navigate", json!({ "url": "http://x/", "timeout": "1" }), invalid, "timeout"),
        ("/browser/navigate", json!({ "url": "http://x/", "timeout": 120_001 }), invalid, "timeout"),
        ("/browser/navigate", json!({ "url": "http://x/", "wait_until": "soon" }), invalid, "wait_until"),
        ("/browser/screenshot", json!({ "full_page": "yes" }), invalid, "full_page"),
        ("/browser/screenshot", json!({ "format": "gif" }), invalid, "format"),
        ("/browser/screenshot", json!({ "quality": 50 }), invalid, "quality"),
        ("/browser/screenshot", json!({ "format": "jpeg", "quality": 101 }), invalid, "quality"),
        ("/browser/screenshot", json!({ "selector": "a", "full_page": true }), invalid, "full_page"),
        ("/browser/click", json!({}), missing, "selector"),
        ("/browser/click", json!({ "selector": ["a"] }), invalid, "selector"),
        ("/browser/click", json!({ "selector": "a", "timeout": 60_001 }), invalid, "timeout"),
        ("/browser/type", json!({ "selector": "a" }), missing, "text"),
        ("/browser/type", json!({ "text": "a" }), missing, "selector"),
        ("/browser/type", json!({ "selector": "a", "text": 1 }), invalid, "text"),
        ("/browser/type", json!({ "selector": "a", "text": "b", "delay": -1 }), invalid, "delay"),
        ("/browser/type", json!({ "selector": "a", "text": "b", "clear": 1 }), invalid, "clear"),
        ("/browser/evaluate", json!({}), missing, "script"),
        ("/browser/evaluate", json!({ "script": "" }), invalid, "script"),
        ("/browser/evaluate", json!({ "script": "1", "timeout": 1e300 }), invalid, "timeout"),
        ("/browser/pdf", json!({ "format": "A9" }), invalid, "format"),
        ("/browser/pdf", json!({ "landscape": "yes" }), invalid, "landscape"),
    ] {
        let (status, answer) = driver.ask("one", path, Some(&body));
        assert_eq!(
            (status, &answer["code"], &answer["parameter"]),
            (400, &json!(code), &json!(parameter)),
            "{path} {body}"
        );
    }
    let (status, answer) = driver.ask("one", "/browser/content?type=xml", None);
    assert_eq!((status, &answer["parameter"]), (400, &json!("type")));
    assert_eq!(driver.browsers(), [0_i32; 0]);
    for selector in ["a[", "role=button", "a >> ", "//["] {
        let (status, answer) = driver.ask("one", "/browser/click", Some(&json!({ "selector": selector })));
        assert_eq!(
            (status, &answer["code"], &answer["parameter"]),
            (400, &json!(invalid), &json!("selector")),
            "{selector}: {answer}"
        );
    }
}

#[test]
fn a_time_of_zero_or_less_is_none() {
    let driver = Driver::start("{}");
    for timeout in [json!(0), json!(-5), json!(null)] {
        let body =
            json!({ "script": "new Promise(done => setTimeout(() => done(1), 300))", "timeout": timeout });
        assert_eq!(driver.ok("/browser/evaluate", body), json!({ "result": 1 }));
    }
}

#[test]
fn an_answer_that_is_larger_than_the_rules_allow_is_not_given() {
    let policy = r#"{"groups": {"browser": true}, "endpoints": {"group:browser": {"limits": {"max_output_bytes": 100}}}}"#;
    let driver = Setup::new().policy(policy).start();
    let script = |length: usize| format!(r#"{{"script": "'x'.repeat({length})"}}"#);
    assert_eq!(ask(driver.port, None, "/browser/evaluate", Some(&script(10))).0, 200);
    for (path, body) in [
        ("/browser/evaluate", Some(script(100))),
        ("/browser/screenshot", Some("{}".to_owned())),
        ("/browser/pdf", Some("{}".to_owned())),
    ] {
        let (status, answer) = ask(driver.port, None, path, body.as_deref());
        let wanted = json!({
            "error": "The answer is larger than the limit of 100 bytes", "type": "ValueError", "code": "file_too_large",
            "limit": 100,
        });
        assert_eq!((status, answer), (413, wanted), "{path}");
    }
}

#[test]
fn where_there_is_no_browser_what_was_looked_for_is_named() {
    let unavailable =
        |error: &str| json!({ "error": error, "type": "RuntimeError", "code": "browser_unavailable" });
    let nowhere = setup("{}").env("PATH", "/nowhere").start();
    let named = setup("{}").env("ABX_BROWSER", "/no/such/browser").start();
    let other = setup("{}").env("ABX_BROWSER", "/bin/false").start();
    let names = "The browser is not installed: none of chromium, chromium-browser, google-chrome-stable, google-chrome, chrome, \
                 chrome-headless-shell is in PATH; install Chromium or set ABX_BROWSER";
    let missing =
        "The browser is not installed: ABX_BROWSER names `/no/such/browser`, which is no program here";
    for (server, wanted) in
        [(&nowhere, names), (&named, missing), (&other, "The browser did not start: it ended at once")]
    {
        for (id, path, body) in CALLS {
            assert_eq!(ask(server.port, Some("secret-one"), path, body), (503, unavailable(wanted)), "{id}");
        }
        assert_eq!(browsers_of(server.pid()), [0_i32; 0]);
    }
}

/// The ports that a process listens on.
fn listening(pid: u32) -> Vec<u16> {
    let handles = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let links = handles.filter_map(|handle| std::fs::read_link(handle.path()).ok());
    let sockets: Vec<String> = links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned()))
        .collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listens = fields[3] == "0A" && sockets.iter().any(|inode| inode == fields[9]);
        listens.then(|| u16::from_str_radix(fields[1].rsplit_once(':').unwrap().1, 16).unwrap())
    };
    table.lines().skip(1).filter_map(port).collect()
}

#[test]
fn nobody_gets_at_what_the_server_opened_for_its_browser() {
    let (site, other) = (crate::site::home(), crate::site::Sink::new());
    let policy = r#"{"groups": {"browser": true, "terminal": true}}"#;
    let server = Setup::new().policy(policy).start();
    let go =
        |url: String| ask(server.port, None, "/browser/navigate", Some(&json!({ "url": url }).to_string()));
    assert_eq!(go(site.url("/")).0, 200);
    let tunnel = |port: u16| {
        let mut stream = crate::raw::connect(server.port);
        let request = format!(
            "GET /tunnel HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Sandbox-Port: {port}\r\n\r\n"
        );
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut status = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut status).unwrap();
        String::from_utf8_lossy(&status).into_owned()
    };
    let ports = listening(server.pid());
    assert_eq!(ports.len(), 4, "requests, terminals, pages and sockets: {ports:?}");
    for port in ports {
        assert_eq!(tunnel(port), "HTTP/1.1 403", "{port}");
        let (status, answer) = go(format!("http://127.0.0.1:{port}/"));
        assert_eq!((status, &answer["code"]), (403, &json!("url_not_allowed")), "{answer}");
    }
    assert_eq!(tunnel(other.port), "HTTP/1.1 101");
}
