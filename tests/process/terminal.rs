//! Processes on a terminal of their own.

use super::*;

fn terminal(columns: u16, rows: u16) -> impl FnOnce(&mut Launch) {
    move |launch| {
        launch.screen = Screen::Terminal { columns, rows };
        launch.kind = Kind::Terminal;
        launch.full = Full::DropOldest;
    }
}

#[test]
fn the_size_is_right_at_the_first_byte() {
    assert_eq!(LAB.run(&["stty", "size"], terminal(91, 17)).stdout, "17 91\r\n");
}

// runtime 11
#[test]
fn the_last_output_comes_before_the_end() {
    for _ in 0..rounds(40, 500) {
        let done = LAB.run(&["printf", "done"], terminal(80, 24));
        assert_eq!((done.stdout.as_str(), done.exit.exit_code()), ("done", 0));
    }
}

#[test]
fn it_is_the_controlling_terminal_and_input_reaches_it() {
    let job = LAB.spawn(&["sh", "-c", "read a </dev/tty; echo got $a; stty size"], terminal(80, 24));
    LAB.runtime.block_on(async {
        job.resize(100, 50).await.unwrap();
        job.input.as_ref().unwrap().write(None, b"hi\n").await.unwrap();
    });
    let text = String::from_utf8(LAB.follow(&job).0[0].clone()).unwrap();
    assert_eq!(text, "hi\r\ngot hi\r\n50 100\r\n");
}

#[test]
fn an_interactive_shell_ends_at_once_when_its_session_is_closed() {
    // At its best, for a machine may pause: a shell that only SIGKILL ends takes two seconds every time.
    let at_once = (0..20).any(|_| {
        let job = LAB.spawn(&["sh", "-i"], terminal(80, 24));
        // Its prompt is there.
        assert!(within(PATIENCE, || !job.log().slice(Stream::Stdout, 0, usize::MAX).1.is_empty()));
        let begun = std::time::Instant::now();
        job.end(runtime::process::Reason::Delete);
        LAB.runtime.block_on(job.ended());
        begun.elapsed() < Duration::from_secs(1)
    });
    assert!(at_once, "it takes long every time");
}
