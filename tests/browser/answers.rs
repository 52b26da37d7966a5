//! Each endpoint, allowed: the whole answer.

use crate::driver::Driver;
use crate::server::machine::ClosedPort;
use crate::site::{Gate, Page, Site};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::time::Duration;

const HOME: &str = "<!DOCTYPE html><html><head><title>Home</title></head><body><h1>Hello</h1><p hidden>unseen</p></body></html>";

fn site() -> Site {
    let site = Site::new(&[
        ("/", Page::html(HOME)),
        ("/moved", Page::redirect("/")),
        ("/missing", Page::html("<title>Gone</title>").status(404)),
        ("/slow", Page::html("<title>Slow</title><img src=/late.png><script>fetch('/later')</script>")),
        ("/quiet", Page::html("<title>Quiet</title><link rel=icon href=data:,>")),
        (
            "/tall",
            Page::html(
                "<title>Tall</title><body style='margin:0'><div id=box style='height:3000px;width:200px;background:red'></div>",
            ),
        ),
        ("/file", Page::html("x").header("Content-Disposition: attachment; filename=x.bin")),
    ]);
    let elsewhere = format!("http://localhost:{}/", site.port);
    site.add("/away", Page::redirect(&elsewhere));
    site
}

#[test]
fn navigate_says_where_the_page_is_and_what_the_answer_was() {
    let (driver, site) = (Driver::start("{}"), site());
    let go = |path: &str| driver.go(&site.url(path));
    let found = |path: &str, title: &str, status: u16| json!({ "url": site.url(path), "title": title, "status": status });
    assert_eq!(go("/"), found("/", "Home", 200));
    assert_eq!(go("/moved"), found("/", "Home", 200));
    assert_eq!(go("/missing"), found("/missing", "Gone", 404));
    assert_eq!(go("/missing#part"), found("/missing#part", "Gone", 404), "a move within the document");
    let elsewhere = format!("http://localhost:{}/", site.port);
    assert_eq!(go("/away"), json!({ "url": elsewhere, "title": "Home", "status": 200 }));
}

#[test]
fn navigate_waits_as_long_as_it_is_told() {
    let (driver, site) = (Driver::start("{}"), site());
    let (late, later) = (Gate::default(), Gate::default());
    site.add("/late.png", Page::html("").behind(&late));
    site.add("/later", Page::html("").behind(&later));
    driver.go(&site.url("/"));
    let state = "performance.getEntriesByType('resource').map(e => new URL(e.name).pathname).filter(p => p !== '/favicon.ico').sort().join()";
    for (wait_until, opened, wanted) in [
        ("domcontentloaded", vec![], ""),
        ("load", vec![&late], "/late.png"),
        ("networkidle", vec![&late, &later], "/late.png,/later"),
    ] {
        [&late, &later].iter().for_each(|gate| gate.set(false));
        std::thread::scope(|scope| {
            // What is waited for comes a while after the page.
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(900));
                opened.iter().for_each(|gate| gate.set(true));
            });
            let body = json!({ "url": site.url("/slow"), "wait_until": wait_until });
            let answer = driver.ok("/browser/navigate", body);
            assert_eq!(answer, json!({ "url": site.url("/slow"), "title": "Slow", "status": 200 }));
            assert_eq!(driver.eval(state), wanted, "{wait_until}");
        });
    }
    [&late, &later].iter().for_each(|gate| gate.set(false));
    let body = json!({ "url": site.url("/slow"), "timeout": 300 });
    let (status, answer) = driver.ask("one", "/browser/navigate", Some(&body));
    let wanted = json!({ "error": "Timed out after 300 ms", "type": "TimeoutError", "code": "timeout" });
    assert_eq!((status, answer), (408, wanted));
    assert_eq!(driver.go(&site.url("/"))["title"], "Home", "the page can be used again");
}

