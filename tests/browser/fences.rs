//! Which URLs may be opened, whoever opens them: the caller, a redirect, or the page by any means it has.

use crate::driver::{Driver, eventually};
use crate::site::{Page, Sink, Site, home};
use serde_json::{Value, json};
use std::time::Duration;

const BLOCKED: &str = r#"{"block_private_networks": true}"#;

#[test]
fn row_61_62_70_no_spelling_of_a_private_address_is_opened() {
    let (driver, sink) = (Driver::start(BLOCKED), Sink::new());
    let port = sink.port;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "127.1",
        "①②⑦.⓪.⓪.①",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "[fe80::1]",
        "10.0.0.1",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "ok.com@127.0.0.1",
        "metadata.google.internal",
    ] {
        driver.refused(&format!("http://{host}:{port}/"));
    }
    driver.refused(&format!("http:127.0.0.1:{port}"));
    assert_eq!((sink.came(), driver.browsers()), (0, vec![]));
}

#[test]
fn row_64_a_name_with_a_private_answer_is_not_opened() {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    let Ok(mut found) = std::net::ToSocketAddrs::to_socket_addrs(&(name.as_str(), 1)) else { return };
    let private = |address: std::net::SocketAddr| match address.ip() {
        std::net::IpAddr::V4(ip) => ip.is_private() || ip.is_loopback(),
        std::net::IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local(),
    };
    if found.any(private) {
        Driver::start(BLOCKED).refused(&format!("http://{name}:1/"));
    }
}

#[test]
fn row_68_only_http_and_https_are_opened() {
    let driver = Driver::start("{}");
    for url in [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " file:///etc/passwd",
        "\tfile:/etc/passwd",
        "view-source:http://127.0.0.1/",
        "chrome://version",
        "chrome-error://chromewebdata/",
        "devtools://devtools/bundled/inspector.html",
        "data:text/html,x",
        "blob:http://127.0.0.1/x",
        "javascript:alert(1)",
        "java\nscript:alert(1)",
        "ftp://127.0.0.1/",
        "ws://127.0.0.1/",
        "about:blank",
        "filesystem:http://127.0.0.1/x",
        "intent:x",
    ] {
        assert_eq!(driver.refused(url), "default:base", "{url}");
    }
}

#[test]
fn row_68_a_page_gets_no_further_with_them() {
    let driver = Driver::start("{}");
    let site = Site::new(&[("/", Page::html("<title>Home</title>"))]);
    for script in [
        "location = 'file:///etc/passwd'",
        "location = 'chrome://version'",
        "location = 'view-source:' + location",
        "location = 'data:text/html,<title>Data</title>'",
        "window.open('file:///etc/passwd')",
        "const f = document.createElement('iframe'); f.src = 'file:///etc/passwd'; document.body.append(f); 0",
        "const a = document.createElement('a'); a.href = 'file:///etc/passwd'; a.click()",
        "fetch('file:///etc/passwd').then(() => 'read', () => 'refused')",
    ] {
        driver.go(&site.url("/"));
        let _ = driver.ask("one", "/browser/evaluate", Some(&json!({ "script": script })));
        std::thread::sleep(Duration::from_millis(150));
        let (_, content) = driver.ask("one", "/browser/content", None);
        assert!(!content.to_string().contains("root:"), "{script}");
        assert_eq!(content["url"], site.url("/"), "{script}");
    }
    driver.go(&site.url("/"));
    let read = "new Promise(done => { const f = document.createElement('iframe'); f.src = 'file:///etc/passwd';\
                document.body.append(f); setTimeout(() => done(f.contentDocument ? f.contentDocument.body.innerText : ''), 400) })";
    assert_eq!(driver.eval(read), "");
}

