//! The misspellings that authors make, and what each is answered.

use super::*;
use crate::endpoint::catalogue::Catalogue;
use crate::endpoint::{GROUPS, SCOPES};

#[test]
fn endpoints() {
    let catalogue = Catalogue::builtin();
    for (written, wanted) in [
        // Letters.
        ("shel", &["shell"][..]),
        ("sehll", &["shell"]),
        ("shelll", &["shell"]),
        ("files_lst", &["files_list"]),
        ("file_list", &["files_list"]),
        ("files_dowload_stream", &["files_download_stream"]),
        ("process_strat", &["process_start"]),
        ("brwoser_click", &["browser_click"]),
        // Spelling of the same name.
        ("FILES_DOWNLOAD_STREAM", &["files_download_stream"]),
        ("files-download-stream", &["files_download_stream"]),
        ("Files.List", &["files_list"]),
        ("port", &["ports"]),
        ("package", &["packages"]),
        ("capability", &["capabilities"]),
        ("agent_session_create", &["agents_sessions_create"]),
        // Swapped and missing words.
        ("stream_download_files", &["files_download_stream"]),
        ("list_files", &["files_list"]),
        ("run_code", &["code_run"]),
        ("upload_stream", &["files_upload_stream"]),
        ("mkdir", &["files_mkdir"]),
        ("grep", &["files_grep"]),
        // A path or a door where an id belongs.
        ("POST /shell", &["shell"]),
        ("post /shell/", &["shell"]),
        ("/shell", &["shell"]),
        ("/files/list", &["files_list"]),
        ("GET /files/list?path=/tmp", &["files_list"]),
        ("DELETE /files", &["files_delete"]),
        ("POST /process/42/signal", &["process_signal"]),
        ("POST /process/{pid}/signal", &["process_signal"]),
        ("POST /commands/hello", &["commands_run"]),
        ("GET /shell", &["shell"]),
        ("/pty/sessions", &["pty_create", "pty_list"]),
        ("/files/lst", &["files_list"]),
        // Nothing near: no guess.
        ("exec", &[]),
        ("x", &[]),
        ("", &[]),
        ("foo_bar", &[]),
        ("list", &[]),
        ("agents", &[]),
        ("/nowhere/at/all", &[]),
        ("完全不同", &[]),
    ] {
        assert_eq!(endpoint(written, &catalogue), wanted, "{written:?}");
    }
    assert_eq!(endpoint(&"shell".repeat(10_000), &catalogue), [""; 0]);
}

#[test]
fn names_of_every_kind() {
    let keys = ["enabled", "scopes", "paths", "limits", "params", "audit"];
    let limits = ["max_bytes", "max_request_bytes", "timeout_seconds", "rate_per_minute", "max_concurrency"];
    let params =
        ["overwrite", "allow_extensions", "deny_extensions", "languages", "shells", "allow_commands"];
    let presets = ["default", "transfer-only", "read-only", "hardened", "locked"];
    let audit = ["off", "deny", "all"];
    let signals = ["SIGINT", "SIGTERM", "SIGKILL", "SIGHUP"];
    let groups: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
    let scopes: Vec<&str> = SCOPES.iter().map(|scope| scope.name).collect();
    for (word, candidates, wanted) in [
        ("limt", &keys[..], &["limits"][..]),
        ("path", &keys, &["paths"]),
        ("pats", &keys, &["paths"]),
        ("Scope", &keys, &["scopes"]),
        ("enable", &keys, &["enabled"]),
        ("parms", &keys, &["params"]),
        ("audits", &keys, &["audit"]),
        ("x", &keys, &[]),
        ("colour", &keys, &[]),
        ("maxbytes", &limits, &["max_bytes"]),
        ("max-bytes", &limits, &["max_bytes"]),
        ("bytes_max", &limits, &["max_bytes"]),
        ("rate_per_minut", &limits, &["rate_per_minute"]),
        ("timeout", &limits, &["timeout_seconds"]),
        ("languges", &params, &["languages"]),
        ("language", &params, &["languages"]),
        ("overwrit", &params, &["overwrite"]),
        ("alow_commands", &params, &["allow_commands"]),
        ("readonly", &presets, &["read-only"]),
        ("read_only", &presets, &["read-only"]),
        ("Locked", &presets, &["locked"]),
        ("hardend", &presets, &["hardened"]),
        ("al", &audit, &[]),
        ("denied", &audit, &[]),
        ("sigterm", &signals, &["SIGTERM"]),
        ("SIGTREM", &signals, &["SIGTERM"]),
        ("fileops", &groups, &["file_ops"]),
        ("dev-tools", &groups, &["dev_tools"]),
        ("agent", &groups, &["agents"]),
        ("terminals", &groups, &["terminal"]),
        ("file:read", &scopes, &["files:read"]),
        ("files_read", &scopes, &["files:read"]),
        ("process:runs", &scopes, &["process:run"]),
    ] {
        assert_eq!(closest(word, candidates.iter().copied()), wanted, "{word:?}");
    }
}

#[test]
fn every_name_is_found_from_a_one_letter_typo() {
    let catalogue = Catalogue::builtin();
    for name in catalogue.names().filter(|name| name.len() > 3) {
        for at in (0..name.len()).step_by(4) {
            let mut dropped = name.to_owned();
            dropped.remove(at);
            let mut doubled = name.to_owned();
            doubled.insert(at, 'q');
            for typo in [dropped, doubled] {
                if catalogue.resolve(&typo).is_some() {
                    continue;
                }
                let found = closest(&typo, catalogue.names());
                assert!(found.contains(&name), "{typo:?} for {name}: {found:?}");
            }
        }
    }
}
