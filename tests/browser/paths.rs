//! Rules that name paths, which nobody sees inside an encrypted connection.

use crate::driver::{Driver, eventually, setup};
use crate::server::PATIENCE;
use crate::server::machine::program;
use crate::site::{Encrypted, Page, home};
use std::path::Path;
use std::time::{Duration, Instant};

/// A server whose browser takes the certificate of [`Encrypted`], which is nobody's.
fn trusting(rules: &str, folder: &Path) -> Driver {
    let browser = folder.join("browser");
    program(&browser, "#!/bin/sh\nexec chromium \"$@\" --ignore-certificate-errors\n");
    Driver { server: setup(rules).env("ABX_BROWSER", browser.to_str().unwrap()).start() }
}

/// Opens a socket from the page, and waits until it has ended.
fn socket(driver: &Driver, url: &str) {
    let script = format!(
        "new Promise(done => {{ const s = new WebSocket('{url}'); s.onclose = () => done('closed') }})"
    );
    assert_eq!(driver.eval(&script), "closed", "{url}");
}

#[test]
fn a_path_that_is_denied_is_denied_to_sockets_too() {
    let site = home();
    let port = site.port;
    let driver = Driver::start(&format!(r#"{{"url_deny": ["127.0.0.1:{port}/secret"]}}"#));
    driver.go(&site.url("/"));
    let answer = driver.eval("new Promise(done => { const s = new WebSocket('ws://' + location.host + '/secret'); s.onclose = () => done('closed') })");
    assert_eq!(answer, "closed");
    assert_eq!(driver.eval("fetch('/secret').then(() => 'read', () => 'refused')"), "refused");
    driver.eval("new Promise(done => { const s = new WebSocket('ws://' + location.host + '/open'); s.onclose = () => done('closed') })");
    assert_eq!((site.was_asked("/secret"), site.was_asked("/open")), (false, true), "{:?}", site.asked());
}

#[test]
fn a_path_inside_an_encrypted_connection_is_judged_by_the_page() {
    let (site, folder) = (home(), tempfile::tempdir().unwrap());
    let encrypted = Encrypted::new(folder.path());
    let host = format!("127.0.0.1:{}", encrypted.port);
    site.add("/worker.js", Page::script(&format!("fetch('https://{host}/no/service', {{mode: 'no-cors'}}).catch(() => 0); fetch('https://{host}/ok/service', {{mode: 'no-cors'}}).catch(() => 0)")));
    let rules = format!(r#"{{"url_allow": ["http://127.0.0.1:{}", "https://{host}/ok"]}}"#, site.port);
    let driver = trusting(&rules, folder.path());
    let asked = || {
        let asked = encrypted.asked().into_iter().filter(|path| path != "/favicon.ico");
        asked.collect::<std::collections::BTreeSet<_>>()
    };
    // Windows are closed unseen, and shared workers where the rules name paths.
    let wanted =
        ["fetch", "frame", "image", "location", "service", "worker"].map(|what| format!("/ok/{what}"));
    let arrive = |paths: &[&String]| {
        let until = Instant::now() + PATIENCE;
        while !paths.iter().all(|path| asked().contains(*path)) {
            assert!(Instant::now() < until, "only these were asked for: {:?}", asked());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    for path in ["/no", "/ok"] {
        driver.go(&site.url("/"));
        let url = |what: &str| format!("'https://{host}{path}/{what}'");
        let fetch =
            |what: &str| format!("fetch({}, {{mode: 'no-cors'}}).catch(() => 0).then(() => 0)", url(what));
        driver.eval(&fetch("fetch"));
        driver.eval(&format!("const i = new Image(); i.src = {}; 0", url("image")));
        driver.eval(&format!(
            "const f = document.createElement('iframe'); f.src = {}; document.body.append(f); 0",
            url("frame")
        ));
        driver.eval(&format!("window.open({}); 0", url("window")));
        driver.eval(&format!("new Worker(URL.createObjectURL(new Blob([\"{}\"]))); 0", fetch("worker")));
        driver
            .eval(&format!("new SharedWorker(URL.createObjectURL(new Blob([\"{}\"]))); 0", fetch("shared")));
        driver.eval("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 0)");
        driver.eval("new Promise(done => setTimeout(done, 1500))");
        if path == "/ok" {
            // Before the page is left: that would call back what is still on its way.
            arrive(&wanted.iter().filter(|path| *path != "/ok/location").collect::<Vec<_>>());
        }
        driver.eval(&format!("location = {}; 0", url("location")));
        std::thread::sleep(Duration::from_millis(300));
    }
    arrive(&wanted.iter().collect::<Vec<_>>());
    assert_eq!(asked(), wanted.into_iter().collect());
    assert_eq!(driver.go(&format!("https://{host}/ok"))["status"], 200);
    assert_eq!(driver.refused(&format!("https://{host}/no")), "policy:endpoints.browser_navigate");
}

#[test]
fn a_worker_of_a_page_runs_and_loads_what_the_page_may_load() {
    let (site, folder) = (home(), tempfile::tempdir().unwrap());
    let encrypted = Encrypted::new(folder.path());
    let host = format!("127.0.0.1:{}", encrypted.port);
    let rules = format!(r#"{{"url_allow": ["http://127.0.0.1:{}", "https://{host}/ok"]}}"#, site.port);
    let driver = trusting(&rules, folder.path());
    driver.go(&site.url("/"));
    for (path, wanted) in [("/ok", "read"), ("/no", "refused"), ("/ok/more", "read")] {
        let fetch = format!(
            "fetch('https://{host}{path}', {{mode: 'no-cors'}}).then(() => postMessage('read'), () => postMessage('refused'))"
        );
        let script = format!(
            "new Promise(done => {{ new Worker(URL.createObjectURL(new Blob([\"{fetch}\"]))).onmessage = (e) => done(e.data) }})"
        );
        assert_eq!(driver.eval(&script), wanted, "{path}");
    }
    eventually("what was read was asked for, and nothing else", || encrypted.asked() == ["/ok", "/ok/more"]);
}

#[test]
fn an_encrypted_socket_is_refused_where_a_rule_names_a_path_of_its_host() {
    let folder = tempfile::tempdir().unwrap();
    let (site, [denied, part, open]) = (home(), [(); 3].map(|()| Encrypted::new(folder.path())));
    let host = |of: &Encrypted| format!("127.0.0.1:{}", of.port);
    let lists = [
        format!(r#"{{"url_deny": ["{}/secret", "https://{}/x"]}}"#, host(&denied), host(&part)),
        format!(
            r#"{{"url_allow": ["127.0.0.1:{}", "{}/part", "{}", "{}"], "url_deny": ["{}/secret"]}}"#,
            site.port,
            host(&part),
            host(&denied),
            host(&open),
            host(&denied)
        ),
    ];
    for rules in lists {
        let driver = trusting(&rules, folder.path());
        driver.go(&site.url("/"));
        let _ = driver.console();
        for (number, encrypted) in [&denied, &part, &open].into_iter().enumerate() {
            // A request first: its connection must not carry the socket.
            let fetch = format!(
                "fetch('https://{}/part/page', {{mode: 'no-cors'}}).then(() => 'read', () => 'refused')",
                host(encrypted)
            );
            assert_eq!(driver.eval(&fetch), "read", "{rules} {number}");
            for path in ["/secret", "/part/x", "/"] {
                socket(&driver, &format!("wss://{}{path}", host(encrypted)));
                let why = format!("A socket to wss://{} was refused", host(encrypted));
                let told = || driver.console().iter().any(|(_, text)| text.starts_with(&why));
                match number {
                    0 | 1 => eventually("the page is told", told),
                    _ => assert!(!told(), "{rules} {number}"),
                }
            }
            // Sockets in the clear are still judged by their whole path: here they find no answer, and no refusal.
            socket(&driver, &format!("ws://{}/part/clear", host(encrypted)));
            assert!(
                !driver.console().iter().any(|(_, text)| text.contains("was refused by")),
                "{rules} {number}"
            );
        }
    }
    let asked =
        |of: &Encrypted| of.asked().into_iter().filter(|path| path != "/part/page").collect::<Vec<_>>();
    assert_eq!((asked(&denied), asked(&part)), (vec![], vec![]));
    let twice = ["/secret", "/part/x", "/", "/secret", "/part/x", "/"];
    eventually("the sockets that may open have asked", || asked(&open) == twice);
}

#[test]
fn what_the_browser_loads_or_sends_for_a_page_is_judged_by_its_path_too() {
    let folder = tempfile::tempdir().unwrap();
    let encrypted = Encrypted::new(folder.path());
    let url = |path: &str| format!("https://127.0.0.1:{}{path}", encrypted.port);
    let driver = trusting(&format!(r#"{{"url_allow": ["{}"]}}"#, url("/ok")), folder.path());
    let link = |rel: &str| {
        let to = url("/no/link");
        format!("Object.assign(document.createElement('link'), {{rel: '{rel}', as: 'image', href: '{to}'}})")
    };
    let ahead = |kind: &str| {
        let rules = format!("{{{kind}: [{{urls: ['{}'], eagerness: 'immediate'}}]}}", url("/no/ahead"));
        format!(
            "Object.assign(document.createElement('script'), {{type: 'speculationrules', textContent: JSON.stringify({rules})}})"
        )
    };
    let elements = ["icon", "manifest", "prefetch", "preload", "modulepreload", "prerender"].map(link);
    let elements = elements.into_iter().chain(["prefetch", "prerender"].map(ahead));
    let calls = [
        format!("navigator.sendBeacon('{}', 'x')", url("/no/beacon")),
        format!(
            "Object.assign(document.createElement('a'), {{href: '#x', ping: '{}'}}).click()",
            url("/no/ping")
        ),
        format!(
            "navigator.credentials.get({{identity: {{providers: [{{configURL: '{}', clientId: '1'}}]}}}}).catch(() => 0)",
            url("/no/identity")
        ),
        format!("new Image().src = '{}'", url("/ok/reported")),
    ];
    let means = elements.map(|element| format!("document.head.append({element})")).chain(calls);
    let mut wanted = vec![];
    for (number, script) in means.enumerate() {
        let page = format!("/ok/reports{number}");
        // Reports of a page are sent when it is left.
        assert_eq!(driver.go(&url(&page))["status"], 200);
        driver.eval(&format!("{script}; new Promise(done => setTimeout(() => done(0), 300))"));
        // Whoever leaves the page calls back what has not been sent yet.
        if script.contains("/ok/reported") {
            eventually("the image is asked for", || encrypted.asked().contains(&"/ok/reported".to_owned()));
        }
        wanted.push(page);
    }
    driver.go(&url("/ok/last"));
    driver.eval("new Promise(done => setTimeout(() => done(0), 1500))");
    wanted.extend(["/ok/reported".to_owned(), "/ok/last".to_owned()]);
    wanted.sort();
    let mut asked: Vec<String> =
        encrypted.asked().into_iter().filter(|path| path != "/favicon.ico").collect();
    asked.sort();
    assert_eq!(asked, wanted);
}
