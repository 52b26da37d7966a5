//! All rules and the session's policy against one call.

use super::matching::{Caller, Decision, Rule};
use super::policy::PermissionPolicy;
use super::subject::Subject;

/// What becomes of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The rule that made it, if one did.
    pub rule_id: Option<String>,
    /// Why, in words.
    pub why: String,
}

/// Judges a call at the time `now`, in the order that the parent module gives. Among rules that decide alike the first
/// of `rules` stands.
#[must_use]
pub fn judge(
    rules: &[Rule],
    policy: &PermissionPolicy,
    caller: Caller<'_>,
    subject: &Subject,
    now: f64,
) -> Verdict {
    let first =
        |decision| rules.iter().find(|rule| rule.decision == decision && rule.applies(caller, subject, now));
    let by_rule = |rule: &Rule| Verdict {
        decision: rule.decision,
        rule_id: Some(rule.rule_id.clone()),
        why: format!("a standing `{}` rule matches", rule.decision.as_str()),
    };
    let by_policy = |decision| Verdict {
        decision,
        rule_id: None,
        why: format!("the session's policy is `{}`", policy.default.as_str()),
    };
    if let Some(rule) = first(Decision::Reject) {
        return by_rule(rule);
    }
    let own = policy.decide(subject);
    if own == Decision::Reject {
        return by_policy(own);
    }
    if let Some(rule) = first(Decision::Ask) {
        return by_rule(rule);
    }
    if own == Decision::Allow {
        return by_policy(own);
    }
    first(Decision::Allow).map_or_else(|| by_policy(Decision::Ask), by_rule)
}

#[cfg(test)]
mod tests {
    use super::{Verdict, judge};
    use crate::agents::rules::matching::{Caller, Decision, Match, Rule, Scope};
    use crate::agents::rules::policy::{PermissionPolicy, Posture};
    use crate::agents::rules::subject::Subject;
    use proptest::prelude::*;
    use std::path::Path;

    fn verdict(decisions: &[Decision], default: Posture) -> Verdict {
        let rules: Vec<Rule> = decisions
            .iter()
            .map(|decision| {
                let matches = Match { tool_kind: Some("execute".into()), ..Match::default() };
                Rule::new(decision.as_str().into(), Scope::default(), matches, *decision, None).unwrap()
            })
            .collect();
        let caller = Caller { session_id: "s", agent_id: "a", cwd: Path::new("/w") };
        let subject = Subject { tool_kind: "execute".into(), ..Subject::default() };
        judge(&rules, &PermissionPolicy { default, ..PermissionPolicy::default() }, caller, &subject, 0.0)
    }

    #[test]
    fn the_order() {
        use Decision::{Allow, Ask, Reject};
        for (rules, default, decision, rule) in [
            (&[Allow, Ask, Reject][..], Posture::AllowAll, Reject, Some("reject")),
            (&[Allow], Posture::DenyAll, Reject, None),
            (&[Allow, Ask], Posture::AllowAll, Ask, Some("ask")),
            (&[], Posture::AllowAll, Allow, None),
            (&[Allow], Posture::Ask, Allow, Some("allow")),
            (&[], Posture::Ask, Ask, None),
        ] {
            let verdict = verdict(rules, default);
            assert_eq!((verdict.decision, verdict.rule_id.as_deref()), (decision, rule), "{rules:?}");
        }
    }

    fn decisions() -> impl Strategy<Value = Vec<Decision>> {
        let one = prop_oneof![Just(Decision::Allow), Just(Decision::Ask), Just(Decision::Reject)];
        prop::collection::vec(one, 0..6)
    }

    proptest! {
        #[test]
        fn the_order_of_rules_says_nothing(mut rules in decisions()) {
            let before = verdict(&rules, Posture::Ask).decision;
            rules.reverse();
            prop_assert_eq!(verdict(&rules, Posture::Ask).decision, before);
        }

        #[test]
        fn a_further_reject_never_loosens(mut rules in decisions()) {
            rules.push(Decision::Reject);
            prop_assert_eq!(verdict(&rules, Posture::AllowAll).decision, Decision::Reject);
        }
    }
}
