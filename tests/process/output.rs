//! Nothing printed is lost, nothing is held back, and nothing grows without bound.

use super::*;

// runtime 8, 10, 12
#[test]
fn both_streams_are_complete_and_neither_blocks_the_other() {
    let done = LAB.run(&["sh", "-c", "head -c 300000 /dev/zero >&2; echo x; printf abc"], |_| {});
    assert_eq!((done.stdout.as_str(), done.stderr.len(), done.exit.exit_code()), ("x\nabc", 300_000, 0));
}

#[test]
fn output_keeps_the_order_in_which_it_came() {
    // Each piece is printed once the one before has come.
    let script = "for i in 1 2 3; do echo o$i; read go; echo e$i >&2; read go; done";
    let job = LAB.spawn(&["sh", "-c", script], |launch| launch.input = Stdin::Open);
    let come = |stream| job.log().slice(stream, 0, usize::MAX).1.len();
    for piece in 1..=6 {
        assert!(within(PATIENCE, || come(Stream::Stdout) + come(Stream::Stderr) == 3 * piece));
        LAB.runtime.block_on(job.input.as_ref().unwrap().write(None, b"\n")).unwrap();
    }
    LAB.runtime.block_on(job.ended());
    let segments = job.log().read(&mut Cursor::default(), usize::MAX);
    let order: Vec<u8> = segments.iter().flat_map(|s| s.data.to_vec()).collect();
    assert_eq!(String::from_utf8(order).unwrap(), "o1\ne1\no2\ne2\no3\ne3\n");
}

// runtime 16
#[test]
fn three_megabytes_are_complete_or_flagged() {
    let whole = LAB.run(&["head", "-c", "3000000", "/dev/zero"], |launch| launch.keep = 16 << 20);
    assert_eq!((whole.stdout.len(), whole.exit.exit_code()), (3_000_000, 0));
    let job = LAB.spawn(&["head", "-c", "3000000", "/dev/zero"], |launch| launch.keep = 1000);
    LAB.runtime.block_on(job.ended());
    let log = job.log();
    assert_eq!(
        (log.slice(Stream::Stdout, 0, usize::MAX).1.len(), log.truncated(Stream::Stdout)),
        (1000, true)
    );
}

// runtime 7, security 134
#[test]
fn a_grandchild_that_holds_the_pipe_does_not_hold_the_answer_and_does_not_die_of_it() {
    let home = tempfile::tempdir().unwrap();
    let script = format!(
        "(while [ ! -e {0}/go ]; do sleep 0.05; done; echo late; echo alive > {0}/alive; exec sleep 200) & \
         echo $! > {0}/pid; echo ok",
        home.path().display()
    );
    let done = LAB.run(&["sh", "-c", &script], |_| {});
    assert_eq!((done.stdout.as_str(), done.exit.exit_code()), ("ok\n", 0));
    assert!(done.took < Duration::from_secs(40), "{:?}", done.took);
    std::fs::write(home.path().join("go"), "").unwrap();
    assert!(within(PATIENCE, || home.path().join("alive").exists()), "it died at its first line");
    let pid = pid_in(&home.path().join("pid"));
    assert!(lives(pid));
    // runtime 23: listed, and ended on request.
    let orphans = LAB.engine.orphans(|owner| &**owner == "tester");
    assert!(orphans.iter().any(|o| o.pid == pid), "{orphans:?}");
    assert!(LAB.engine.orphans(|owner| &**owner == "another").is_empty());
    assert!(!LAB.engine.signal_orphan(pid, 9, |owner| &**owner == "another"));
    assert!(LAB.engine.signal_orphan(pid, 9, |owner| &**owner == "tester"));
    assert!(within(PATIENCE, || !lives(pid)));
}

// runtime 17, data plane: the buffer pauses the command and loses nothing.
#[test]
fn a_full_log_pauses_the_process_and_every_byte_arrives() {
    let job = LAB.spawn(&["seq", "1", "400000"], |launch| launch.full = Full::Pause);
    assert!(within(PATIENCE, || job.progress(&mut Cursor::default(), 0).full), "it never fills its log");
    assert!(job.exit().is_none(), "it ran on although nobody read");
    let ([stdout, _], exit) = LAB.follow(&job);
    let wanted: String = (1..=400_000).map(|n| format!("{n}\n")).collect();
    assert!(stdout == wanted.as_bytes());
    assert_eq!(exit.exit_code(), 0);
}

// runtime: `yes` for a minute with a reader that has stopped.
#[test]
fn memory_is_bounded_by_the_log_when_nobody_reads() {
    for full in [Full::Pause, Full::DropOldest, Full::KeepHead] {
        let seconds = rounds(1, 20) as u64;
        let job = LAB.spawn(&["yes"], |launch| {
            launch.full = full;
            launch.lifetime = Some(Duration::from_secs(seconds));
        });
        let exit = LAB.runtime.block_on(job.ended());
        assert!(exit.timed_out(), "{full:?}");
        let (_, kept) = job.log().slice(Stream::Stdout, 0, usize::MAX);
        assert!(kept.len() <= (1 << 20) + 65_536, "{full:?} kept {}", kept.len());
    }
}

// runtime 30, 31
#[test]
fn input_is_at_its_end_by_default_and_follows_offsets_when_open() {
    assert_eq!(LAB.run(&["cat"], |_| {}).exit.exit_code(), 0);
    let given = LAB.run(&["cat"], |launch| launch.input = Stdin::Bytes(vec![b'x'; 300_000]));
    assert_eq!(given.stdout.len(), 300_000);
    let heredoc = LAB.run(&["sh", "-c", "cat <<'E'\n$a `b` \"c\"\nE\n"], |_| {});
    assert_eq!(heredoc.stdout, "$a `b` \"c\"\n");

    let job = LAB.spawn(&["cat"], |launch| launch.input = Stdin::Open);
    LAB.runtime.block_on(async {
        let input = job.input.as_ref().unwrap();
        assert_eq!(input.write(Some(0), b"hello ").await, Ok(6));
        assert_eq!(input.write(Some(0), b"hello world").await, Ok(11), "what was taken is not written twice");
        assert_eq!(input.write(Some(12), b"x").await, Err(runtime::process::InputError::Gap { taken: 11 }));
        assert_eq!(input.close().await, 11);
        assert_eq!(input.write(None, b"x").await, Err(runtime::process::InputError::Closed));
    });
    assert_eq!(LAB.follow(&job).0[0], b"hello world");
}
