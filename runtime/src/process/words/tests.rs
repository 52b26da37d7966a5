//! The split against Python's: a recorded table always, the interpreter itself where there is one.
#![expect(clippy::disallowed_methods, reason = "the reference runs beside the test, not in a server")]

use super::split;
use proptest::prelude::*;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What Python answered: the words, or its message.
fn wanted(answer: &serde_json::Value) -> Result<Vec<String>, String> {
    match answer {
        serde_json::Value::Array(words) => Ok(words.iter().map(|w| w.as_str().unwrap().to_owned()).collect()),
        other => Err(other.as_str().unwrap().to_owned()),
    }
}

#[test]
fn splits_as_the_recorded_table_says() {
    let rows: Vec<(String, serde_json::Value)> = serde_json::from_str(include_str!("table.json")).unwrap();
    assert!(rows.len() > 400);
    for (text, answer) in rows {
        assert_eq!(split(&text).map_err(|e| e.to_string()), wanted(&answer), "{text:?}");
    }
}

/// Random texts of the characters that matter, from a fixed seed.
fn random_texts(count: usize) -> Vec<String> {
    let alphabet: Vec<char> = " \t\r\n'\"\\#ab;$=é\u{3000}\u{b}".chars().collect();
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    (0..count)
        .map(|_| {
            let length = next() % 16;
            (0..length).map(|_| alphabet[next() as usize % alphabet.len()]).collect()
        })
        .collect()
}

#[test]
fn splits_as_python_does() {
    const SCRIPT: &str = "import sys,json,shlex\nout=[]\nfor s in json.load(sys.stdin):\n try: out.append(shlex.split(s))\n except ValueError as e:\n  m=str(e); out.append(m[0].lower()+m[1:])\njson.dump(out,sys.stdout)";
    let texts = random_texts(30_000);
    let Ok(mut python) =
        Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    else {
        return; // no interpreter here; the recorded table above stands in for it
    };
    python.stdin.take().unwrap().write_all(&serde_json::to_vec(&texts).unwrap()).unwrap();
    let output = python.wait_with_output().unwrap();
    let answers: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers.len(), texts.len());
    for (text, answer) in texts.iter().zip(&answers) {
        assert_eq!(split(text).map_err(|e| e.to_string()), wanted(answer), "{text:?}");
    }
}

proptest! {
    #[test]
    fn words_quoted_by_the_usual_rule_come_back(words in prop::collection::vec("\\PC*", 0..6)) {
        let line: Vec<String> = words.iter().map(|w| format!("'{}'", w.replace('\'', "'\"'\"'"))).collect();
        prop_assert_eq!(split(&line.join(" ")).unwrap(), words);
    }

    #[test]
    fn never_panics(text in "\\PC*") {
        let _ = split(&text);
    }
}
