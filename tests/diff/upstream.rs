//! What changes by no edit of the author: a preset of another release, an endpoint table of another release.

use crate::cases::compile;
use policy_lang::Inputs;
use policy_lang::diag::Levels;
use policy_lang::diff::table::Table;
use policy_lang::diff::{self, Aspect, Cause, Compared, Evidence, Set, Subject, Verdict, compare, load_set};
use policy_lang::endpoint::{Catalogue, Key, TABLE_FINGERPRINT};
use policy_lang::form::{self, FormError};
use policy_lang::layer::LayerKind;
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::revision::revision;
use policy_lang::resolved::{Resolved, ResolvedValue};

const HARDENED: &str = "preset: hardened\nendpoints:\n  \"files_*\": { limits: { timeout_seconds: 5 } }\n";

fn policy(text: &str) -> CompiledPolicy {
    compile("template.yaml", text).policy.unwrap()
}

fn load(set: &str) -> Result<Set, FormError> {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    load_set(set, &Inputs::new(&catalogue, &levels))
}

/// The set as another tool would have written it.
fn written(mut resolved: Resolved) -> String {
    resolved.revision = revision(&resolved);
    form::write(&resolved)
}

/// The set as made for another table of endpoints.
fn for_table(set: &str, fingerprint: &str) -> String {
    let (first, body) = set.split_once('\n').unwrap();
    let (head, _) = first.split_once("\"crc32\"").unwrap();
    let body = body.replacen(TABLE_FINGERPRINT, fingerprint, 1);
    format!("{head}\"crc32\":\"{}\",\n{body}", form::checksum(&body))
}

#[test]
fn a_set_of_this_tool_is_the_same_as_its_text() {
    let new = policy(HARDENED);
    let set = load(&form::write(new.resolved())).unwrap();
    assert_eq!((&set.table, set.dropped.len()), (&Table::Own, 0));
    assert!(compare(&set.policy, &new).is_empty());
}

#[test]
fn a_preset_that_was_another_is_named() {
    let new = policy(HARDENED);
    let mut resolved = new.resolved().clone();
    let is_preset = |rule: &policy_lang::resolved::Rule| rule.layer == LayerKind::Preset;
    let presets: Vec<bool> = resolved.rules.iter().map(is_preset).collect();
    let mut lowered = 0;
    for statement in resolved.statements.iter_mut().filter(|one| presets[one.rule.0 as usize]) {
        if let (Key::LimitsMaxConcurrency, ResolvedValue::Number(most)) =
            (statement.key, &mut statement.value)
        {
            *most -= 1;
            lowered += 1;
        }
    }
    assert!(lowered > 0, "the preset limits concurrency");
    let old = load(&written(resolved)).unwrap();
    let diff = compare(&old.policy, &new);
    assert!(!diff.is_empty());
    for change in &diff.changes {
        assert_eq!(change.aspect, Aspect::Key(Key::LimitsMaxConcurrency));
        assert_eq!(
            (change.verdict, &change.cause),
            (Verdict::Widened, &Cause::Preset("hardened".to_owned()))
        );
    }
}

#[test]
fn a_rule_that_captures_more_under_a_later_table_is_named() {
    let new = policy("preset: locked\nendpoints:\n  \"files_*\": true\n");
    let known: Vec<&str> = policy_lang::endpoint::ENDPOINTS
        .iter()
        .map(|decl| decl.name)
        .filter(|id| !matches!(*id, "files_grep" | "files_archive"))
        .collect();
    let old = Compared { policy: &new, known: diff::Known::These(&known) };
    let diff = compare(old, &new);
    let told: Vec<_> = diff.changes.iter().map(|one| (one.subject.name(), one.verdict, &one.cause)).collect();
    let cause = Cause::Table("policy:endpoints.files_*".to_owned());
    let wanted = ["files_grep", "files_archive"].map(|id| (id, Verdict::Widened, &cause));
    assert_eq!(told, wanted);
    let back = compare(&new, old);
    assert!(back.changes.iter().all(|one| one.verdict == Verdict::Narrowed && one.cause == cause));
}

#[test]
fn a_table_that_nobody_knows_is_taken_for_a_widening() {
    let new = policy(HARDENED);
    let set = for_table(&form::write(new.resolved()), &"0".repeat(64));
    let old = load(&set).unwrap();
    assert_eq!(old.table, Table::Unknown);
    let side = Compared { policy: &old.policy, known: old.table.known() };
    let diff = compare(side, &new);
    assert_eq!(diff.changes.len(), 1);
    let change = &diff.changes[0];
    assert_eq!((&change.subject, change.verdict), (&Subject::Table, Verdict::Widened));
    assert!(matches!(change.opening, Some(Evidence::Unproven(_))));
    // No server takes such a set.
    let catalogue = Catalogue::builtin();
    assert!(matches!(form::read(set.into(), &catalogue), Err(FormError::Table { .. })));
}

#[test]
fn a_rule_about_an_endpoint_that_is_gone_is_named() {
    let new = policy("endpoints:\n  shell: false\n");
    let set = form::write(new.resolved()).replace("endpoints.shell", "endpoints.shellx");
    let set = set.replace("\"selector\":\"shell\"", "\"selector\":\"shellx\"");
    let old = load(&for_table(&set, &"0".repeat(64))).unwrap();
    assert_eq!(old.dropped, ["policy:endpoints.shellx"]);
}

#[test]
fn a_set_that_was_changed_is_not_compared() {
    let set = form::write(policy(HARDENED).resolved());
    assert_eq!(load(&set.replace("timeout", "timeouts")).unwrap_err(), FormError::Checksum);
    assert_eq!(load("{}").unwrap_err(), FormError::NotCompiled);
}
