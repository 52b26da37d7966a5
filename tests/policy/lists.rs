//! The lists of paths at the end of a compiled set, which a server reads later than the rest: nothing comes of them that the
//! rules have not counted.

use crate::form::{SOURCE, checked, files_list, read, resolved, unread};
use crate::fuzzed::stages::head;
use policy_lang::form::{self, Again, FormError, SetText};

/// How lists of paths and what the rules say of them come apart, and what the refusal says.
const UNCOUNTED: &[(&str, &str, &str)] = &[
    ("\"/home/user/out\"", "\"/home/user/oat:\"", UNLIKE),
    ("\"/home/user/out\"", "\"/home/user:out\"", UNLIKE),
    ("\"/home/user/out\"", "\"/home\\u002fout\"", "expected a borrowed string"),
    ("\"/home/user/out\"", "[\"/home/user/o\"]", "expected a borrowed string"),
    ("\"/home/user/out\"", "\"/home/user/out\",\n\"/home\"", UNLIKE),
    ("\"paths\":[\n", "\"paths\":[ \n", UNLIKE),
    ("\"paths\":[\n", "\"paths\":[], \"paths\":[\n", "duplicate field `paths`"),
    ("\n\"paths\":[\n", " \"paths\":[],\n\"paths\":[\n", "duplicate field `paths`"),
    ("\n\"paths\":[\n", " \"paths\":[\n", "missing field `paths`"),
    ("]}\n", "]\n}", UNLIKE),
    (ALLOW, "\"paths.allow\":{\"entries\":2,\"bytes\":14}", UNLIKE),
    (ALLOW, "\"paths.allow\":{\"entries\":0,\"bytes\":14}", UNLIKE),
    (ALLOW, "\"paths.allow\":{\"entries\":16,\"bytes\":14}", UNLIKE),
    (ALLOW, "\"paths.allow\":{\"entries\":1,\"bytes\":13}", UNLIKE),
    (ALLOW, "\"paths.allow\":{\"entries\":1,\"bytes\":4294967295}", UNLIKE),
    (ALLOW, "\"paths.allow\":{\"entries\":1}", "missing field `bytes`"),
    (ALLOW, "\"paths.allow\":{\"entries\":1,\"bytes\":14,\"at\":0}", "unknown field `at`"),
    (ALLOW, "\"enabled\":{\"entries\":1,\"bytes\":14}", "a value that the key does not take"),
    (ALLOW, "\"paths.allow\":\"/home/user/out\"", UNLIKE),
];
const ALLOW: &str = "\"paths.allow\":{\"entries\":1,\"bytes\":14}";
const UNLIKE: &str = "the lists are not those that the rules count";

#[test]
fn lists_that_are_not_those_that_the_rules_count_are_refused() {
    let set = form::write(&resolved(SOURCE));
    for (from, to, wanted) in UNCOUNTED {
        assert!(set.contains(from), "{from} is not in\n{set}");
        let set = checked(&set.replacen(from, to, 1));
        let error = read(&set).err().unwrap_or_else(|| panic!("{to}: it is taken"));
        assert!(error.to_string().contains(wanted), "{to}: {error}");
        let late = unread(head(&set, 100)).and_then(|policy| policy.prepare());
        assert!(late.is_err(), "{to}");
    }
}

#[test]
fn a_list_that_stands_in_the_place_of_its_length_is_held_to_the_same() {
    let set = form::write(&resolved(SOURCE));
    let without = set.replacen(",\n\"/home/user/out\"", "", 1);
    let listed = |list: &str| checked(&without.replacen(ALLOW, &format!("\"paths.allow\":{list}"), 1));
    for list in ["[\"/home/user/out\"]", "\"/home/user/out\"", "\"/home\\u002fuser/out\""] {
        let read = read(&listed(list)).unwrap();
        assert_eq!(form::write(&read), set, "{list}");
        assert_eq!(unread(head(&listed(list), 100)).unwrap().prepare(), Ok(()), "{list}");
    }
    for list in ["[\"/\"]", "\"/\"", "\"/home\\u002f..\"", "[1]"] {
        assert!(read(&listed(list)).is_err(), "{list}");
        assert!(unread(head(&listed(list), 100)).and_then(|policy| policy.prepare()).is_err(), "{list}");
    }
}

#[test]
fn a_set_that_cannot_be_read_to_its_end_closes_what_its_paths_decide() {
    let set = form::write(&resolved(SOURCE));
    let other = set.replacen("\"/home/user/out\"", "\"/home/user/abc\"", 1);
    let changed = "it has been changed meanwhile";
    for (again, wanted) in [
        (
            Err("it is gone".to_owned()),
            "the compiled policy cannot be read to its end: it is gone".to_owned(),
        ),
        (Ok(other.clone()), FormError::Checksum.to_string()),
        (Ok(checked(&other)), FormError::Again(changed.to_owned()).to_string()),
        (Ok(format!("{set} ")), FormError::Again(changed.to_owned()).to_string()),
        (Ok(set.replacen("\"crc32\"", "\"crc33\"", 1)), FormError::Checksum.to_string()),
        (Ok("x".repeat(set.len())), FormError::NotCompiled.to_string()),
    ] {
        let SetText::Head(head, _) = head(&set, 64) else { panic!("it has a head") };
        let policy = unread(SetText::Head(head, Again::new(move || again))).unwrap();
        assert_eq!(files_list(&policy, "/home/user/out/a"), "path_denied");
        let error = policy.prepare().unwrap_err();
        assert_eq!(error.to_string(), wanted);
        assert!(!error.help().is_empty());
        assert_eq!(files_list(&policy, "/home/user/out/a"), "path_denied");
    }
    for cut in ["\"/home/user/out\"", "]}\n"] {
        let (cut, _) = set.rsplit_once(cut).unwrap();
        assert!(matches!(unread(head(cut, 64)), Err(FormError::Checksum)), "{cut}");
        let cut = checked(cut);
        assert!(unread(head(&cut, 64)).and_then(|policy| policy.prepare()).is_err(), "{cut}");
    }
}
