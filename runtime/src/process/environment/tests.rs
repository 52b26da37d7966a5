//! What passes, what is refused, and that no secret arrives anywhere.

use super::*;

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
}

fn environment() -> Environment {
    let own = map(&[
        ("PATH", "/usr/bin:/bin"),
        ("LC_ALL", "C.UTF-8"),
        ("ABX_SERVER_TOKEN", "s3cret-of-the-server"),
        ("CI_TOKEN", "ci-canary-value"),
        ("DATABASE_URL", "postgres://u:p@h/d"),
        ("LD_PRELOAD", "/tmp/x.so"),
        ("PAGER", "less --header=ci-canary-value"),
        ("HTTPS_PROXY", "http://user:pass@proxy:3128/x"),
    ]);
    Environment::new(own, vec!["CI_TOKEN".to_owned()])
}

fn block(environment: &Environment, request: &[(&str, &str)]) -> Vec<String> {
    let block = environment.block(&map(request), |name| name == "LC_ALL").unwrap();
    block.into_iter().map(|s| s.into_string().unwrap()).collect()
}

#[test]
fn a_child_gets_the_listed_names_and_no_secret_under_any_name() {
    let environment = environment();
    assert_eq!(
        block(&environment, &[("APP", "1")]),
        ["APP=1", "HTTPS_PROXY=http://user:pass@proxy:3128/x", "PATH=/usr/bin:/bin"]
    );
    assert_eq!(environment.visible().get("HTTPS_PROXY").unwrap(), "http://user:***@proxy:3128/x");
}

#[test]
fn the_overlay_reaches_later_children_and_a_request_beats_it() {
    let environment = environment();
    assert_eq!(environment.set(&map(&[("B", "2"), ("A", "1")])).unwrap(), ["A", "B"]);
    let lines = block(&environment, &[("A", "mine")]);
    assert!(lines.contains(&"A=mine".to_owned()) && lines.contains(&"B=2".to_owned()), "{lines:?}");
    environment.set(&map(&[("MY_API_KEY", "x")])).unwrap();
    assert_eq!(environment.visible().get("MY_API_KEY"), None);
}

// security 151
#[test]
fn names_that_nobody_may_set_are_refused_and_nothing_is_set_then() {
    let environment = environment();
    let long = "x".repeat(1_000_000);
    let refused =
        |name: &str, value: &str| environment.set(&map(&[("GOOD", "1"), (name, value)])).unwrap_err();
    for (name, why) in [
        ("LD_PRELOAD", Refused::Loader),
        ("ld_library_path", Refused::Loader),
        ("BASH_ENV", Refused::Loader),
        ("PYTHONSTARTUP", Refused::Loader),
        ("NODE_OPTIONS", Refused::Loader),
        ("BASH_FUNC_ls%%", Refused::Loader),
        ("Path", Refused::Protected),
        ("HOME", Refused::Protected),
        ("https_proxy", Refused::Proxy),
        ("ABX_SERVER_TOKEN", Refused::Secret),
        ("ABX_ANY", Refused::Secret),
        ("ci_token", Refused::Secret),
    ] {
        assert_eq!(refused(name, "x"), VariableError::Refused { name: name.to_owned(), why }, "{name}");
    }
    for (name, value) in [("A=B", "x"), ("", "x"), ("A\0", "x"), ("A", "\0")] {
        assert_eq!(refused(name, value), VariableError::Malformed(name.to_owned()));
    }
    assert_eq!(refused("BIG", &long), VariableError::TooLong("BIG".to_owned()));
    assert!(!environment.variables().contains_key("GOOD"));
    // A request may bring its own PATH, which changes what its child sees and never which file is run.
    assert_eq!(environment.check("PATH", "/x"), Ok(()));
    assert!(environment.check("LD_PRELOAD", "/x").is_err());
}
