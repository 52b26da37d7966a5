//! The environment layer: `ABX_SERVER_ENABLED_GROUPS=agents,dev_tools` opens groups. It cannot close any.

use super::switch;
use crate::diag::suggest::closest;
use crate::diag::{Applicability, Code, Diagnostic, Edit, Label, Severity, Suggestion};
use crate::endpoint::Group;
use crate::layer::{Layer, LayerKind};
use crate::source::{SourceId, SourceMap, Span};

/// The variable, which is also the name of its text in diagnostics and places.
pub const VARIABLE: &str = "ABX_SERVER_ENABLED_GROUPS";

/// Reads the value of the variable. Blanks around names are trimmed; a value of nothing but blanks is as if unset.
/// An unknown name is an error, an empty member between commas a warning; both have their place in the value.
#[must_use]
pub fn layer(value: &str, sources: &mut SourceMap) -> (Layer, Vec<Diagnostic>) {
    let mut layer = Layer::empty(LayerKind::Environment);
    let mut diagnostics = Vec::new();
    if value.trim().is_empty() {
        return (layer, diagnostics);
    }
    let source = sources.add(VARIABLE, value);
    layer.source = Some(source);
    for (position, (start, member)) in (1..).zip(members(value)) {
        let name = member.trim();
        let start = start + (member.len() - member.trim_start().len());
        let span = span(source, start, start + name.len());
        match Group::from_name(name) {
            Some(group) => {
                let name = format!("{VARIABLE}:{}", group.as_str());
                if layer.blocks.iter().all(|block| block.name != name) {
                    layer.blocks.push(switch(group, name, true, Some(span)));
                }
            }
            None if name.is_empty() => diagnostics.push(empty_member(position, span)),
            None => diagnostics.push(unknown(name, span)),
        }
    }
    (layer, diagnostics)
}

/// The members between commas, each with its byte offset.
fn members(value: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    value.split(',').map(move |member| {
        let start = next;
        next += member.len() + 1;
        (start, member)
    })
}

fn span(source: SourceId, start: usize, end: usize) -> Span {
    let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Span { source, start: offset(start), end: offset(end) }
}

fn empty_member(position: usize, span: Span) -> Diagnostic {
    Diagnostic {
        code: Code::UnknownGroup,
        severity: Severity::Warning,
        message: format!("member {position} of `{VARIABLE}` is empty"),
        help: Some("remove the comma that has no name beside it".to_owned()),
        primary: Some(Label { span, message: "no name here".to_owned() }),
        related: Vec::new(),
        affects: Vec::new(),
        suggestions: Vec::new(),
        more: 0,
    }
}

fn unknown(name: &str, span: Span) -> Diagnostic {
    let near = closest(name, Group::ALL.map(Group::as_str));
    let known = Group::ALL.map(Group::as_str).join(", ");
    Diagnostic {
        code: Code::UnknownGroup,
        severity: Severity::Error,
        message: format!("`{VARIABLE}` names `{name}`, which is no group"),
        help: Some(match near.first() {
            Some(best) => format!("did you mean `{best}`? the groups are {known}"),
            None => format!("the groups are {known}"),
        }),
        primary: Some(Label { span, message: "unknown group".to_owned() }),
        related: Vec::new(),
        affects: Vec::new(),
        // The variable opens what it names, so a machine never picks the name.
        suggestions: near
            .iter()
            .map(|best| Suggestion {
                message: format!("write `{best}`"),
                applicability: Applicability::Review,
                edits: vec![Edit { span, replacement: (*best).to_owned() }],
            })
            .collect(),
        more: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Finding = (Severity, String, u32, u32);

    fn read(value: &str) -> (Vec<String>, Vec<Finding>) {
        let (layer, diagnostics) = layer(value, &mut SourceMap::default());
        let names = layer
            .blocks
            .into_iter()
            .map(|block| block.name.replace("ABX_SERVER_ENABLED_GROUPS:", ""))
            .collect();
        let findings = diagnostics.into_iter().map(|found| {
            let span = found.primary.unwrap().span;
            (found.severity, found.message, span.start, span.end)
        });
        (names, findings.collect())
    }

    #[test]
    fn nothing_is_unset_and_blanks_are_trimmed() {
        assert_eq!(read(""), (vec![], vec![]));
        assert_eq!(read("  \t "), (vec![], vec![]));
        let wanted = ["browser", "dev_tools"].map(str::to_owned).to_vec();
        assert_eq!(read(" browser , dev_tools"), (wanted, vec![]));
        assert_eq!(read("agents,agents").0, ["agents"]);
    }

    #[test]
    fn empty_members_are_reported_with_their_position() {
        let empty = |position: usize, at: u32| {
            (Severity::Warning, format!("member {position} of `ABX_SERVER_ENABLED_GROUPS` is empty"), at, at)
        };
        assert_eq!(read("dev_tools,"), (vec!["dev_tools".to_owned()], vec![empty(2, 10)]));
        assert_eq!(read("agents,,browser").1, [empty(2, 7)]);
        assert_eq!(read("agents,  ,browser").1, [empty(2, 9)]);
    }

    #[test]
    fn an_unknown_name_is_an_error_with_a_suggestion() {
        let (layer, diagnostics) = layer("browsr,agents", &mut SourceMap::default());
        assert_eq!(layer.blocks.len(), 1);
        let [found] = &*diagnostics else { panic!("{diagnostics:?}") };
        assert_eq!(found.severity, Severity::Error);
        assert_eq!(found.message, "`ABX_SERVER_ENABLED_GROUPS` names `browsr`, which is no group");
        assert!(found.help.as_deref().unwrap().starts_with("did you mean `browser`?"));
        let span = found.primary.as_ref().unwrap().span;
        assert_eq!((span.start, span.end), (0, 6));
        assert_eq!(found.suggestions[0].edits[0].replacement, "browser");
    }
}
