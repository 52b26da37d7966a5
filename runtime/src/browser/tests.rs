//! A real browser without a server around it.

use super::end_when_idle;
use super::instance::Browser;
use crate::process::{Engine, Environment, Programs, Setup};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn engine() -> Arc<Engine> {
    let setup = Setup {
        programs: Programs::from_path("/usr/local/bin:/usr/bin:/bin".as_ref()),
        environment: Environment::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())], Vec::new()),
        identity: None,
        max_processes: 1,
        forward: None,
    };
    Engine::new(setup).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_nobody_uses_ends_and_one_in_use_does_not() {
    let browser = Browser::start(&engine(), None).await.unwrap();
    let in_use = browser.visit();
    let idle = Duration::from_millis(300);
    let ending = tokio::spawn(end_when_idle(Arc::clone(&browser), idle));
    tokio::time::sleep(idle * 4).await;
    assert!(browser.is_alive(), "it is in use");
    let left = Instant::now();
    drop(in_use);
    ending.await.unwrap();
    assert!(left.elapsed() >= idle && !browser.is_alive());
}