#[test]
fn row_71_an_allow_entry_fits_no_more_than_it_says() {
    let site = Site::new(&[("/", Page::html("<title>Home</title>"))]);
    let (port, other) = (site.port, Sink::new());
    let driver =
        Driver::start(&format!(r#"{{"url_allow": ["http://127.0.0.1:{port}/", "https://*.ok.com"]}}"#));
    assert_eq!(driver.go(&site.url("/"))["status"], 200);
    for url in [
        format!("http://localhost:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{}/", other.port),
        "https://ok.com/".to_owned(),
        "https://ok.com.evil.com/".to_owned(),
        "https://evil-ok.com/".to_owned(),
        "https://a.ok.com:444/".to_owned(),
        "http://a.ok.com/".to_owned(),
        "https://a.ok.com%2eevil.com/".to_owned(),
        "https://a.ok.com./".to_owned(),
    ] {
        assert_eq!(driver.refused(&url), "policy:endpoints.browser_navigate", "{url}");
    }
    assert_eq!(other.came(), 0);
}

#[test]
fn a_redirect_is_judged_at_every_step() {
    let (site, sink) = (Site::new(&[]), Sink::new());
    site.add("/", Page::html("<title>Home</title>"));
    site.add("/out", Page::redirect(&format!("http://127.0.0.1:{}/x", sink.port)));
    site.add("/tls", Page::redirect(&format!("https://127.0.0.1:{}/x", sink.port)));
    site.add("/deny", Page::redirect("/hidden"));
    site.add("/hidden", Page::html("<title>Hidden</title>"));
    let (port, deny) = (site.port, sink.port);
    let driver =
        Driver::start(&format!(r#"{{"url_deny": ["127.0.0.1:{deny}", "127.0.0.1:{port}/hidden"]}}"#));
    driver.go(&site.url("/"));
    for path in ["/out", "/tls", "/deny"] {
        let (status, answer) =
            driver.ask("one", "/browser/navigate", Some(&json!({ "url": site.url(path) })));
        let wanted = json!({
            "error": "Refused by policy: url_not_allowed", "type": "PermissionError", "code": "url_not_allowed",
            "endpoint": "browser_navigate", "rule": "policy:endpoints.browser_navigate",
        });
        assert_eq!((status, answer), (403, wanted), "{path}");
    }
    assert_eq!((sink.came(), site.was_asked("/hidden")), (0, false));
    assert_eq!(driver.go(&site.url("/"))["title"], "Home");
}

/// Everything a page can do to reach `http://HOST` and, over a socket, `ws://HOST`.
fn means(host: &str) -> Vec<String> {
    let tag = |name: &str, attributes: &str| {
        format!(
            "new Promise(done => {{ const e = document.createElement('{name}'); Object.assign(e, {{{attributes}}});\
             e.onload = e.onerror = () => done(0); document.head.append(e); setTimeout(done, 400) }})"
        )
    };
    let worker = |code: &str, kind: &str| {
        let code = code.replace('\'', "\\'");
        format!("new {kind}(URL.createObjectURL(new Blob(['{code}'], {{type: 'text/javascript'}}))); 0")
    };
    vec![
        format!("fetch('http://{host}/', {{mode: 'no-cors'}}).catch(() => 0).then(() => 0)"),
        format!("fetch('http://{host}/', {{method: 'POST', mode: 'no-cors', body: 'x'}}).catch(() => 0).then(() => 0)"),
        format!("fetch('https://{host}/', {{mode: 'no-cors'}}).catch(() => 0).then(() => 0)"),
        format!("new XMLHttpRequest().open('GET', 'http://{host}/'); const r = new XMLHttpRequest(); r.open('GET', 'http://{host}/'); r.send(); 0"),
        format!("navigator.sendBeacon('http://{host}/', 'x')"),
        format!("new EventSource('http://{host}/'); 0"),
        format!("new Promise(done => {{ const s = new WebSocket('ws://{host}/ws'); s.onclose = () => done(0) }})"),
        format!("new Promise(done => {{ const s = new WebSocket('wss://{host}/ws'); s.onclose = () => done(0) }})"),
        format!("window.open('http://{host}/'); 0"),
        format!("window.open('http://{host}/', '_blank', 'noopener'); 0"),
        tag("img", &format!("src: 'http://{host}/i.png'")),
        tag("script", &format!("src: 'http://{host}/s.js'")),
        tag("iframe", &format!("src: 'http://{host}/f'")),
        tag("link", &format!("rel: 'stylesheet', href: 'http://{host}/c.css'")),
        tag("link", &format!("rel: 'prefetch', href: 'http://{host}/p'")),
        tag("link", &format!("rel: 'preconnect', href: 'http://{host}/'")),
        tag("link", &format!("rel: 'dns-prefetch', href: 'http://{host}/'")),
        tag("script", &format!("type: 'speculationrules', textContent: JSON.stringify({{prerender: [{{urls: ['http://{host}/sp']}}]}})")),
        worker(&format!("fetch('http://{host}/', {{mode: 'no-cors'}}); new WebSocket('ws://{host}/')"), "Worker"),
        worker(&format!("fetch('http://{host}/', {{mode: 'no-cors'}})"), "SharedWorker"),
        "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 0)".to_owned(),
        format!(
            "const p = new RTCPeerConnection({{iceServers: [{{urls: ['stun:{host}', 'turn:{host}?transport=tcp'], username: 'u', credential: 'c'}}]}});\
             p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)).then(() => 0)"
        ),
        format!(
            "try {{ const t = new WebTransport('https://{host}/'); t.closed.catch(() => 0); t.ready.catch(() => 0) }} catch (e) {{}}; 0"
        ),
        format!("location = 'http://{host}/'; 0"),
    ]
}

/// Has a page try everything against `host`.
fn try_all(driver: &Driver, site: &Site, host: &str) {
    site.add("/worker.js", Page::script(&format!("fetch('http://{host}/', {{mode: 'no-cors'}})")));
    for script in means(host) {
        driver.go(&site.url("/"));
        let body = json!({ "script": script, "timeout": 3000 });
        let (status, answer) = driver.ask("one", "/browser/evaluate", Some(&body));
        assert!(matches!(status, 200 | 408), "{script}: {answer}");
        std::thread::sleep(Duration::from_millis(60));
    }
    std::thread::sleep(Duration::from_millis(800));
}

#[test]
fn row_67_nothing_that_a_page_does_reaches_what_is_denied() {
    let (site, sink, open) = (home(), Sink::new(), Sink::new());
    let driver = Driver::start(&format!(r#"{{"url_deny": ["127.0.0.1:{}"]}}"#, sink.port));
    try_all(&driver, &site, &format!("127.0.0.1:{}", sink.port));
    assert_eq!(sink.came(), 0);
    assert!(!driver.console().is_empty(), "the page was told");
    // The same means do reach what is not denied, so the count above says something.
    try_all(&driver, &site, &format!("127.0.0.1:{}", open.port));
    eventually("the open port is reached in many ways", || open.came() > 10);
}

#[test]
fn row_67_nothing_that_a_page_does_reaches_a_private_network() {
    // The page itself is private too: only its own origin is let through, by a path that the rules name.
    let (site, sink) = (home(), Sink::new());
    let driver = Driver::start(&format!(r#"{{"url_allow": ["http://127.0.0.1:{}"]}}"#, site.port));
    for host in [
        format!("localhost:{}", sink.port),
        format!("[::ffff:127.0.0.1]:{}", sink.port),
        format!("0.0.0.0:{}", sink.port),
    ] {
        try_all(&driver, &site, &host);
        assert_eq!(sink.came(), 0, "{host}");
    }
}

#[test]
fn a_page_does_not_reach_the_server_itself() {
    let driver = Driver::start("{}");
    let own = format!("http://127.0.0.1:{}/health", driver.server.port);
    assert_eq!(driver.refused(&own), "default:base");
    let site = home();
    driver.go(&site.url("/"));
    let read = format!("fetch('{own}', {{mode: 'no-cors'}}).then(() => 'read', () => 'refused')");
    assert_eq!(driver.eval(&read), "refused");
}

#[test]
fn a_reload_of_the_policy_holds_for_pages_that_are_open() {
    let (site, sink) = (home(), Sink::new());
    let driver = Driver::start("{}");
    driver.go(&site.url("/"));
    let ask =
        format!("fetch('http://127.0.0.1:{}/', {{mode: 'no-cors'}}).catch(() => 0).then(() => 0)", sink.port);
    driver.eval(&ask);
    // A browser may try again on its own.
    let mut before = 0;
    eventually("the port is reached, and then left alone", || {
        let seen = std::mem::replace(&mut before, sink.came());
        std::thread::sleep(Duration::from_secs(1));
        before > 0 && before == seen && before == sink.came()
    });
    let policy = driver.server.dir.path().join("policy.yaml");
    let text = std::fs::read_to_string(&policy).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document["endpoints"]["browser_navigate"]["params"] =
        json!({ "url_deny": [format!("127.0.0.1:{}", sink.port)] });
    std::fs::write(&policy, document.to_string()).unwrap();
    driver.server.signal("HUP");
    driver.server.wait_for("policy reloaded");
    driver.eval(&ask);
    assert_eq!(sink.came(), before);
}
