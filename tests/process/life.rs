//! How processes end: by themselves, by the clock, by request; and that nothing of them stays.

use super::*;
use runtime::process::{EndOnDrop, Reason};
use std::collections::BTreeSet;

fn ends_in(seconds: f64) -> impl FnOnce(&mut Launch) {
    move |launch| launch.lifetime = Some(Duration::from_secs_f64(seconds))
}

// security 145
#[test]
fn every_status_and_every_signal_is_reported_as_it_is() {
    for code in (0..=255).step_by(rounds(51, 1)) {
        let done = LAB.run(&["sh", "-c", &format!("exit {code}")], |_| {});
        assert_eq!((done.exit.code, done.exit.signal, done.exit.exit_code()), (Some(code), None, code));
    }
    for signal in 1..=31 {
        if matches!(signal, 17..=23 | 28) {
            continue; // these stop, continue or are ignored
        }
        let done = LAB.run(&["sh", "-c", &format!("ulimit -c 0; kill -{signal} $$")], |_| {});
        assert_eq!((done.exit.code, done.exit.signal, done.exit.exit_code()), (None, Some(signal), -signal));
    }
}

// runtime 20
#[test]
fn the_clock_ends_a_command_when_it_says_and_not_when_the_command_likes() {
    let done = LAB.run(&["sh", "-c", "echo begun; sleep 200; echo hi"], ends_in(3.0));
    assert!(done.exit.timed_out());
    assert_eq!(done.stdout, "begun\n");
    assert!((2.95..40.0).contains(&done.took.as_secs_f64()), "{:?}", done.took);
}

// security 142
#[test]
fn a_stopped_or_deaf_command_times_out_all_the_same() {
    let stopped = LAB.run(&["sh", "-c", "kill -STOP $$; sleep 200"], ends_in(0.3));
    assert!(stopped.exit.timed_out() && stopped.took < Duration::from_secs(40), "{:?}", stopped.took);
    let script = "trap '' TERM INT HUP; echo deaf; sleep 200 & wait; sleep 200";
    // A busy machine may need long before it is deaf.
    let mut tries = [0.3, 3.0, 10.0, 30.0]
        .into_iter()
        .map(|after| (after, LAB.run(&["sh", "-c", script], ends_in(after))));
    let (after, deaf) = tries.find(|(_, done)| done.stdout == "deaf\n").unwrap();
    assert_eq!((deaf.exit.timed_out(), deaf.exit.signal), (true, Some(9)));
    assert!((after + 1.9..after + 40.0).contains(&deaf.took.as_secs_f64()), "{:?}", deaf.took);
}

// security 133, runtime 18
#[test]
fn descendants_that_left_the_group_end_with_it() {
    let home = tempfile::tempdir().unwrap();
    for (name, script) in [
        ("setsid", "setsid sh -c 'echo $$ > DIR/pid; exec sleep 600' & sleep 600"),
        ("double fork", "(setsid sh -c 'echo $$ > DIR/pid; exec sleep 600' &) ; sleep 600"),
        ("no environment", "(env -i setsid sh -c 'echo $$ > DIR/pid; exec /bin/sleep 600' &) ; sleep 600"),
        (
            "nohup",
            "(nohup setsid sh -c 'trap \"\" TERM; echo $$ > DIR/pid; while :; do /bin/sleep 1; done' >/dev/null 2>&1 &) ; sleep 600",
        ),
        ("leader gone", "(setsid sh -c 'echo $$ > DIR/pid; exec sleep 600' &) ; kill -9 $$"),
    ] {
        let file = home.path().join("pid");
        let _ = std::fs::remove_file(&file);
        let job =
            LAB.spawn(&["sh", "-c", &script.replace("DIR", &home.path().display().to_string())], |_| {});
        let pid = pid_in(&file);
        assert!(lives(pid), "{name}");
        if name == "leader gone" {
            LAB.runtime.block_on(job.ended());
            LAB.runtime.block_on(LAB.engine.end_remains(&job));
        } else {
            job.end(Reason::Delete);
            let exit = LAB.runtime.block_on(job.ended());
            assert_eq!(exit.reason, Some(Reason::Delete), "{name}");
        }
        assert!(!lives(pid), "{name} survived");
        assert!(!lives(job.pid), "{name}");
    }
}

