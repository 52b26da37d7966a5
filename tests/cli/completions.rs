//! The completion script for Bash, asked as Bash asks it: after every command it names the flags of that command.

use crate::run::run;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What Bash offers for the last of these words.
fn offered(script: &str, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let [.., before, last] = words else { panic!("two words at least") };
    let asked = format!(
        "{script}
function_of=$(complete -p agent-sandbox-server | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
COMP_WORDS=({}); COMP_CWORD={}
\"$function_of\" agent-sandbox-server '{last}' '{before}'
printf '%s\\n' \"${{COMPREPLY[@]}}\"
",
        quoted.join(" "),
        words.len() - 1
    );
    let mut bash = Command::new("bash")
        .args(["--norc", "--noprofile", "-s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash starts");
    bash.stdin.take().expect("stdin is piped").write_all(asked.as_bytes()).expect("bash reads");
    let output = bash.wait_with_output().expect("bash ends");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("words are UTF-8");
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The long flags that a help page shows, sorted.
fn flags(command: &str) -> Vec<String> {
    let page = run(Path::new("."), &[command, "--help"], &BTreeMap::new(), "").stdout;
    let shown =
        page.lines().map(str::trim_start).filter(|line| line.starts_with('-') && !line.starts_with("- "));
    let long = shown.filter_map(|line| line.split([' ', ',']).find(|word| word.starts_with("--")));
    let mut flags: Vec<String> = long.map(str::to_owned).collect();
    flags.sort();
    flags
}

#[test]
fn bash_offers_the_flags_of_every_command() {
    let script = run(Path::new("."), &["completions", "bash"], &BTreeMap::new(), "").stdout;
    let commands = offered(&script, &["agent-sandbox-server", ""]);
    assert!(commands.contains(&"check-config".to_owned()), "{commands:?}");
    for command in commands.iter().filter(|word| !word.starts_with('-') && *word != "help") {
        let mut found = offered(&script, &["agent-sandbox-server", command, "--"]);
        found.sort();
        assert_eq!(found, flags(command), "{command}");
    }
    let formats = offered(&script, &["agent-sandbox-server", "check-config", "--format", "j"]);
    assert_eq!(formats, ["json", "jsonl", "junit"]);
}
