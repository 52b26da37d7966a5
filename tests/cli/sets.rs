//! Compiled sets as commands take them: what is read of them, and what is said of those that are not whole.

use crate::run::{Ran, folder, run};
use policy_lang::form;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn call(dir: &Path, args: &[&str]) -> Ran {
    run(dir, args, &BTreeMap::new(), "")
}

/// The set with a part replaced and a checksum that fits.
fn edited(set: &str, from: &str, to: &str) -> String {
    assert!(set.contains(from), "{from} is not in\n{set}");
    let set = set.replacen(from, to, 1);
    let (first, body) = set.split_once('\n').expect("a set has lines");
    let (head, _) = first.split_once("\"crc32\"").expect("the first line has a checksum");
    format!("{head}\"crc32\":\"{}\",\n{body}", form::checksum(body))
}

#[test]
fn a_set_with_routes_of_a_template_is_shown_and_compared() {
    let template = "\
from agent_sandbox.server import *
table = default_table()

@table.route('POST', '/score', group='commands')
def score(request): return ServerResponse.ok({})
";
    let files = [("p.yaml", "endpoints: {\"custom:post_score\": false}\n"), ("a.py", template)];
    let dir = folder(&files.map(|(name, text)| (name.to_owned(), text.to_owned())).into());
    let compiled = call(dir.path(), &["compile", "--policy", "p.yaml", "--commands", "a.py", "-o", "ca.set"]);
    assert_eq!(compiled.exit, 0, "{}", compiled.stderr);
    let shown = call(dir.path(), &["inspect", "ca.set"]);
    assert_eq!((shown.exit, shown.stderr.as_str()), (0, ""));
    assert!(
        shown.stdout.contains(
            "custom_routes:\n  - {id: custom:post_score, group: commands, scopes: [commands:run]}\n"
        )
    );
    assert!(shown.stdout.contains("    selector: custom:post_score\n"), "{}", shown.stdout);
    assert_eq!(call(dir.path(), &["diff", "ca.set", "ca.set"]).exit, 0);
    let unknown = call(dir.path(), &["check-config", "--policy", "ca.set"]);
    let wanted = "\
error: ca.set: the compiled policy was made for other custom routes than this server has
  help: compile the policy again with the `--commands` file that the server is started with
";
    assert_eq!((unknown.exit, unknown.stderr.as_str()), (1, wanted));
    assert_eq!(call(dir.path(), &["check-config", "--policy", "ca.set", "--commands", "a.py"]).exit, 0);
}

#[test]
fn every_command_says_what_is_wrong_with_a_set_and_what_to_do() {
    let dir = folder(&[("p.yaml".to_owned(), "endpoints: {shell: false}\n".to_owned())].into());
    assert_eq!(call(dir.path(), &["compile", "--policy", "p.yaml", "-o", "p.set"]).exit, 0);
    let set = fs::read_to_string(dir.path().join("p.set")).expect("it was written");
    let value: serde_json::Value = serde_json::from_str(&set).expect("it is JSON");
    let revision = value["revision"].as_str().expect("it has a revision");
    let bad = "the compiled policy has a bad value at";
    let damaged = "the compiled policy was changed after it was written: it does not begin as one does";
    for (set, wanted, served) in [
        (
            edited(&set, revision, &"0".repeat(64)),
            format!("{bad} `revision`: it is not that of what the set holds"),
            false,
        ),
        (
            edited(&set, "\"preset\":null", "\"preset\":\"locked\""),
            format!("{bad} `preset`: the set does not hold the preset `locked`"),
            true,
        ),
        (
            edited(&set, "\"file\":0", "\"file\":-1"),
            "the compiled policy cannot be read: invalid type: integer `-1`, expected the number of one of `files` \
             at line "
                .to_owned(),
            true,
        ),
        (format!("\u{feff}{set}"), damaged.to_owned(), true),
        (serde_json::to_string_pretty(&value).expect("it was JSON"), damaged.to_owned(), true),
    ] {
        fs::write(dir.path().join("bad.set"), set).expect("a file can be written");
        let mut calls: Vec<&[&str]> = vec![
            &["inspect", "bad.set"],
            &["check-config", "--policy", "bad.set"],
            &["diff", "p.set", "bad.set"],
        ];
        // The revision is for those who have the time: a server takes it as it stands.
        if served {
            calls.push(&["serve", "--port", "0", "--pty-port", "0", "--base-dir", "/tmp", "--policy", "bad.set"]);
        }
        for args in calls {
            let ran = call(dir.path(), args);
            assert_eq!(ran.exit, 1, "{args:?}: {}", ran.stderr);
            let (first, help) = ran.stderr.split_once('\n').expect("two lines");
            assert!(first.trim_start_matches("agent-sandbox-server: ").starts_with(&format!("error: bad.set: {wanted}")), "{first}");
            let wanted = "  help: a compiled set is not edited by hand: change the policy document and compile it again\n";
            assert_eq!(help, wanted, "{args:?}");
        }
    }
}

#[test]
fn an_input_without_an_end_is_refused() {
    for args in [
        &["check-config", "--policy", "/dev/zero"][..],
        &["fmt", "/dev/zero"],
        &["diff", "/dev/zero", "/dev/null"],
    ] {
        let ran = call(Path::new("/"), args);
        assert_eq!(ran.exit, 1, "{args:?}: {}", ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let wanted = "error[document-too-large]: the document has more than the 16777216 bytes (16 MiB) that are read\n";
        assert!(said.starts_with(wanted), "{args:?}: {said}");
    }
    let served = call(
        Path::new("/"),
        &["serve", "--port", "0", "--pty-port", "0", "--base-dir", "/tmp", "--policy", "/dev/zero"],
    );
    assert_eq!(served.exit, 1);
    assert!(served.stderr.contains("error[document-too-large]: "), "{}", served.stderr);
}

/// A policy with a warning and one that a set cannot be judged by.
const WARNED: &str = "endpoints: {shell: {}, \"env_*\": false}\n";

#[test]
fn what_a_set_no_longer_tells_is_named_in_every_format() {
    let dir = folder(&[("full.yaml".to_owned(), WARNED.to_owned())].into());
    assert_eq!(call(dir.path(), &["compile", "--policy", "full.yaml", "-o", "full.set"]).exit, 0);
    let why = "a compiled set holds no text to judge: check the document that it was compiled from";
    let check = |format: &str| {
        let ran = call(dir.path(), &["check-config", "--policy", "full.set", "--strict", "--format", format]);
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{format}");
        ran.stdout
    };
    assert_eq!(check("human"), format!("full.set: clean\nnot checked: warnings: {why}\n"));
    assert_eq!(check("github"), format!("::notice title=not checked::warnings: {why}\n"));
    assert!(check("junit").contains(&format!("name=\"warnings\">\n      <skipped message=\"{why}\"/>")));
    for format in ["json", "jsonl", "sarif"] {
        assert!(check(format).contains(why), "{format}");
    }
}

#[test]
fn a_set_is_explained_without_a_text_to_change() {
    let dir = folder(&[("p.yaml".to_owned(), "endpoints: {shell: false}\n".to_owned())].into());
    assert_eq!(call(dir.path(), &["compile", "--policy", "p.yaml", "-o", "p.set"]).exit, 0);
    let ran = call(dir.path(), &["check-config", "--policy", "p.set", "--explain", "shell"]);
    let wanted = "\nto allow it: change the document that the set was compiled from, and compile it again\n";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
}
