//! What holds of compiling and of loading whatever they are given. The fuzz targets and the property tests ask the same.

use policy_lang::decide::{Decision, GateOutcome, Op, PathQuery, Query, decide, gates};
use policy_lang::diag::{Levels, Severity};
use policy_lang::endpoint::{Catalogue, Group, TABLE_FINGERPRINT};
use policy_lang::form::{self, Again, HeadReader, SetText};
use policy_lang::parse::Format;
use policy_lang::policy::CompiledPolicy;
use policy_lang::render::{RenderOptions, human};
use policy_lang::{Document, Inputs, compile_document, load_compiled};

/// The compiled set of a template.
pub(crate) fn set(template: &[u8]) -> String {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "template.yaml", bytes: template, format: Format::Yaml };
    let outcome = compile_document(Some(document), &Inputs::new(&catalogue, &levels));
    form::write(outcome.policy.expect("the template compiles").resolved())
}

/// Compiles some bytes as a document and asserts everything; panics where something does not hold.
pub(crate) fn compile(bytes: &[u8]) {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let inputs = Inputs::new(&catalogue, &levels);
    let document = Document { name: "policy.yaml", bytes, format: Format::Auto };
    let outcome = compile_document(Some(document), &inputs);
    let refused = outcome.diagnostics.iter().any(|found| found.severity == Severity::Error);
    assert_eq!(outcome.policy.is_none(), refused, "an error refuses a policy, and nothing else does");
    let few = outcome.diagnostics.get(..outcome.diagnostics.len().min(5)).unwrap_or_default();
    let drawn = human(&outcome.sources, few, RenderOptions::default());
    assert!(!drawn.chars().any(|c| c.is_control() && c != '\n'), "no control reaches a terminal: {drawn:?}");
    let Some(policy) = &outcome.policy else { return };
    whole(policy);
    let set = form::write(policy.resolved());
    let loaded = load_compiled(set.clone().into(), &inputs).expect("what is written can be read").policy;
    let loaded = loaded.expect("a set without an environment has no finding");
    assert_eq!(loaded.resolved(), policy.resolved(), "a set says what its document says");
    assert_eq!((loaded.base_dir(), loaded.revision()), (policy.base_dir(), policy.revision()));
    assert_eq!(form::write(loaded.resolved()), set, "the form is canonical");
}

/// Loads some bytes as a compiled set, as they are, and as made for this table of endpoints with a checksum that fits.
/// Says whether the second was taken.
pub(crate) fn load(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    one(text);
    let Some((first, body)) = text.split_once('\n') else { return false };
    let Some((head, _)) = first.split_once("\"crc32\"") else { return false };
    let body = for_this_table(body);
    one(&format!("{head}\"crc32\":\"{}\",\n{body}", form::checksum(&body)))
}

fn for_this_table(body: &str) -> String {
    let table = body.split_once("\"table\":\"").and_then(|(_, rest)| rest.split('"').next());
    table.map_or_else(|| body.to_owned(), |table| body.replacen(table, TABLE_FINGERPRINT, 1))
}

fn one(set: &str) -> bool {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let inputs = Inputs::new(&catalogue, &levels);
    let outcome = load_compiled(set.to_owned().into(), &inputs);
    for text in [set.to_owned().into(), head(set, 7), head(set, usize::MAX)] {
        let unread = load_compiled(text, &Inputs { leave_paths: true, ..inputs });
        let late = unread.and_then(|unread| unread.policy.expect("it is taken whole").prepare());
        assert_eq!(late.is_ok(), outcome.is_ok(), "what is left unread is refused later");
    }
    let Ok(outcome) = outcome else { return false };
    let policy = outcome.policy.expect("a set that is taken is taken whole");
    whole(&policy);
    let written = form::write(policy.resolved());
    let again = form::read(written.into(), &catalogue).expect("what is written can be read");
    assert_eq!(again, *policy.resolved());
    true
}

/// A set of which a server holds the head alone, read in pieces of so many bytes.
pub(crate) fn head(set: &str, piece: usize) -> SetText {
    let mut reader = HeadReader::default();
    set.as_bytes().chunks(piece).for_each(|piece| reader.push(piece));
    let again = set.to_owned();
    match reader.finish() {
        Ok(head) => SetText::Head(head, Again::new(move || Ok(again))),
        Err(whole) => String::from_utf8(whole).expect("it was a text").into(),
    }
}

/// A policy answers for every endpoint, keeps the core open, and says the same by its gates.
fn whole(policy: &CompiledPolicy) {
    let paths = ["/home/user/a.txt", "/home/user/.git/x", "/etc/passwd", "/home/user", "/proc/self/mem"];
    for (endpoint, rules) in policy.endpoints() {
        let core = policy.decl(endpoint).is_some_and(|decl| decl.group == Group::Core);
        assert!(!core || rules.enabled.value, "the core is open");
        for path in paths {
            let path = [PathQuery { role: "path", path: path.as_bytes(), op: Op::Write }];
            let query = Query { paths: &path, ..Query::of(endpoint) };
            let first = gates(policy, &query).into_iter().find_map(|report| match report.outcome {
                GateOutcome::Fail(denial) => Some(denial),
                _ => None,
            });
            let decision = decide(policy, &query);
            assert_eq!(decision, first.map_or(Decision::Allow, Decision::Deny), "gates and decision differ");
        }
    }
}
