//! The examples of `tests/policy/precedence.md`, compiled.

use crate::examples::{Example, Row, examples};
use policy_lang::diag::{Levels, Severity};
use policy_lang::endpoint::Catalogue;
use policy_lang::explain::{self, Holds};
use policy_lang::parse::Format;
use policy_lang::resolved::ResolvedValue;
use policy_lang::{Document, Inputs, Outcome, compile_document};
use serde_json::{Value, json};

fn compile(example: &Example) -> Outcome {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "policy.yaml", bytes: example.document.as_bytes(), format: Format::Yaml };
    let inputs =
        Inputs { enabled_groups: example.enabled_groups.as_deref(), ..Inputs::new(&catalogue, &levels) };
    compile_document(Some(document), &inputs)
}

/// What holds for a key, as the page writes it.
fn held(outcome: &Outcome, wanted: &Row) -> Vec<Row> {
    let catalogue = Catalogue::builtin();
    let policy = outcome.policy.as_ref().unwrap_or_else(|| panic!("{:#?}", outcome.diagnostics));
    let endpoint = catalogue.resolve(&wanted.endpoint).unwrap();
    let keys = explain::keys(policy, &catalogue, endpoint);
    let report = keys.iter().find(|report| report.key.as_str() == wanted.key).unwrap();
    let row = |value, rule: &str| Row { value, rule: rule.to_owned(), ..wanted.clone() };
    match &report.holds {
        Holds::One { winner, .. } => vec![row(value(&winner.value), winner.rule)],
        Holds::Union(elements) => {
            elements.iter().map(|element| row(json!(element.value), element.rule)).collect()
        }
    }
}

fn value(value: &ResolvedValue) -> Value {
    match value {
        ResolvedValue::Bool(value) => json!(value),
        ResolvedValue::Number(value) => json!(value),
        ResolvedValue::Word(word) => json!(word),
        ResolvedValue::List(list) => list.values().collect(),
    }
}

#[test]
fn b6_every_example_of_the_precedence_page_holds_when_compiled() {
    for example in examples() {
        let outcome = compile(&example);
        let errors = outcome.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        assert_eq!(errors.collect::<Vec<_>>(), [] as [&_; 0], "{}", example.title);
        for row in &example.rows {
            let said = |other: &&Row| (&other.endpoint, &other.key) == (&row.endpoint, &row.key);
            let wanted: Vec<_> = example.rows.iter().filter(said).cloned().collect();
            assert_eq!(held(&outcome, row), wanted, "{}", example.title);
        }
    }
}
