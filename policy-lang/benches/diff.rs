//! What changes between two policies of 100 KB: nothing, one entry, one entry of every rule, and one entry of every rule
//! that makes no difference, which takes a proof each.
//!
//! `cargo bench -p policy-lang --bench diff`. Compiling both sides is not part of it; `stages` measures that.

#[path = "support/policies.rs"]
#[expect(dead_code, reason = "each bench takes what it needs")]
mod policies;

use divan::{Bencher, black_box};
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::policy::CompiledPolicy;
use policy_lang::{Document, Inputs, compile_document, diff};
use serde_json::Value;

const BYTES: usize = 100_000;

fn main() {
    divan::main();
}

/// What an edit takes out.
#[derive(Debug, Clone, Copy)]
enum Edit {
    Nothing,
    OneDeny,
    ADenyOfEveryRule,
    ACoveredDenyInEveryRule,
}

fn policy(edit: Edit) -> Option<CompiledPolicy> {
    let mut document: Value = serde_json::from_str(&policies::json(BYTES, "/home/user")).ok()?;
    let rules = match edit {
        Edit::Nothing => 0,
        Edit::OneDeny => 1,
        Edit::ADenyOfEveryRule | Edit::ACoveredDenyInEveryRule => usize::MAX,
    };
    let endpoints = document.get_mut("endpoints")?.as_object_mut()?;
    for rule in endpoints.values_mut().take(rules) {
        let deny = rule.pointer_mut("/paths/deny")?.as_array_mut()?;
        match edit {
            Edit::ACoveredDenyInEveryRule => deny.push(format!("{}/deep", deny.first()?.as_str()?).into()),
            _ => drop(deny.pop()),
        }
    }
    let text = document.to_string();
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "policy.json", bytes: text.as_bytes(), format: Format::Json };
    compile_document(Some(document), &Inputs::new(&catalogue, &levels)).policy
}

#[divan::bench(args = [Edit::Nothing, Edit::OneDeny, Edit::ADenyOfEveryRule, Edit::ACoveredDenyInEveryRule])]
fn compare_100_kb(bencher: Bencher<'_, '_>, edit: Edit) {
    let (Some(old), Some(new)) = (policy(Edit::Nothing), policy(edit)) else { return };
    bencher.bench_local(|| diff::compare(black_box(&old), black_box(&new)));
}
