//! Identities, crashes, ends: nobody sees another's page, nothing hangs, nothing stays behind.

use crate::driver::{Driver, browsers_of, eventually, setup};
use crate::site::{Gate, Page, Site};
use serde_json::json;
use std::time::{Duration, Instant};

fn site() -> Site {
    Site::new(&[
        (
            "/",
            Page::html("<title>Home</title><script>console.log('mine')</script>").header("Set-Cookie: k=v"),
        ),
        ("/other", Page::html("<title>Other</title>")),
        (
            "/leave",
            Page::html(
                "<title>Leave</title><script>onbeforeunload = (e) => { e.preventDefault(); return 'stay' }</script><button>Press</button>",
            ),
        ),
        (
            "/dialogs",
            Page::html(
                "<title>Dialogs</title><button onclick=\"alert('hi'); confirm('sure'); prompt('name')\">Ask</button>",
            ),
        ),
        ("/popups", Page::html("<title>Popups</title><a target=_blank href=/other>Open</a>")),
        ("/file", Page::html("x").header("Content-Disposition: attachment; filename=x.bin")),
        ("/frame", Page::html("<title>Frame</title><script>setInterval(() => 0, 1)</script>")),
        ("/hang", Page::html("").after(Duration::from_secs(600))),
    ])
}

#[test]
fn identities_share_a_browser_and_nothing_in_it() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    let content = |who: &str| driver.ask(who, "/browser/content?type=text", None).1;
    assert_eq!(content("two")["url"], "about:blank");
    let (_, console) = driver.ask("two", "/browser/console", None);
    assert_eq!(console, json!({ "logs": [] }));
    let go = json!({ "url": site.url("/other") });
    assert_eq!(driver.ok_as("two", "/browser/navigate", go)["title"], "Other");
    let cookies = json!({ "script": "document.cookie" });
    assert_eq!(driver.ok_as("two", "/browser/evaluate", cookies.clone()), json!({ "result": "" }));
    assert_eq!(driver.ok("/browser/evaluate", cookies), json!({ "result": "k=v" }));
    driver.eval("localStorage.x = 1");
    let stored = json!({ "script": "localStorage.x === undefined" });
    assert_eq!(driver.ok_as("two", "/browser/evaluate", stored), json!({ "result": true }));
    assert_eq!(content("one")["title"], "Home");
    assert!(driver.console().contains(&("log".to_owned(), "mine".to_owned())));
    let direct = |pid: &i32| {
        std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
            .unwrap_or_default()
            .contains("--remote-debugging-pipe")
    };
    let main = driver.browsers().into_iter().filter(direct).filter(|pid| {
        !std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().contains("--type=")
    });
    assert_eq!(main.count(), 1, "one browser");
}

/// Opens a gate in the end.
struct Opened<'a>(&'a Gate);

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[test]
fn calls_of_one_identity_take_turns_and_others_do_not_wait() {
    let (driver, site, gate) = (Driver::start("{}"), site(), Gate::default());
    site.add("/gate", Page::html("").behind(&gate));
    driver.go(&site.url("/"));
    driver.ok_as("two", "/browser/evaluate", json!({ "script": "1" }));
    std::thread::scope(|scope| {
        // Whichever way the test ends, the first call does.
        let _open = Opened(&gate);
        let number = |script: &str| driver.eval(script).as_u64().unwrap();
        let first = scope.spawn(move || number("fetch('/gate').then(() => Date.now())"));
        eventually("the first call is under way", || site.was_asked("/gate"));
        // It lasts for as long as the gate is closed; another identity is answered meanwhile.
        driver.ok_as("two", "/browser/evaluate", json!({ "script": "1" }));
        let second = scope.spawn(move || number("Date.now()"));
        std::thread::sleep(Duration::from_millis(300));
        assert!(!second.is_finished(), "the second call ran beside the first");
        gate.set(true);
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert!(second >= first, "the second call ran before the first had ended");
    });
}

#[test]
fn dialogs_popups_and_downloads_hold_up_nothing() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/dialogs"));
    driver.ok("/browser/click", json!({ "selector": "button" }));
    assert_eq!(driver.eval("[confirm('a'), prompt('b')]"), json!([false, null]));
    assert_eq!(
        driver.told("dialog", 5),
        ["alert: hi", "confirm: sure", "prompt: name", "confirm: a", "prompt: b"]
    );

    driver.go(&site.url("/popups"));
    driver.ok("/browser/click", json!({ "selector": "a" }));
    driver.eval("window.open('/other'); window.open('about:blank'); 0");
    assert_eq!(driver.eval("document.title"), "Popups");
    assert_eq!(driver.told("popup", 3).len(), 3);
    assert!(!site.was_asked("/other"), "no window was loaded");

    driver.go(&site.url("/leave"));
    driver.ok("/browser/click", json!({ "selector": "button" }));
    assert_eq!(driver.go(&site.url("/"))["title"], "Home", "a page that wants to stay is left");

    driver.eval("location = '/file'; 0");
    assert_eq!(driver.eval("document.title"), "Home");
    driver.eval("window.close(); 0");
    assert_eq!(driver.go(&site.url("/other"))["title"], "Other");
}