#[test]
fn what_cannot_be_loaded_is_told() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    let held = ClosedPort::new();
    let closed = held.number;
    let failed =
        |error: String| json!({ "error": error, "type": "NavigationError", "code": "navigation_failed" });
    for (url, wanted) in [
        (
            format!("http://127.0.0.1:{closed}/x?secret=1"),
            format!("no connection: connection refused: http://127.0.0.1:{closed}/x"),
        ),
        (
            format!("https://127.0.0.1:{closed}/"),
            format!("no connection: connection refused: https://127.0.0.1:{closed}/"),
        ),
        (
            "http://no-such-host.invalid/".to_owned(),
            "the host has no address: http://no-such-host.invalid/".to_owned(),
        ),
        (site.url("/file"), format!("{} is a download, which the browser does not take", site.url("/file"))),
    ] {
        let answer = driver.ask("one", "/browser/navigate", Some(&json!({ "url": url })));
        assert_eq!(answer, (502, failed(wanted)), "{url}");
    }
}

#[test]
fn content_is_html_or_text() {
    let (driver, site) = (Driver::start("{}"), site());
    let content = |query: &str| driver.ask("one", &format!("/browser/content{query}"), None);
    let empty =
        json!({ "content": "<html><head></head><body></body></html>", "url": "about:blank", "title": "" });
    assert_eq!(content(""), (200, empty), "before any navigation");
    driver.go(&site.url("/"));
    let wanted = |content: &str| (200, json!({ "content": content, "url": site.url("/"), "title": "Home" }));
    assert_eq!(content(""), wanted(&HOME.replace("hidden>", "hidden=\"\">")));
    assert_eq!(content("?type=html"), wanted(&HOME.replace("hidden>", "hidden=\"\">")));
    assert_eq!(content("?type=text"), wanted("Hello"));
}

#[test]
fn evaluate_gives_values_promises_and_errors() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    let ok = |result: Value| (200, json!({ "result": result }));
    let odd = |what: &str| (200, json!({ "result": null, "unserializable": what }));
    let threw = |class: &str, message: &str| {
        let body =
            json!({ "error": message, "type": class, "code": "invalid_parameter", "parameter": "script" });
        (400, body)
    };
    for (script, wanted) in [
        ("document.title", ok(json!("Home"))),
        ("1 + 1", ok(json!(2))),
        ("let a = 2; a * 3", ok(json!(6))),
        ("() => 7", ok(json!(7))),
        ("async () => [1, {b: null}]", ok(json!([1, { "b": null }]))),
        ("new Promise(done => setTimeout(() => done('later'), 50))", ok(json!("later"))),
        ("undefined", ok(json!(null))),
        ("null", ok(json!(null))),
        ("'中文 🙂'", ok(json!("中文 🙂"))),
        ("NaN", odd("NaN")),
        ("-Infinity", odd("-Infinity")),
        ("-0", odd("-0")),
        ("12n", odd("12n")),
        ("Symbol('x')", odd("Symbol(x)")),
        ("[NaN, undefined, () => 1, 5n]", ok(json!([null, null, null, "5"]))),
        ("({a: undefined, f() {}, d: new Date(0)})", ok(json!({ "d": "1970-01-01T00:00:00.000Z" }))),
        ("new Map([['k', new Set([1])]])", ok(json!([["k", [1]]]))),
        ("document.body", ok(json!("ref: <BODY>"))),
        (
            "({e: new TypeError('no'), r: /a/g, u: new Uint8Array([1, 2])})",
            ok(json!({ "e": "TypeError: no", "r": "/a/g", "u": [1, 2] })),
        ),
        ("const o = {n: 1}; o.self = o; o", ok(json!({ "n": 1, "self": "[Circular]" }))),
        ("const s = {}; [s, s]", ok(json!([{}, {}]))),
        ("nothing.here", threw("ReferenceError", "nothing is not defined")),
        ("(", threw("SyntaxError", "Unexpected end of input")),
        ("Promise.reject(new RangeError('far'))", threw("RangeError", "far")),
        ("throw 'plain'", threw("Error", "plain")),
        ("() => { throw new TypeError('in') }", threw("TypeError", "in")),
    ] {
        let answer = driver.ask("one", "/browser/evaluate", Some(&json!({ "script": script })));
        assert_eq!(answer, wanted, "{script}");
    }
    for script in ["for (;;);", "new Promise(() => 0)", "({toJSON() { for (;;); }})"] {
        let body = json!({ "script": script, "timeout": 400 });
        let (status, answer) = driver.ask("one", "/browser/evaluate", Some(&body));
        assert_eq!((status, &answer["code"]), (408, &json!("timeout")), "{script}: {answer}");
        assert_eq!(driver.eval("1"), 1, "after {script}");
    }
}

