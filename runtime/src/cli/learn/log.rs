//! An audit log, line by line: the calls that were let in.

use policy_lang::endpoint::Catalogue;
use policy_lang::learn::Observed;
use serde::Deserialize;
use std::io::Read;

/// The members of a line that say what was done.
#[derive(Debug, Deserialize)]
struct Line {
    event: String,
    decision: String,
    endpoint: Option<String>,
    identity: Option<String>,
    path: Option<String>,
    program: Option<String>,
    command: Option<String>,
}

/// The bytes of a log, however long it is; `-` is standard input.
pub(super) fn bytes(name: &str) -> std::io::Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(name);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Adds the calls of a log; says how many lines are no decision. Of a call that changes something the log has two lines:
/// both tell the same.
pub(super) fn read(bytes: &[u8], catalogue: &Catalogue, calls: &mut Vec<Observed>) -> usize {
    let mut skipped = 0;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            skipped += 1;
            continue;
        };
        if line.decision != "allow" || !matches!(&*line.event, "call" | "cut") {
            continue;
        }
        let Some(endpoint) = line.endpoint.as_deref().and_then(|name| catalogue.resolve(name)) else {
            skipped += 1;
            continue;
        };
        let identity = line.identity.filter(|identity| identity != "anonymous");
        calls.push(Observed {
            endpoint,
            identity,
            path: line.path,
            program: line.program,
            command: line.command,
        });
    }
    skipped
}