#[test]
fn a_page_that_crashed_or_hangs_is_replaced() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/frame"));
    // The page's own process, not the browser's.
    let renderer = |driver: &Driver| {
        driver
            .browsers()
            .into_iter()
            .filter(|pid| {
                std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
                    .unwrap_or_default()
                    .contains("--type=renderer")
            })
            .collect::<Vec<_>>()
    };
    let killed = renderer(&driver);
    for pid in &killed {
        let pid = rustix::process::Pid::from_raw(*pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    eventually("they are gone", || renderer(&driver).iter().all(|pid| !killed.contains(pid)));
    // A call that begins before the browser has told of the crash hears of it; the next one has another page.
    eventually("the page is replaced", || {
        let asked = driver.ask("one", "/browser/navigate", Some(&json!({ "url": site.url("/") })));
        assert!(asked.0 == 200 || asked.1["code"] == "browser_unavailable", "{}", asked.1);
        asked.0 == 200 && asked.1["title"] == "Home"
    });
    driver.eval("setTimeout(() => { for (;;); }, 0); 0");
    let begun = Instant::now();
    let body = json!({ "script": "1", "timeout": 500 });
    let (status, answer) = driver.ask("one", "/browser/evaluate", Some(&body));
    assert!(matches!(status, 200 | 408), "{answer}");
    assert_eq!(driver.go(&site.url("/"))["title"], "Home");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_browser_that_was_killed_is_started_again() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    let before = driver.browsers();
    for pid in &before {
        let pid = rustix::process::Pid::from_raw(*pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    eventually("the dead are waited for", || driver.browsers().iter().all(|pid| !before.contains(pid)));
    assert_eq!(driver.go(&site.url("/"))["title"], "Home");
    assert!(!driver.browsers().is_empty());
}

#[test]
fn a_call_under_way_hears_of_the_end() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    std::thread::scope(|scope| {
        let waiting = scope
            .spawn(|| driver.ask("one", "/browser/navigate", Some(&json!({ "url": site.url("/hang") }))));
        eventually("it is under way", || site.was_asked("/hang"));
        for pid in driver.browsers() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        let (status, answer) = waiting.join().unwrap();
        assert_eq!((status, &answer["code"]), (503, &json!("browser_unavailable")), "{answer}");
    });
}

/// The profile that a browser's command line names.
fn profile(pids: &[i32]) -> std::path::PathBuf {
    let lines = pids.iter().filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok());
    let named = lines.filter_map(|line| {
        line.split('\0').find_map(|word| word.strip_prefix("--user-data-dir=").map(str::to_owned))
    });
    named.collect::<Vec<_>>().pop().unwrap().into()
}

fn alive(pids: &[i32]) -> Vec<i32> {
    let stands = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    pids.iter().copied().filter(stands).collect()
}

#[test]
fn a_server_that_stops_leaves_no_browser() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    let (pids, folder) = (driver.browsers(), profile(&driver.browsers()));
    assert!(folder.exists());
    let (status, _) = driver.server.stop();
    assert_eq!((status, alive(&pids)), (Some(0), vec![]));
    // A process that was just killed may have written its last into it: then the next start sweeps it.
    if folder.exists() {
        Driver::start("{}").go(&site.url("/"));
        eventually("it is swept", || !folder.exists());
    }
}

#[test]
fn a_server_that_is_killed_leaves_no_browser_and_the_next_one_starts() {
    let (driver, site) = (Driver::start("{}"), site());
    driver.go(&site.url("/"));
    let (pids, folder) = (driver.browsers(), profile(&driver.browsers()));
    std::thread::scope(|scope| {
        let (server, site) = (driver.server.pid(), &site);
        scope.spawn(move || {
            eventually("the page is being loaded", || site.was_asked("/hang"));
            let pid = rustix::process::Pid::from_raw(i32::try_from(server).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        });
        // In the middle of a load, whose answer never comes.
        let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| driver.go(&site.url("/hang"))));
        assert!(asked.is_err());
    });
    eventually("the browser ends with its server", || alive(&pids).is_empty());
    let next = Driver::start("{}");
    assert_eq!(next.go(&site.url("/"))["title"], "Home");
    eventually("whichever browser starts next sweeps it", || !folder.exists());
    assert!(!browsers_of(next.server.pid()).is_empty());
}

/// State, group and session of a process; nothing of one that is gone.
fn state(pid: i32) -> Option<(String, i32, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields[0].to_owned(), fields[2].parse().ok()?, fields[3].parse().ok()?))
}

#[test]
fn a_browser_that_stands_still_ends_with_a_server_that_is_killed() {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    let site = site();
    let users: &[&[&str]] =
        if rustix::process::geteuid().is_root() { &[&[], &["--child-user", "nobody"]] } else { &[&[]] };
    for (args, whole) in users.iter().flat_map(|args| [(args, false), (args, true)]) {
        // Without a terminal, wherever the tests have one.
        let setup = args.iter().fold(setup("{}").under(&["setsid"]), |setup, arg| setup.arg(arg));
        let driver = Driver { server: setup.start() };
        driver.go(&site.url("/"));
        let pids = driver.browsers();
        let main = Pid::from_raw(pids[0]).unwrap();
        let stopped =
            if whole { kill_process_group(main, Signal::STOP) } else { kill_process(main, Signal::STOP) };
        stopped.unwrap();
        let stands = |pid: &i32| match state(*pid) {
            Some((state, group, _)) => state == "T" || (*pid != pids[0] && !(whole && group == pids[0])),
            None => true,
        };
        eventually("it stands", || pids.iter().all(stands));
        let session = |pid: i32| state(pid).map(|(_, _, session)| session);
        let apart = session(pids[0]) != session(i32::try_from(driver.server.pid()).unwrap());
        // Kills it.
        drop(driver);
        eventually("the browser itself ends with its server", || alive(&pids[..1]).is_empty());
        if whole && apart {
            // Where children need sessions of their own, nothing wakes what is left of it.
            let _ = kill_process_group(main, Signal::CONT);
        }
        eventually("and all of it", || alive(&pids).is_empty());
    }
}
