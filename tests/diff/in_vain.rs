//! A deny is said to be in vain exactly where taking it away opens nothing, as the comparison of both policies knows.

use crate::random::{ALLOW, DENY, Random};
use policy_lang::diag::{Code, Levels};
use policy_lang::diff::{self, Evidence};
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::{Document, Inputs, Outcome, compile_document};
use serde_json::{Value, json};

fn compile(paths: &Value) -> Outcome {
    let text = json!({"endpoints": {"download": {"paths": paths}}}).to_string();
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "policy.json", bytes: text.as_bytes(), format: Format::Json };
    compile_document(Some(document), &Inputs::new(&catalogue, &levels))
}

#[test]
fn a_deny_is_in_vain_exactly_where_it_closes_nothing() {
    let mut random = Random::new(6);
    let (mut vain, mut not) = (0, 0);
    for _ in 0..12 {
        // What no rule can open is said of no deny.
        let allow: Vec<&str> =
            ALLOW.into_iter().filter(|entry| *entry != "/proc/a" && random.one_in(6)).collect();
        for deny in DENY {
            let with = compile(&json!({"allow": allow, "deny": [deny]}));
            let without = compile(&json!({"allow": allow}));
            let said = with.diagnostics.iter().any(|found| found.code == Code::DenyOutsideAllow);
            let changes =
                diff::compare(with.policy.as_ref().unwrap(), without.policy.as_ref().unwrap()).changes;
            // Beyond ASCII the comparison does not always know; a name that is wholly another is enough for the finding.
            let shown = changes.iter().any(|change| matches!(change.opening, Some(Evidence::Witness(_))));
            let wrong = if said { shown } else { changes.is_empty() };
            assert!(!wrong, "allow {allow:?}, deny `{deny}`, said {said}: {changes:#?}");
            *(if said { &mut vain } else { &mut not }) += 1;
        }
    }
    assert!(vain > 20 && not > 20, "{vain} in vain, {not} not");
}