#[test]
fn a_caller_that_goes_away_takes_its_command_with_it() {
    let job = LAB.spawn(&["sleep", "600"], |_| {});
    drop(EndOnDrop(Arc::clone(&job)));
    assert_eq!(LAB.runtime.block_on(job.ended()).reason, Some(Reason::Disconnect));
    assert!(!lives(job.pid));
}

// runtime 18, 25; security 136, 137
#[test]
fn signals_reach_the_group_and_never_a_stranger() {
    let home = tempfile::tempdir().unwrap();
    let script = format!("sleep 999 & echo $! > {}/pid; wait", home.path().display());
    let job = LAB.spawn(&["sh", "-c", &script], |_| {});
    let child = pid_in(&home.path().join("pid"));
    assert!(job.signal(9));
    assert!(within(PATIENCE, || !lives(child) && !lives(job.pid)));
    LAB.runtime.block_on(job.ended());
    assert!(!job.signal(9), "the number may be another's by now");
    assert!(!job.signal(0) && !job.signal(99));
    for pid in [0, -1, 1, i32::try_from(std::process::id()).unwrap(), i32::MAX, job.pid] {
        assert!(LAB.engine.managed(pid, |_| true).is_none(), "{pid}");
        assert!(!LAB.engine.signal_orphan(pid, 9, |_| true), "{pid}");
    }
}

// runtime 25, 27
#[test]
fn background_processes_are_listed_for_their_owner_alone_and_remembered_after_their_end() {
    let _alone = background();
    let managed = |launch: &mut Launch| {
        launch.kind = Kind::Managed;
        launch.owner = "lister".into();
    };
    let job = LAB.spawn(&["sleep", "30"], managed);
    let listed = || LAB.engine.list(|owner| &**owner == "lister").iter().map(|j| j.pid).collect::<Vec<_>>();
    assert_eq!(listed(), [job.pid]);
    assert!(LAB.engine.list(|owner| &**owner == "nobody").is_empty());
    assert!(LAB.engine.managed(job.pid, |owner| &**owner == "nobody").is_none());
    job.end(Reason::Delete);
    LAB.runtime.block_on(job.ended());
    assert_eq!(listed(), [job.pid]);
    assert_eq!(LAB.engine.managed(job.pid, |_| true).unwrap().exit().unwrap().signal, Some(15));
}

// No zombie after ten thousand commands.
#[test]
fn no_zombie_stays() {
    let count = rounds(300, 10_000);
    for batch in 0..count / 50 {
        let jobs: Vec<_> = (0..50)
            .map(|n| {
                LAB.spawn(&["sh", "-c", if (batch + n) % 2 == 0 { "(sleep 0.01 &)" } else { "true" }], |_| {})
            })
            .collect();
        for job in jobs {
            assert_eq!(LAB.runtime.block_on(job.ended()).exit_code(), 0);
        }
    }
    let own = std::process::id().to_string();
    let zombies = || {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |s| s.1).split_whitespace().collect();
            if fields.first() == Some(&"Z") && fields.get(1) == Some(&own.as_str()) {
                found.insert(entry.file_name());
            }
        }
        found
    };
    // Other tests end commands all the time: none of those that are there now may stay.
    let mut stay = zombies();
    let gone = || {
        let now = zombies();
        stay.retain(|pid| now.contains(pid));
        stay.is_empty()
    };
    assert!(within(PATIENCE, gone), "{stay:?}");
}

// runtime 28
#[test]
fn a_child_is_the_first_to_go_when_memory_is_short() {
    let own: i32 = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap().trim().parse().unwrap();
    let done = LAB.run(&["cat", "/proc/self/oom_score_adj"], |_| {});
    assert_eq!(done.stdout.trim().parse(), Ok((own + 300).min(1000)));
}
