//! `complete/<topic>.txt`: texts with a `|` where the cursor is, and below each what is offered. `hover/<topic>.txt`: the same, and what
//! is said about the word.

use crate::golden::Goldens;
use policy_lang::assist::{at, complete, hover};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::{self, Format};
use policy_lang::{Document, Inputs, compile_document};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The most items that are written down.
const SHOWN: usize = 12;

fn cases(folder: &str) -> Vec<(PathBuf, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|case| case.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|its| its == "txt"));
    files.sort();
    let texts = |file: &PathBuf| {
        let page = fs::read_to_string(file).unwrap();
        // A case ends where its answer begins.
        page.split("=====\n")
            .map(|case| case.split("-----\n").next().unwrap().to_owned())
            .filter(|case| !case.trim().is_empty())
            .collect()
    };
    files
        .into_iter()
        .map(|file| {
            let read = texts(&file);
            (file, read)
        })
        .collect()
}

fn renew(folder: &str, answer: impl Fn(&str, usize) -> String) {
    let mut goldens = Goldens::new("cargo test -p policy-lang --test tools", &[(folder, "txt")]);
    for (file, texts) in cases(folder) {
        let mut page = String::new();
        for case in texts {
            let (before, after) =
                case.split_once('|').unwrap_or_else(|| panic!("{file:?}: a case has no `|`\n{case}"));
            let answer = answer(&format!("{before}{after}"), before.len());
            let _ = write!(page, "{case}-----\n{answer}=====\n");
        }
        goldens.compare(Path::new(folder).join(file.file_name().unwrap()), &page);
    }
    goldens.finish();
}

#[test]
fn what_can_stand_somewhere_is_offered() {
    renew("tests/tools/complete", |text, offset| {
        let Some(at) = at(text, offset) else { return "nothing\n".to_owned() };
        let items: Vec<_> = complete(&at, &Catalogue::builtin())
            .into_iter()
            .filter(|item| item.label.starts_with(&at.word))
            .collect();
        let mut shown = String::new();
        for item in items.iter().take(SHOWN) {
            let quote = if item.quoted { "\"" } else { "" };
            let _ = writeln!(shown, "{quote}{}{quote}  {}", item.label, item.detail);
        }
        if items.len() > SHOWN {
            let _ = writeln!(shown, "and {} more", items.len() - SHOWN);
        }
        if items.is_empty() { "nothing\n".to_owned() } else { shown.replace("  \n", "\n") }
    });
}

#[test]
fn a_word_says_what_holds() {
    renew("tests/tools/hover", |text, offset| {
        let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
        let document = Document { name: "template.yaml", bytes: text.as_bytes(), format: Format::Yaml };
        let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
        let (root, _) = parse::parse(&outcome.sources, outcome.document.unwrap(), Format::Yaml);
        let offset = u32::try_from(offset).unwrap();
        let told = hover(&root.unwrap(), offset, outcome.policy.as_ref(), &catalogue);
        told.map_or_else(|| "nothing\n".to_owned(), |hover| format!("{}\n", hover.text.trim_end()))
    });
}
