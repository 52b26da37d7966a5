//! The presets: each is a document without a finding, and leaves open what it says.

use crate::golden::Goldens;
use policy_lang::diag::Levels;
use policy_lang::endpoint::{Catalogue, GROUPS};
use policy_lang::lower::presets::PRESETS;
use policy_lang::parse::Format;
use policy_lang::{Document, Inputs, Outcome, compile_document};
use std::fmt::Write as _;

fn compile(text: &str, enabled_groups: Option<&str>) -> Outcome {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::new(true));
    let document = Document { name: "policy.yaml", bytes: text.as_bytes(), format: Format::Yaml };
    compile_document(Some(document), &Inputs { enabled_groups, ..Inputs::new(&catalogue, &levels) })
}

/// The ids that answer.
fn open(outcome: &Outcome) -> Vec<&str> {
    let policy = outcome.policy.as_ref().expect("the policy compiles");
    let open = policy.endpoints().filter(|(_, endpoint)| endpoint.enabled.value);
    open.filter_map(|(ix, _)| policy.name(ix)).collect()
}

#[test]
fn presets_are_documents_without_a_finding() {
    for preset in PRESETS {
        assert_eq!(compile(preset.text, None).diagnostics, [], "{} as a document", preset.name);
        let named = compile(&format!("preset: {}\n", preset.name), None);
        assert_eq!(named.diagnostics, [], "{} as a preset", preset.name);
    }
}

/// What each leaves open, as a list that shows in review.
#[test]
fn presets_leave_open_what_they_say() {
    let mut text = String::new();
    for preset in PRESETS {
        let outcome = compile(&format!("preset: {}\n", preset.name), None);
        let _ = writeln!(text, "{}: {}\n  {}\n", preset.name, preset.summary, open(&outcome).join("\n  "));
    }
    let mut goldens = Goldens::new("cargo test -p policy-lang --test policy presets", &[]);
    goldens.compare("tests/policy/presets.txt", &text);
    goldens.finish();
}

/// Closed by a glob: neither a group nor the environment opens anything again, an exact id does.
#[test]
fn b12_only_an_exact_id_or_a_glob_opens_what_a_closing_preset_closed() {
    let all: Vec<_> = GROUPS.iter().map(|group| group.name).collect();
    let groups: String = all.iter().map(|name| format!("  {name}: true\n")).collect();
    for name in ["read-only", "transfer-only", "locked"] {
        let plain = compile(&format!("preset: {name}\n"), None);
        let pushed = compile(&format!("preset: {name}\ngroups:\n{groups}"), Some(&all.join(",")));
        assert_eq!(open(&plain), open(&pushed), "{name}");
        let exact = compile(&format!("preset: {name}\nendpoints:\n  code_run: true\n"), None);
        let opened: Vec<_> = open(&exact).into_iter().filter(|id| !open(&plain).contains(id)).collect();
        assert_eq!(opened, ["code_run"], "{name}");
    }
}
