//! Documents with more mistakes than are shown: every one counts.

use policy_lang::diag::{Code, Diagnostic, Levels};
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::{Document, Inputs, compile_document};

/// The findings of a document, and whether a policy came of it.
fn flooded(text: &str) -> (Vec<Diagnostic>, bool) {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "policy.yaml", bytes: text.as_bytes(), format: Format::Yaml };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    (outcome.diagnostics, outcome.policy.is_some())
}

fn stand_for(found: &[Diagnostic], code: Code) -> (usize, usize) {
    let of_code: Vec<&Diagnostic> = found.iter().filter(|finding| finding.code == code).collect();
    (of_code.len(), of_code.iter().map(|finding| finding.counts()).sum())
}

#[test]
fn what_is_not_shown_is_counted() {
    for count in [999_usize, 1_000, 1_001, 6_000] {
        let numbers = vec!["7"; count].join(", ");
        let (found, accepted) = flooded(&format!("endpoints: {{upload: {{paths: {{deny: [{numbers}]}}}}}}"));
        assert!(!accepted);
        let shown = if count > 1_000 { 1_001 } else { count };
        assert_eq!(stand_for(&found, Code::WrongType), (shown, count));
    }
    // The reader counts as well, and what it cut is not cut again.
    let lines: String = (0..2_500).map(|_| "shell: true, ").collect();
    let (found, accepted) = flooded(&format!("endpoints: {{{lines}nothing: true}}\n"));
    assert!(!accepted);
    assert_eq!(stand_for(&found, Code::DuplicateKey), (1_001, 2_499));
}

#[test]
fn no_flood_of_warnings_hides_an_error() {
    let lines: String = (0..1_200).map(|at| format!("  \"{{files_list,x{at}}}\": {{}}\n")).collect();
    let (found, accepted) = flooded(&format!("endpoints:\n{lines}  shell: {{path: {{deny: [/x]}}}}\n"));
    assert!(!accepted, "a restriction was lost");
    assert_eq!(stand_for(&found, Code::UnknownKey), (1, 1));
    assert_eq!(stand_for(&found, Code::RuleHasNoEffect), (1_001, 1_200));
}
