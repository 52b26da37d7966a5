//! The README's policies and calls: every `yaml` block that begins with `# NAME` is that file, every `console` block is
//! calls with what they print. `UPDATE=1` writes what they print into the page.

use crate::golden::Goldens;
use crate::run::run;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const PROGRAM: &str = "$ agent-sandbox-server ";

#[test]
fn every_call_in_the_readme_prints_what_the_page_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("README.md")).expect("the README is there");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut calls = 0;
    let mut renewed = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        renewed.push_str(line);
        renewed.push('\n');
        let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match language {
            "console" => {
                for call in block.iter().filter_map(|line| line.strip_prefix(PROGRAM)) {
                    calls += 1;
                    let args: Vec<&str> = call.split(' ').collect();
                    let ran = run(dir.path(), &args, &BTreeMap::new(), "");
                    let _ = write!(renewed, "{PROGRAM}{call}\n{}{}", ran.stdout, ran.stderr);
                }
            }
            _ => {
                if let Some(name) =
                    block.first().and_then(|first| first.strip_prefix("# ")).filter(|_| language == "yaml")
                {
                    std::fs::write(dir.path().join(name.replace('/', "_")), block.join("\n"))
                        .expect("the file can be written");
                }
                for line in block {
                    renewed.push_str(line);
                    renewed.push('\n');
                }
            }
        }
        renewed.push_str("```\n");
    }
    assert!(calls >= 5, "the README shows the tool at work");
    let mut goldens = Goldens::new("cargo test -p runtime --test cli", &[]);
    goldens.compare("README.md", &renewed);
    goldens.finish();
}
