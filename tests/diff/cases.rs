//! Walks `cases/` and `examples/changes/`: what the comparison says of each pair.

use crate::golden::Goldens;
use policy_lang::diag::{Levels, Severity};
use policy_lang::diff::{self, Change, Compared, Diff, Shown, human};
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::render::RenderOptions;
use policy_lang::stages::Outcome;
use policy_lang::{Document, Inputs, compile_document};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What it shows; for the reader.
    #[serde(rename = "note")]
    _note: String,
    old: String,
    new: String,
    /// Endpoints that the tool of `old` did not have.
    #[serde(default)]
    unknown_before: Vec<String>,
}

pub(crate) fn compile(name: &str, text: &str) -> Outcome {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name, bytes: text.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    let errors = outcome.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let errors: Vec<&str> = errors.map(|found| &*found.message).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    outcome
}

fn weight(change: &Change) -> (Severity, Option<String>) {
    let severity = if change.verdict.opens() { Severity::Warning } else { Severity::Info };
    (severity, None)
}

fn page(diff: &Diff, names: [&str; 2], outcomes: [&Outcome; 2]) -> String {
    let [old, new] = [0, 1].map(|side| Shown {
        name: names[side],
        policy: outcomes[side].policy.as_ref().unwrap(),
        sources: &outcomes[side].sources,
    });
    let page = human(diff, [old, new], RenderOptions::default(), &weight);
    let blank = if page.is_empty() { "" } else { "\n" };
    format!("{page}{blank}{}\n", human::summary(diff))
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").flatten().map(|file| file.path()).collect();
    files.sort();
    files
}

#[test]
fn each_case_says_what_it_should() {
    let mut goldens = Goldens::new("cargo test -p policy-lang --test diff", &[("tests/diff/cases", "txt")]);
    for file in
        files("tests/diff/cases").iter().filter(|file| file.extension().is_some_and(|its| its == "yaml"))
    {
        let slug = file.file_stem().unwrap().to_str().unwrap();
        let case: Case = serde_yaml::from_str(&fs::read_to_string(file).unwrap())
            .unwrap_or_else(|error| panic!("{slug}: {error}"));
        let (old, new) = (compile("old.yaml", &case.old), compile("new.yaml", &case.new));
        let ids: Vec<&str> = policy_lang::endpoint::ENDPOINTS.iter().map(|decl| decl.name).collect();
        let ids: Vec<&str> =
            ids.into_iter().filter(|id| !case.unknown_before.iter().any(|unknown| unknown == id)).collect();
        let known = if case.unknown_before.is_empty() { diff::Known::All } else { diff::Known::These(&ids) };
        let before = Compared { policy: old.policy.as_ref().unwrap(), known };
        let diff = diff::compare(before, new.policy.as_ref().unwrap());
        let page = page(&diff, ["old.yaml", "new.yaml"], [&old, &new]);
        goldens.compare(format!("tests/diff/cases/{slug}.txt"), &page);
    }
    goldens.finish();
}

#[test]
fn each_example_is_classified_as_its_page_shows() {
    let mut goldens = Goldens::new("cargo test -p policy-lang --test diff", &[("examples/changes", "txt")]);
    let mut count = 0;
    for folder in files("examples/changes").iter().filter(|file| file.is_dir()) {
        let slug = folder.file_name().unwrap().to_str().unwrap();
        let read = |name: &str| {
            fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{slug}/{name}: {error}"))
        };
        let (old, new) =
            (compile("before.yaml", &read("before.yaml")), compile("after.yaml", &read("after.yaml")));
        let diff = diff::compare(old.policy.as_ref().unwrap(), new.policy.as_ref().unwrap());
        let page = page(&diff, ["before.yaml", "after.yaml"], [&old, &new]);
        goldens.compare(format!("examples/changes/{slug}/diff.txt"), &page);
        count += 1;
    }
    assert!(count >= 10, "ten realistic changes are shown");
    goldens.finish();
}

#[test]
fn the_table_of_this_release_is_on_file() {
    let mut goldens = Goldens::new("cargo test -p policy-lang --test diff", &[]);
    goldens.compare(format!("policy-lang/tables/{}.txt", env!("CARGO_PKG_VERSION")), &diff::table::own());
    goldens.finish();
}
