//! The slots of an endpoint, counted from outside.

use crate::raw::{connect, post, read_all};
use crate::server::{PATIENCE, Server};
use std::io::Write;
use std::time::{Duration, Instant};

/// Exactly so many are free: requests whose body is still to come hold one each, all of them are answered in the end, and
/// one more is refused meanwhile. Nothing says when a request has been let in, so a busy machine is given longer and longer.
pub fn are_free(server: &Server, count: usize, target: &str, body: &str) {
    let (first, rest) = body.split_at(1);
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{first}",
        body.len()
    );
    let (mut wait, until) = (Duration::from_millis(100), Instant::now() + PATIENCE);
    loop {
        let mut held: Vec<_> = (0..count).map(|_| connect(server.port)).collect();
        for stream in &mut held {
            stream.write_all(head.as_bytes()).unwrap();
        }
        std::thread::sleep(wait);
        let more = post(server.port, target, body);
        let answers: Vec<_> = (held.iter_mut())
            .map(|stream| {
                // One that was refused may be closed by now.
                let _ = stream.write_all(rest.as_bytes());
                read_all(stream).only().clone()
            })
            .collect();
        if more.code() == "too_many_concurrent" && answers.iter().all(|answer| answer.status == 200) {
            assert_eq!((more.status, &more.json()["limit"]), (429, &count.into()), "{target}");
            return;
        }
        assert!(Instant::now() < until, "{target}: not {count} slots: {} {answers:#?}", more.json());
        wait = (wait * 2).min(Duration::from_secs(10));
        std::thread::sleep(wait);
    }
}
