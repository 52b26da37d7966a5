//! The documents of the reference pages: each failing one has its finding and no other, each mended one has none.

use policy_lang::check::Facts;
use policy_lang::diag::{CODES, Levels, Page, page};
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::render::{RenderOptions, human};
use policy_lang::testing;
use policy_lang::{Document, Inputs, compile_document};

/// Codes of the findings, and how a person reads them.
fn compile(page: &Page, document: &str) -> (Vec<&'static str>, String) {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::new(false));
    let variable = |name: &str| page.environment.iter().find(|(known, _)| *known == name);
    let is_set = |name: &str| variable(name).is_some();
    let facts = Facts { variable_is_set: Some(&is_set), server_token: is_set("ABX_SERVER_TOKEN") };
    let enabled_groups = variable("ABX_SERVER_ENABLED_GROUPS").map(|(_, value)| *value);
    let inputs = Inputs { enabled_groups, facts, ..Inputs::new(&catalogue, &levels) };
    let document = Document { name: "policy.yaml", bytes: document.as_bytes(), format: Format::Yaml };
    let mut outcome = compile_document(Some(document), &inputs);
    let tests = testing::findings(&outcome, Format::Yaml, &catalogue);
    outcome.diagnostics.extend(tests);
    let codes = outcome.diagnostics.iter().map(|finding| finding.code.as_str()).collect();
    (codes, human(&outcome.sources, &outcome.diagnostics, RenderOptions::default()))
}

#[test]
fn failing_examples_have_their_code_alone_and_mended_ones_are_clean() {
    let mut faults = Vec::new();
    for code in CODES {
        let page = page(*code);
        let (codes, shown) = compile(page, page.fails);
        if codes != [page.name] {
            faults.push(format!("{}: the failing example has {codes:?}\n{shown}", page.name));
        }
        let (codes, shown) = compile(page, page.mended);
        if !codes.is_empty() {
            faults.push(format!("{}: the mended example has {codes:?}\n{shown}", page.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
