//! The limits: what needs no server at all.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Instant;
use tokio::io::AsyncReadExt as _;

/// Reads a terminal on which a file is shown; megabytes a second of what ours would put into frames.
pub(crate) fn screen(file: &Path) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut pty, pts) = pty_process::open().unwrap();
        pty.resize(pty_process::Size::new(24, 80)).unwrap();
        let begun = Instant::now();
        let command = format!("stty -opost; exec cat {}", file.display());
        let _child =
            pty_process::Command::new("sh").args(["-c", &command]).kill_on_drop(true).spawn(pts).unwrap();
        let (mut total, mut buffer) = (0, vec![0; 64 * 1024]);
        while let Ok(read @ 1..) = pty.read(&mut buffer).await {
            total += read;
        }
        crate::work::megabytes(total, begun)
    })
}

/// Receives bytes and writes them to a file, without HTTP; megabytes a second.
pub(crate) fn receive(piece: &[u8], total: usize, dir: &Path) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let path = dir.join("received");
    let receiver = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut file = std::fs::File::create(path).unwrap();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => break,
                read => file.write_all(&buffer[..read]).unwrap(),
            }
        }
        file.sync_all().unwrap();
    });
    let begun = Instant::now();
    let mut stream = TcpStream::connect(address).unwrap();
    for _ in 0..total / piece.len() {
        stream.write_all(piece).unwrap();
    }
    drop(stream);
    receiver.join().unwrap();
    crate::work::megabytes(total, begun)
}
