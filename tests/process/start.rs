//! What a child is born with, and what happens when it cannot be.

use super::*;

// security 148
#[test]
fn a_child_has_three_descriptors_a_group_of_its_own_and_no_terminal() {
    let listings: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..rounds(4, 20))
            .map(|_| {
                scope.spawn(|| {
                    (0..10)
                        .map(|_| {
                            // Leaky on purpose: what another thread opens without the flag must not get through.
                            let _leak = rustix::io::dup(std::io::stderr()).unwrap();
                            LAB.run(
                                &["sh", "-c", "ls /proc/$$/fd; cut -d' ' -f5,6,7 /proc/$$/stat; echo $$"],
                                |_| {},
                            )
                            .stdout
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|w| w.join().unwrap()).collect()
    });
    // Without a terminal to protect, the session is the server's, as here the test's.
    let status = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = status.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split(' ').collect();
    let (own_session, own_terminal) = (fields[3], fields[4]);
    for text in &listings {
        let lines: Vec<&str> = text.lines().collect();
        let pid = lines[4];
        // group, session, and no terminal (runtime 22)
        let session = if own_terminal == "0" { own_session } else { pid };
        assert_eq!(lines[..4], ["0", "1", "2", format!("{pid} {session} 0").as_str()], "{text}");
    }
}

// security 146
#[test]
fn a_child_sees_no_secret() {
    let done = LAB.run(&["env"], |_| {});
    assert_eq!(done.stdout, "HOME=/tmp\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n");
}

// runtime 22
#[test]
fn an_interactive_shell_without_a_terminal_returns() {
    if LAB.launch(&["bash"]).is_err() {
        return; // no bash on this machine
    }
    let done = LAB.run(&["bash", "-ic", "echo x"], |_| {});
    assert_eq!((done.stdout.as_str(), done.exit.exit_code()), ("x\n", 0));
    assert!(done.took < Duration::from_secs(40));
}

#[test]
fn signals_start_as_a_fresh_process_has_them() {
    let done = LAB.run(&["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], |_| {});
    let masks: Vec<u64> = done
        .stdout
        .lines()
        .map(|line| u64::from_str_radix(line.split_once('\t').unwrap().1, 16).unwrap())
        .collect();
    // The real-time signals are the C library's own.
    assert_eq!(masks.iter().map(|mask| mask & 0x7FFF_FFFF).collect::<Vec<_>>(), [0, 0]);
}

// security 43: what was judged is what runs, although the name means another file by then.
#[test]
fn the_file_found_is_the_file_executed() {
    let home = tempfile::tempdir().unwrap();
    let tool = home.path().join("tool");
    copied("/bin/echo", &tool);
    let launch = LAB.launch(&[tool.to_str().unwrap(), "judged"]).unwrap();
    assert_eq!(launch.program.path(), tool.canonicalize().unwrap());
    std::fs::remove_file(&tool).unwrap();
    copied("/bin/false", &tool);
    let job = LAB.runtime.block_on(async { LAB.engine.spawn(launch) }).unwrap();
    assert_eq!(LAB.follow(&job).0[0], b"judged\n");
}

#[test]
fn a_script_runs_under_its_own_name_unless_it_was_replaced() {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("script");
    let write = || program(&script, "#!/bin/sh\necho \"$0\" \"$1\"\n");
    write();
    let name = script.to_str().unwrap();
    assert_eq!(LAB.run(&[name, "a b"], |_| {}).stdout, format!("{name} a b\n"));
    let launch = LAB.launch(&[name]).unwrap();
    std::fs::rename(&script, home.path().join("old")).unwrap();
    write();
    let refused = LAB.runtime.block_on(async { LAB.engine.spawn(launch) }).unwrap_err();
    assert!(matches!(refused, SpawnError::NotExecutable(_)), "{refused:?}");
}

// runtime 27, 32; security 145
#[test]
fn a_start_that_fails_says_why_and_leaves_nothing() {
    let _alone = background();
    let long = "x".repeat(3_000_000);
    let too_long = LAB.try_spawn(&["true", &long], |launch| launch.kind = Kind::Managed).unwrap_err();
    assert!(matches!(too_long, SpawnError::TooLong), "{too_long:?}");
    let nul = LAB.try_spawn(&["true", "a\0b"], |launch| launch.kind = Kind::Managed).unwrap_err();
    assert!(matches!(nul, SpawnError::Nul), "{nul:?}");
    assert_eq!(LAB.launch(&["no_such_cmd"]).unwrap_err(), FindError::NotFound("no_such_cmd".to_owned()));
    assert_eq!(LAB.launch(&["/etc/passwd"]).unwrap_err(), FindError::NotExecutable("/etc/passwd".to_owned()));
    // runtime 6: through a shell it is the shell that says so.
    let shell = LAB.run(&["sh", "-c", "no_such_cmd"], |_| {});
    assert_eq!(shell.exit.exit_code(), 127);
    assert!(shell.stderr.contains("no_such_cmd"), "{}", shell.stderr);

    let home = tempfile::tempdir().unwrap();
    let garbage = home.path().join("garbage");
    program(&garbage, "no program");
    let refused =
        LAB.try_spawn(&[garbage.to_str().unwrap()], |launch| launch.owner = "failer".into()).unwrap_err();
    assert!(matches!(refused, SpawnError::NotExecutable(_)), "{refused:?}");
    assert!(LAB.engine.list(|owner| &**owner == "failer").is_empty());
}

#[test]
fn no_more_background_processes_than_the_bound() {
    let _alone = background();
    // A separate bound would need a second engine, which would wait for the children of the first.
    let mut jobs = Vec::new();
    let refused = loop {
        match LAB.try_spawn(&["sleep", "200"], |launch| launch.kind = Kind::Managed) {
            Ok(job) => jobs.push(job),
            Err(refused) => break refused,
        }
        assert!(jobs.len() <= 100);
    };
    assert_eq!(jobs.len(), 100);
    assert!(matches!(refused, SpawnError::TooMany { limit: 100 }), "{refused:?}");
    for job in &jobs {
        job.end(runtime::process::Reason::Delete);
    }
    for job in &jobs {
        LAB.runtime.block_on(job.ended());
    }
    assert_eq!(LAB.run(&["true"], |launch| launch.kind = Kind::Managed).exit.exit_code(), 0);
}
