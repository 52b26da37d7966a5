//! The files of a call: suites, and the policies that they are about. Suites of one policy share one compilation.

use super::Test;
use crate::cli::check_config::{Source, sources};
use crate::cli::failure::Failure;
use policy_lang::diag::{Diagnostic, Levels, Severity};
use policy_lang::endpoint::Catalogue;
use policy_lang::layer::LayerKind;
use policy_lang::resolved::FilePlace;
use policy_lang::source::{SourceId, SourceMap, Span};
use policy_lang::stages::{Document, Inputs, Outcome, compile_source};
use policy_lang::testing::{self, Suite};
use std::path::{Component, Path, PathBuf};

/// A policy, and the suites that are about it.
#[derive(Debug)]
pub(super) struct Group {
    /// The policy, as it was read.
    pub(super) source: Source,
    /// The policy, compiled, with the texts of the suites beside it.
    pub(super) outcome: Outcome,
    /// The preset that the suites ask for.
    pub(super) preset: Option<String>,
    /// Its suites.
    pub(super) suites: Vec<Suite>,
    faults: Vec<Diagnostic>,
}

impl Group {
    /// What keeps tests from being asked: errors of the policy and of the suites.
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        let errors = self.outcome.diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
        errors.chain(&self.faults).cloned().collect()
    }

    /// Where a place of the compiled policy stands in the texts of this group.
    pub(super) fn locate(&self, place: FilePlace) -> Option<Span> {
        let file = self.outcome.resolved()?.files.get(place.file as usize)?;
        let sources = &self.outcome.sources;
        let named = |id: &SourceId| sources.name(*id).ends_with(&*file.name);
        let source = match file.layer {
            LayerKind::Policy => self.outcome.document?,
            // Texts of the call come first, those of this program last.
            _ => sources.ids().filter(named).last()?,
        };
        Some(Span { source, start: place.byte_start, end: place.byte_end })
    }
}

/// Reads every file once, and compiles every policy once.
pub(super) fn groups(call: &Test) -> Result<Vec<Group>, Failure> {
    let catalogue = Catalogue::builtin();
    let levels = Levels::default();
    let files = sources(&call.files)?;
    let mut texts = SourceMap::new();
    let mut add = |file: &Source| texts.add_bytes(&*file.name, file.bytes.clone().unwrap_or_default());
    let ids: Vec<SourceId> = files.iter().map(&mut add).collect();
    let mut groups: Vec<(String, Group)> = Vec::new();
    for (file, id) in files.iter().zip(&ids) {
        let (suite, found) = testing::read(&texts, *id, file.format, &catalogue);
        let named = about(file, &suite, call)?;
        let key = format!("{}\0{}", named.policy, named.preset.as_deref().unwrap_or_default());
        if !groups.iter().any(|(known, _)| *known == key) {
            let mut sources = texts.clone();
            let given = files.iter().zip(&ids).find(|(file, _)| file.name == named.policy);
            let (policy, id) = match given {
                Some((file, id)) => (again(file), *id),
                None => {
                    let policy = only(&named.policy)?;
                    let id = sources.add_bytes(&*policy.name, policy.bytes.clone().unwrap_or_default());
                    (policy, id)
                }
            };
            let inputs = Inputs { preset: named.preset.as_deref(), ..Inputs::new(&catalogue, &levels) };
            let outcome = compile_source(sources, Some((id, policy.format)), &inputs);
            let (preset, suites, faults) = (named.preset, Vec::new(), Vec::new());
            groups.push((key.clone(), Group { source: policy, outcome, preset, suites, faults }));
        }
        let Some((_, group)) = groups.iter_mut().find(|(known, _)| *known == key) else { continue };
        // A template that cannot be read has said so already.
        let known = |finding: &Diagnostic| group.outcome.diagnostics.contains(finding);
        group.faults.extend(found.into_iter().filter(|finding| !known(finding)));
        group.suites.push(suite);
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

/// What a suite is about.
struct About {
    policy: String,
    preset: Option<String>,
}

fn about(file: &Source, suite: &Suite, call: &Test) -> Result<About, Failure> {
    let preset = call.preset.clone().or_else(|| suite.preset.as_ref().map(|preset| preset.value.clone()));
    if let Some(policy) = &call.policy {
        return Ok(About { policy: policy.clone(), preset });
    }
    if let Some(policy) = &suite.policy {
        return Ok(About { policy: beside(&file.name, &policy.value), preset });
    }
    if suite.own_policy {
        return Ok(About { policy: file.name.clone(), preset });
    }
    let message =
        format!("`{}` names no policy: write `policy: FILE` in it, or give --policy FILE", file.name);
    Err(Failure::usage(message))
}

/// A path that stands in a file, from where this call stands.
fn beside(file: &str, named: &str) -> String {
    let joined = Path::new(file).parent().unwrap_or(Path::new("")).join(named);
    // As a person would write it: `a/../b` is `b`.
    let mut plain = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain.to_string_lossy().into_owned()
}

fn only(name: &str) -> Result<Source, Failure> {
    let mut found = sources(&[name.to_owned()])?;
    found.pop().ok_or(Failure::internal("no policy was read"))
}

fn again(source: &Source) -> Source {
    Source { name: source.name.clone(), found: None, format: source.format, bytes: source.bytes.clone() }
}

pub(super) fn document(source: &Source) -> Document<'_> {
    Document { name: &source.name, bytes: source.bytes.as_deref().unwrap_or_default(), format: source.format }
}
