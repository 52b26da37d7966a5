//! Browsers that get less than a machine of their own would give them: no sandbox, little shared memory.

use crate::driver::{Driver, setup};
use crate::server::machine::program;
use crate::site::{Page, Site, home};
use serde_json::json;
use std::path::Path;

/// A program in `folder` that is used as the browser.
fn browser(folder: &Path, script: &str) -> std::path::PathBuf {
    let path = folder.join("browser");
    program(&path, &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// The command lines of a driver's browser.
fn command_lines(driver: &Driver) -> String {
    let line = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    driver.browsers().iter().map(line).collect()
}

#[test]
fn a_browser_has_its_sandbox_where_it_can_have_one() {
    let site = home();
    let warning = "gets no sandbox of its own";
    // A line of the log may still be on its way.
    let warns = |driver: &Driver, wanted: bool| match wanted {
        true => drop(driver.server.wait_for(warning)),
        false => assert!(!driver.server.stderr().iter().any(|line| line.contains(warning))),
    };
    let folder = tempfile::tempdir().unwrap();
    let script =
        "case \"$*\" in *--no-sandbox*) exec chromium \"$@\" ;; esac\necho 'No usable sandbox!' >&2\nexit 1";
    let picky = browser(folder.path(), script);
    let start = |browser: Option<&Path>, args: &[&str]| {
        let setup = args.iter().fold(setup("{}"), |setup, arg| setup.arg(arg));
        let setup = match browser {
            Some(path) => setup.env("ABX_BROWSER", path.to_str().unwrap()),
            None => setup,
        };
        let driver = Driver { server: setup.start() };
        assert_eq!(driver.go(&site.url("/"))["title"], "Home");
        driver
    };
    if !rustix::process::geteuid().is_root() {
        let driver = start(Some(&picky), &[]);
        assert!(command_lines(&driver).contains("--no-sandbox"));
        return warns(&driver, true);
    }
    let root = start(None, &[]);
    assert!(command_lines(&root).contains("--no-sandbox"), "root has none to lose");
    warns(&root, false);
    let other = start(None, &["--child-user", "nobody"]);
    // Without one it is said.
    warns(&other, command_lines(&other).contains("--no-sandbox"));
    let refused = start(Some(&picky), &["--child-user", "nobody"]);
    assert!(command_lines(&refused).contains("--no-sandbox"));
    warns(&refused, true);
}

/// Runs a command where `/dev/shm` holds one megabyte and belongs to nobody else.
const SMALL: &str =
    "exec unshare --mount sh -c 'mount -t tmpfs -o size=1m,mode=1777 tmpfs /dev/shm && exec \"$@\"' sh";

#[test]
fn a_megabyte_of_shared_memory_is_enough() {
    let may = std::process::Command::new("sh").args(["-c", &format!("{SMALL} true")]).output();
    if !may.as_ref().is_ok_and(|may| may.status.success()) {
        println!("skipped: this machine gives no mount namespace: {may:?}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let small = browser(folder.path(), &format!("{SMALL} chromium \"$@\""));
    // Pictures of many megabytes, each drawn and sent between processes.
    let page = "<title>Large</title><body style='margin:0'><canvas width=4000 height=4000></canvas><script>\
        const c = document.querySelector('canvas').getContext('2d');\
        for (let i = 0; i < 400; i++) { c.fillStyle = `hsl(${i}, 80%, 50%)`; c.fillRect(i * 10, i * 7 % 4000, 900, 900) }\
        </script>";
    let site = Site::new(&[("/", Page::html(page))]);
    let driver = Driver { server: setup("{}").env("ABX_BROWSER", small.to_str().unwrap()).start() };
    assert_eq!(driver.go(&site.url("/"))["title"], "Large");
    let mounts = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/mounts")).unwrap_or_default();
    let is_small = |line: &str| line.starts_with("tmpfs /dev/shm ") && line.contains("size=1024k");
    assert!(driver.browsers().iter().any(|pid| mounts(pid).lines().any(is_small)), "it is small");
    for _ in 0..3 {
        let (status, shot) = driver.ask("one", "/browser/screenshot", Some(&json!({ "full_page": true })));
        assert_eq!(status, 200, "{shot}");
        let picture = shot["image_base64"].as_str().unwrap_or_default();
        assert!(picture.len() > 100_000, "{}", picture.len());
    }
    assert_eq!(driver.eval("document.title"), "Large", "the page did not crash");
}
