//! `fix/<slug>.yaml` (or `.input`, a JSON document) and what its fixes make of it, `<slug>.out`, with what was done below. Fixing twice is fixing once, and never
//! opens anything.

use crate::golden::Goldens;
use crate::layouts;
use crate::random::{Random, document};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::fix::{Fixed, mend, widens};
use policy_lang::parse::Format;
use policy_lang::policy::CompiledPolicy;
use policy_lang::{Document, Inputs, compile_document};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn fixed(text: &str) -> Fixed {
    fixed_as("template.yaml", text)
}

fn fixed_as(name: &str, text: &str) -> Fixed {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let inputs = Inputs::new(&catalogue, &levels);
    let document = Document { name, bytes: text.as_bytes(), format: Format::Auto };
    mend(document, &inputs, &widens)
}

fn compiled(text: &str) -> Option<CompiledPolicy> {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "template.yaml", bytes: text.as_bytes(), format: Format::Auto };
    compile_document(Some(document), &Inputs::new(&catalogue, &levels)).policy
}

#[test]
fn every_case_is_fixed_as_written_down() {
    let mut goldens = Goldens::new("cargo test -p policy-lang --test tools", &[("tests/tools/fix", "out")]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("tests/tools/fix");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|case| case.unwrap().path()).collect();
    cases.retain(|case| case.extension().is_some_and(|its| its == "yaml" || its == "input"));
    cases.sort();
    for case in cases {
        let json = case.extension().is_some_and(|its| its == "input");
        let name = if json { "policy.json" } else { "template.yaml" };
        let fixed = fixed_as(name, &fs::read_to_string(&case).unwrap());
        let mut shown = fixed.text.clone();
        shown.push_str("---\n");
        for (code, message) in &fixed.applied {
            let _ = writeln!(shown, "{}: {message}", code.as_str());
        }
        for kept in &fixed.kept {
            let _ = writeln!(shown, "left {}: {}: {}", kept.code.as_str(), kept.message, kept.widens);
        }
        let slug = Path::new("tests/tools/fix").join(case.file_stem().unwrap());
        goldens.compare(slug.with_extension("out"), &shown);
    }
    goldens.finish();
}

#[test]
fn fixing_never_opens_anything_and_twice_is_once() {
    let mut changed = 0;
    for seed in 0..crate::count(100, 5_000) {
        let mut random = Random::new(seed);
        let document = document(&mut random);
        let mut text = layouts::write(&mut random, &document);
        // A slip of the pen now and then.
        let slips = [
            ("enabled", "enabld"),
            ("deny", "dny"),
            ("upload", "uplod"),
            ("limits", "limit"),
            ("true", "yes"),
        ];
        if random.one_in(2) {
            let (right, wrong) = random.pick(&slips);
            text = text.replacen(right, wrong, 1);
        }
        let once = fixed(&text);
        let twice = fixed(&once.text);
        assert_eq!(twice.text, once.text, "seed {seed}: the second time, of\n{text}");
        changed += usize::from(once.text != text);
        if let (Some(before), Some(after)) = (compiled(&text), compiled(&once.text)) {
            assert_eq!(widens(&before, &after), None, "seed {seed}\n{text}\n{}", once.text);
        }
        assert_eq!(
            comments(&text),
            comments(&once.text),
            "seed {seed}: comments stay\n{text}\n{}",
            once.text
        );
    }
    assert!(changed > 10, "{changed} documents were fixed");
}

#[test]
fn what_could_not_be_read_opens_nothing_when_it_can() {
    let selectors = ["*", "*_list", "{upload,shell}", "[sc]*", "@defaults"];
    let rules =
        ["true", "{enabled: true}", "{limits: {max_bytes: 500MB}}", "{paths: {allow: [/srv]}}", "false"];
    let mut mended = 0;
    for preset in ["locked", "default"] {
        let before = compiled(&format!("preset: {preset}\n")).unwrap();
        for (selector, rule) in selectors.iter().flat_map(|one| rules.iter().map(move |rule| (one, rule))) {
            for text in [
                format!("preset: {preset}\nendpoints:\n  {selector}: {rule}\n"),
                format!("{{preset: {preset}, endpoints: {{{selector}: {rule}}}}}\n"),
            ] {
                assert!(compiled(&text).is_none(), "{text}");
                let fixed = fixed(&text);
                let Some(after) = compiled(&fixed.text) else {
                    assert_eq!(fixed.text, text, "left as it is");
                    continue;
                };
                mended += 1;
                assert_eq!(widens(&before, &after), None, "{text}");
            }
        }
    }
    assert!(mended >= 20, "{mended} were mended");
}

fn comments(text: &str) -> usize {
    policy_lang::parse::Layout::of(text).comments.len()
}
