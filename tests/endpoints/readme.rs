//! The tables of README.md, between `<!-- generated: NAME -->` and `<!-- end: NAME -->`.

use crate::COMMAND;
use crate::golden::Goldens;
use policy_lang::endpoint::{ENDPOINTS, GROUPS, KEYS, KeyDecl, MergeLaw};

#[test]
fn the_readme_is_in_step() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let readme = replaced(&readme, "endpoints", &endpoints());
    let readme = replaced(&readme, "rule keys", &rule_keys());
    let mut goldens = Goldens::new(COMMAND, &[]);
    goldens.compare("README.md", &readme);
    goldens.finish();
}

/// `text` with `table` between the markers of `name`.
fn replaced(text: &str, name: &str, table: &str) -> String {
    let (start, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("README.md lacks {start}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("README.md lacks {end}"));
    format!("{before}{start}\n{table}\n{end}{after}")
}

fn endpoints() -> String {
    let mut table =
        String::from("| id | method and path | scopes | what it does |\n| --- | --- | --- | --- |\n");
    for group in &GROUPS {
        let state = format!("{:?}", group.default).replace("OptIn", "opt-in").to_lowercase();
        let (name, summary, count) = (group.name, group.summary, group.members.len());
        table.push_str(&format!("| **{name}** ({count}, {state}) | | | *{summary}* |\n"));
        for row in group.members.iter().map(|id| &ENDPOINTS[id.index()]) {
            let door = row.doors.first().unwrap();
            let scopes: Vec<String> = row.scopes.iter().map(|scope| format!("`{scope}`")).collect();
            table.push_str(&format!(
                "| `{}` | `{} {}` | {} | {} |\n",
                row.name,
                door.method.as_str(),
                door.path,
                scopes.join(" "),
                row.summary
            ));
        }
    }
    table
}

fn rule_keys() -> String {
    let mut table = String::from(
        "| key | value | merged by | accepted by | what it says |\n| --- | --- | --- | --- | --- |\n",
    );
    for row in &KEYS {
        let law = if row.law == MergeLaw::Accumulate { "union" } else { "precedence" };
        let (name, kind, by, summary) = (row.name, kind(row), accepted_by(row), row.summary);
        table.push_str(&format!("| `{name}` | {kind} | {law} | {by} | {summary} |\n"));
    }
    table
}

/// `PathsOrTrue` is "paths or true".
fn kind(row: &KeyDecl) -> String {
    let mut words = String::new();
    for letter in format!("{:?}", row.kind).chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn accepted_by(row: &KeyDecl) -> String {
    let takers = ENDPOINTS.iter().filter(|endpoint| endpoint.accepts.contains(row.key)).count();
    match takers {
        all if all == ENDPOINTS.len() => "all".to_owned(),
        1 => "1 endpoint".to_owned(),
        some => format!("{some} endpoints"),
    }
}
