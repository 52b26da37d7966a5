//! What holds of the parsers that read what callers, children and workers send, whatever that is. The fuzz targets and
//! the property tests ask the same.

use runtime::probe;
use runtime::process::words;
use runtime::pty::protocol;
use serde_json::Value;

/// `Range` headers: what is asked for lies in the file, and asking for it as it was understood means the same.
pub(crate) fn range(bytes: &[u8]) {
    let (size, text) =
        bytes.split_first_chunk().map_or((0, bytes), |(size, rest)| (u64::from_be_bytes(*size), rest));
    let text = String::from_utf8_lossy(text);
    for size in [size, u64::from(text.len() as u32), 0, u64::MAX] {
        if let Some(Some((first, last))) = probe::range(&text, size) {
            assert!(first <= last && last < size, "{text:?} of {size}: {first}-{last}");
            assert_eq!(probe::range(&format!("bytes={first}-{last}"), size), Some(Some((first, last))));
        }
    }
    let named = probe::disposition(bytes);
    assert!(named.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{named:?} is no header");
    let plain = named.strip_prefix("attachment; filename=\"").and_then(|rest| rest.split_once('"'));
    let (plain, extended) = plain.expect("a quoted name comes first");
    assert!(!plain.contains(['\\', '"']), "{named:?} leaves its quotes");
    let extended = extended.strip_prefix("; filename*=UTF-8''").expect("and an exact one behind it");
    assert!(!extended.contains([';', '"', ',', ' ', '\\']), "{named:?} says more than a name");
}

/// Multipart bodies: any bytes are taken apart or refused, and a body that was put together is the same whichever way it
/// is cut, and nothing when its end is missing.
pub(crate) fn multipart(bytes: &[u8]) {
    let (cut, bytes) = bytes.split_first().map_or((1, bytes), |(cut, rest)| (usize::from(*cut) + 1, rest));
    let pieces = |body: &[u8]| -> Vec<_> { body.chunks(cut).map(|piece| piece.to_vec().into()).collect() };
    wait(probe::multipart(pieces(bytes), "xx"));
    let framed = [
        b"--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n",
        bytes,
        b"\r\n--xx--\r\n",
    ]
    .concat();
    if bytes.windows(4).any(|window| window == b"--xx") {
        return;
    }
    assert_eq!(wait(probe::multipart(pieces(&framed), "xx")).as_deref(), Some(bytes));
    // The last four bytes are the end of the boundary and an empty line.
    for missing in [5, 10, framed.len() / 2] {
        let cut_off = framed.get(..framed.len().saturating_sub(missing)).unwrap_or_default();
        assert_eq!(wait(probe::multipart(pieces(cut_off), "xx")), None, "{missing} bytes are missing");
    }
}

/// Messages of a worker: the same however the pipe cuts them, and none behind a broken one.
pub(crate) fn worker(bytes: &[u8]) {
    let (cut, rest) = bytes.split_first().map_or((1, bytes), |(cut, rest)| (usize::from(*cut) + 1, rest));
    let whole = probe::worker_messages(&[rest]);
    let pieces: Vec<&[u8]> = rest.chunks(cut).collect();
    assert_eq!(probe::worker_messages(&pieces), whole);
    let text = Value::from(String::from_utf8_lossy(rest).into_owned());
    let sent = probe::worker_message(&text).expect("it is short");
    let pieces: Vec<&[u8]> = sent.chunks(cut).collect();
    assert_eq!(probe::worker_messages(&pieces), (vec![text], true));
}

/// Command lines, frames of terminal clients, and what the kernel and git print.
pub(crate) fn texts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(found) = words::split(&text) {
        // Quoted again, each word is itself.
        let quoted: Vec<String> =
            found.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        assert_eq!(words::split(&quoted.join(" ")).ok(), Some(found), "{text:?}");
    }
    if let Some(protocol::Said::Resize { columns, rows }) = protocol::read(&text) {
        assert!(columns > 0 && rows > 0, "{text:?}");
    }
    let shown: Value = serde_json::from_str(&protocol::output(bytes, 7)).expect("a frame is JSON");
    assert_eq!(shown.get("data").and_then(Value::as_str), Some(&*text), "a frame says what was printed");
    assert!(probe::listeners(&text) <= text.lines().count());
    let status = runtime::git::parse_status(bytes);
    assert!(status.entries.iter().all(|entry| !entry.path.is_empty()), "{status:?}");
    let _ = runtime::git::parse_numstat(bytes);
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime needs nothing here");
    runtime.block_on(future)
}
