//! Credentials on disk, and what is shown of them.

use super::{Credentials, Source, Stored};
use crate::env::Withheld;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

fn open(folder: &Path) -> Credentials {
    let withheld = Withheld::for_test([("UP_STREAM", "from-env-canary")]);
    Credentials::new(folder.join("credentials.json"), Arc::new(withheld), Arc::default())
}

fn stored(source: Source, agents: &[&str], expose_as: Option<&str>) -> Stored {
    Stored {
        source,
        agents: agents.iter().map(|agent| (*agent).to_owned()).collect(),
        expose_as: expose_as.map(str::to_owned),
        updated_at: 1.0,
        last_used_at: None,
    }
}

#[test]
fn values_survive_in_a_closed_file_and_are_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let canary = Source::Value("value-canary".to_owned());
    open(folder.path()).set("KEY", stored(canary, &["one"], None)).unwrap();
    let again = open(folder.path());
    again.set("other", stored(Source::Env("UP_STREAM".to_owned()), &[], Some("TOKEN"))).unwrap();
    let shown = serde_json::to_string(&again.list().unwrap()).unwrap();
    assert_eq!(
        shown,
        r#"[{"name":"KEY","source":"value","present":true,"agents":["one"],"updated_at":1.0},"#.to_owned()
            + r#"{"name":"other","source":"env","present":true,"agents":[],"expose_as":"TOKEN","updated_at":1.0}]"#
    );
    assert!(!format!("{again:?}").contains("canary"));
    let file = folder.path().join("credentials.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(again.delete("KEY").unwrap() && !again.delete("KEY").unwrap());
    assert!(!std::fs::read_to_string(&file).unwrap().contains("value-canary"));
    assert!(!folder.path().join("credentials.next").exists());
}

#[test]
fn what_is_missing_is_what_an_agent_would_not_get() {
    let folder = tempfile::tempdir().unwrap();
    let credentials = open(folder.path());
    credentials.set("KEY", stored(Source::Value("x".to_owned()), &["one"], None)).unwrap();
    credentials.set("env", stored(Source::Env("NOT_THERE".to_owned()), &[], Some("GONE"))).unwrap();
    credentials.set("up", stored(Source::Env("UP_STREAM".to_owned()), &[], Some("UP"))).unwrap();
    let needed = ["KEY", "GONE", "UP", "env"].map(str::to_owned);
    assert_eq!(credentials.missing("one", &needed), ["GONE", "env"]);
    assert_eq!(credentials.missing("two", &needed), ["KEY", "GONE", "env"]);
}

#[test]
fn a_damaged_file_is_an_error_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials.json");
    std::fs::write(&file, "{").unwrap();
    let credentials = open(folder.path());
    assert!(credentials.list().is_err());
    assert!(credentials.set("a", stored(Source::Value("x".to_owned()), &[], None)).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
}
