//! What holds of comparing two policies whatever they say. The fuzz target and the property tests ask the same.

use policy_lang::diag::{Levels, Severity};
use policy_lang::diff::{Change, Evidence, Shown, Verdict, compare, human};
use policy_lang::endpoint::Catalogue;
use policy_lang::parse::Format;
use policy_lang::render::RenderOptions;
use policy_lang::{Document, Inputs, Outcome, compile_document};

/// Takes some bytes for two documents with a line of dashes between them, and compares them where both compile. Says
/// whether they did.
pub(crate) fn pair(bytes: &[u8]) -> bool {
    let line = b"\n---\n";
    let Some(at) = bytes.windows(line.len()).position(|part| part == line) else { return false };
    let (old, rest) = bytes.split_at(at);
    let (old, new) = (compile(old), compile(rest.get(line.len()..).unwrap_or_default()));
    let (Some(before), Some(after)) = (&old.policy, &new.policy) else { return false };
    let diff = compare(before, after);
    for change in &diff.changes {
        assert_ne!(change.verdict, Verdict::Same, "what is the same is not listed");
        for (evidence, refuses, permits) in
            [(&change.opening, before, after), (&change.closing, after, before)]
        {
            if let Some(Evidence::Witness(witness)) = evidence {
                assert!(witness.ask(permits).allowed, "one side permits {witness}");
                assert!(!witness.ask(refuses).allowed, "the other refuses {witness}");
            }
        }
    }
    let back = compare(after, before);
    let turned = |verdict| match verdict {
        Verdict::Widened => Verdict::Narrowed,
        Verdict::Narrowed => Verdict::Widened,
        verdict => verdict,
    };
    let mut there: Vec<_> = diff.changes.iter().map(|one| (&one.subject, one.aspect, one.verdict)).collect();
    let mut again: Vec<_> =
        back.changes.iter().map(|one| (&one.subject, one.aspect, turned(one.verdict))).collect();
    there.sort();
    again.sort();
    assert_eq!(there, again, "what one way opens the other way closes");
    assert!(compare(after, after).is_empty(), "a policy is the same as itself");
    let sides = [(&old, before), (&new, after)];
    let sides =
        sides.map(|(outcome, policy)| Shown { name: "policy.yaml", policy, sources: &outcome.sources });
    let view = |_: &Change| (Severity::Warning, None);
    let page = human(&diff, sides, RenderOptions::default(), &view);
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "no control reaches a terminal: {page:?}");
    true
}

fn compile(bytes: &[u8]) -> Outcome {
    let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
    let document = Document { name: "policy.yaml", bytes, format: Format::Auto };
    compile_document(Some(document), &Inputs::new(&catalogue, &levels))
}