#[test]
fn pictures_have_the_size_that_is_said() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/tall"));
    let picture = |body: Value| {
        let answer = driver.ok("/browser/screenshot", body);
        let bytes = STANDARD.decode(answer["image_base64"].as_str().unwrap()).unwrap();
        assert_eq!(answer.as_object().unwrap().len(), 3, "{answer}");
        (bytes, answer["width"].as_u64().unwrap(), answer["height"].as_u64().unwrap())
    };
    for (body, width, height) in [
        (json!({}), 1280, 720),
        (json!({ "format": "png", "full_page": true }), 1280, 3000),
        (json!({ "selector": "#box" }), 200, 3000),
    ] {
        let (bytes, told_width, told_height) = picture(body);
        let number = |at: usize| u64::from(u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()));
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!((number(16), number(20)), (width, height));
        assert_eq!((told_width, told_height), (width, height));
    }
    let size = |quality: u8| {
        let (bytes, width, height) = picture(json!({ "format": "jpeg", "quality": quality }));
        assert_eq!((&bytes[..3], width, height), (b"\xff\xd8\xff".as_slice(), 1280, 720));
        bytes.len()
    };
    assert!(size(5) < size(100), "quality matters");
    driver.eval("document.querySelector('#box').style.height = '200000px'");
    let (status, answer) = driver.ask("one", "/browser/screenshot", Some(&json!({ "full_page": true })));
    assert_eq!((status, &answer["code"]), (413, &json!("file_too_large")), "{answer}");
}

#[test]
fn a_document_has_as_many_pages_as_is_said() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    let print = |body: Value| {
        let answer = driver.ok("/browser/pdf", body);
        let bytes = STANDARD.decode(answer["pdf_base64"].as_str().unwrap()).unwrap();
        assert_eq!(&bytes[..5], b"%PDF-");
        assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
        (answer["pages"].as_u64().unwrap(), String::from_utf8_lossy(&bytes).into_owned())
    };
    let (pages, text) = print(json!({}));
    let media = |text: &str| text.lines().find(|line| line.contains("/MediaBox")).unwrap().to_owned();
    assert_eq!((pages, &*media(&text)), (1, "/MediaBox [0 0 595.91998 842.88]"));
    let (_, text) = print(json!({ "format": "letter", "landscape": true }));
    assert_eq!(media(&text), "/MediaBox [0 0 792 612]");
    let sheet = "<p style='page-break-after:always'>/Type /Page</p>";
    driver.eval(&format!("document.body.innerHTML = \"{}\"", sheet.repeat(12)));
    assert_eq!(print(json!({})).0, 12);
}

#[test]
fn the_console_is_read_once() {
    let (driver, site) = (Driver::start("{}"), site());
    // Without an icon to look for: that it is missing would be told at any time.
    driver.go(&site.url("/quiet"));
    driver.console();
    driver.eval("console.log('a', 1, {b: [2]}, null); console.warn('w'); console.error(new Error('e').message); setTimeout(() => { throw new Error('uncaught') }); 0");
    driver.eval("new Promise(done => setTimeout(done, 100))");
    let (status, answer) = driver.ask("one", "/browser/console", None);
    let logs = answer["logs"].as_array().unwrap();
    assert_eq!((status, answer.as_object().unwrap().len()), (200, 1), "{answer}");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    for line in logs {
        assert_eq!(line.as_object().unwrap().len(), 3);
        assert!((now - line["timestamp"].as_f64().unwrap()).abs() < 60.0, "{line}");
    }
    let lines: Vec<(&str, &str)> =
        logs.iter().map(|line| (line["type"].as_str().unwrap(), line["text"].as_str().unwrap())).collect();
    assert_eq!(lines[..3], [("log", "a 1 {b: Array(1)} null"), ("warning", "w"), ("error", "e")]);
    assert!(lines[3].0 == "error" && lines[3].1.starts_with("Uncaught Error: uncaught"), "{lines:?}");
    assert_eq!(driver.console(), []);
    driver.eval("for (let i = 0; i < 1500; i++) console.log(i)");
    let (_, answer) = driver.ask("one", "/browser/console", None);
    assert_eq!((answer["logs"].as_array().unwrap().len(), &answer["dropped"]), (1000, &json!(500)));
    assert_eq!(answer["logs"][999]["text"], "1499");
}
