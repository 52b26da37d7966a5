//! One run over one document, stage after stage, for the command line, the server and tests alike.

use crate::check::{self, Facts};
use crate::compile::{self, CompileError, Options};
use crate::diag::{Code, Diagnostic, Levels, Severity, Sink, quoted, suggest};
use crate::endpoint::{Catalogue, EndpointId, Key};
use crate::form::{self, FormError, SetText};
use crate::layer::{Layer, LayerKind};
use crate::layers::code::GroupSwitch;
use crate::layers::{code, default, environment, preset};
use crate::lint;
use crate::lower::{self, base_dir, presets};
use crate::matchers::command::Lookup;
use crate::merge;
use crate::parse::{self, Format};
use crate::policy::CompiledPolicy;
use crate::resolved::Resolved;
use crate::source::{SourceId, SourceMap};

/// Where relative paths start when nobody says.
pub const DEFAULT_BASE_DIR: &str = "/home/user";

/// A policy document as it was found.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The name that diagnostics and places print.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// How to read it.
    pub format: Format,
}

/// Everything that takes part beside the document.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The preset that replaces the document's, if any.
    pub preset: Option<&'a str>,
    /// Calls of `enable_group` and `disable_group`, in order.
    pub switches: &'a [GroupSwitch],
    /// The value of `ABX_SERVER_ENABLED_GROUPS`, if set.
    pub enabled_groups: Option<&'a str>,
    /// `--base-dir`: beats what the document says.
    pub base_dir: Option<&'a str>,
    /// `ABX_SERVER_BASE_DIR`: holds where nobody else says.
    pub default_base_dir: Option<&'a str>,
    /// Finds the programs that bare names mean; without it only names are compared.
    pub lookup: Option<Lookup<'a>>,
    /// Base values that the process replaces.
    pub base_values: &'a [(EndpointId, Key, u64)],
    /// What is known of the process that will serve.
    pub facts: Facts<'a>,
    /// Endpoints, custom routes among them.
    pub catalogue: &'a Catalogue,
    /// What findings of each code are worth.
    pub levels: &'a Levels,
    /// Whether the revision is asked for: the digest of a large policy takes its time.
    pub revision: bool,
    /// Whether the entries of path rules of a compiled set are left unread until [`CompiledPolicy::prepare`]: of most of a large
    /// set nothing needs to be known by a server that is to answer soon.
    pub leave_paths: bool,
}

impl<'a> Inputs<'a> {
    /// Nothing but a document.
    #[must_use]
    pub fn new(catalogue: &'a Catalogue, levels: &'a Levels) -> Self {
        Self {
            preset: None,
            switches: &[],
            enabled_groups: None,
            base_dir: None,
            default_base_dir: None,
            lookup: None,
            base_values: &[],
            facts: Facts::default(),
            catalogue,
            levels,
            revision: true,
            leave_paths: false,
        }
    }

    fn compile(&self, resolved: Resolved, base_dir: &str) -> Result<CompiledPolicy, CompileError> {
        let revision = resolved.revision.clone();
        let options =
            Options { base_dir, revision: &revision, lookup: self.lookup, base_values: self.base_values };
        compile::compile(resolved, &options)
    }

    /// The base directory in force, in its plain form, where the document says this of it; or why it cannot be one.
    pub(crate) fn base_dir(&self, document: Option<&str>) -> Result<String, Box<Diagnostic>> {
        let (dir, named_by) = match (self.base_dir, document, self.default_base_dir) {
            (Some(dir), ..) => (dir, "--base-dir"),
            (None, Some(dir), _) => (dir, "base_dir"),
            (None, None, Some(dir)) => (dir, "ABX_SERVER_BASE_DIR"),
            (None, None, None) => (DEFAULT_BASE_DIR, "base_dir"),
        };
        base_dir::normalise(dir).map_err(|fault| {
            let message = format!("`{named_by}` {}: {}", fault.why(), quoted(dir));
            Box::new(Diagnostic::new(Code::InvalidPath, message).help(base_dir::HELP))
        })
    }
}

impl std::fmt::Debug for Inputs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs")
            .field("preset", &self.preset)
            .field("base_dir", &self.base_dir)
            .finish_non_exhaustive()
    }
}

/// What a run yields.
#[derive(Debug)]
pub struct Outcome {
    /// Every text that was read.
    pub sources: SourceMap,
    /// The author's document among them.
    pub document: Option<SourceId>,
    /// The author's document as a layer, as far as it could be read.
    pub layer: Layer,
    /// Every finding, by place, at the level that was asked for.
    pub diagnostics: Vec<Diagnostic>,
    /// The codes whose findings a level of the caller left out.
    pub left_out: Vec<Code>,
    /// The policy; none where a finding refuses it. A warning that `strict` makes an error does not take it away.
    pub policy: Option<CompiledPolicy>,
}

impl Outcome {
    /// The merged policy, where there is one.
    #[must_use]
    pub fn resolved(&self) -> Option<&Resolved> {
        self.policy.as_ref().map(CompiledPolicy::resolved)
    }
}

/// Compiles one document, or with `None` what holds without any.
#[must_use]
pub fn compile_document(document: Option<Document<'_>>, inputs: &Inputs<'_>) -> Outcome {
    let mut sources = SourceMap::default();
    let added =
        document.map(|document| (sources.add_bytes(document.name, document.bytes.to_vec()), document.format));
    compile_source(sources, added, inputs)
}

/// Compiles a document that is one of the texts of `sources`, so that findings about it can stand beside those about the
/// others; with `None` what holds without any.
#[must_use]
pub fn compile_source(
    mut sources: SourceMap,
    document: Option<(SourceId, Format)>,
    inputs: &Inputs<'_>,
) -> Outcome {
    let mut sink = Sink::default();
    let id = document.map(|(id, _)| id);
    let policy = read(document, &sources, inputs.catalogue, &mut sink);
    let mut layers = vec![default::layer(), policy];
    match code::layer(inputs.switches) {
        Ok(layer) => layers.push(layer),
        Err(error) => sink.push(Diagnostic::new(Code::CoreDisabled, error.to_string())),
    }
    let chosen = inputs.preset.map(str::to_owned);
    let written = layers.iter().find_map(|layer| layer.preset.as_ref()).map(|preset| preset.value.clone());
    if let Some(name) = chosen.or(written) {
        match preset::layer(&name, &mut sources, inputs.catalogue) {
            Some((layer, found)) => {
                sink.extend(found);
                layers.push(layer);
            }
            None => sink.push(unknown_preset(&name)),
        }
    }
    if let Some(value) = inputs.enabled_groups {
        let (layer, found) = environment::layer(value, &mut sources);
        sink.extend(found);
        layers.push(layer);
    }
    let merge = if inputs.revision { merge::merge } else { merge::merge_unnamed };
    let (merged, found) = merge(&layers, &sources, inputs.catalogue);
    sink.extend(found);
    let written = merged.resolved.base_dir.as_ref().map(|(dir, _)| dir.clone());
    let base_dir = inputs.base_dir(written.as_deref()).unwrap_or_else(|fault| {
        sink.push(*fault);
        DEFAULT_BASE_DIR.to_owned()
    });
    // A document with an error is not yet the one that its author means: what it may lack beyond that comes after.
    let sound = !sink.iter().any(|found| refuses(inputs.levels, found));
    if sound {
        sink.extend(check::check(&check::Context {
            merged: &merged,
            layers: &layers,
            catalogue: inputs.catalogue,
            base_dir: &base_dir,
            facts: inputs.facts,
            sources: &sources,
            tree: std::cell::OnceCell::new(),
        }));
    }
    let resolved = merged.resolved;
    let mut diagnostics = sink.finish();
    let refused = diagnostics.iter().any(|found| refuses(inputs.levels, found));
    let policy = (!refused).then(|| inputs.compile(resolved, &base_dir)).transpose();
    let policy = policy.unwrap_or_else(|error| {
        diagnostics.push(Diagnostic::new(Code::InvalidPath, error.to_string()));
        None
    });
    if let Some(id) = id {
        lint::apply(&sources, id, inputs.levels, sound, &mut diagnostics);
    }
    let left_out = inputs.levels.apply(&mut diagnostics);
    let layer = layers.swap_remove(1);
    Outcome { sources, document: id, layer, diagnostics, left_out, policy }
}

/// Loads a compiled set and puts the environment and the base directory of this process over it, with the same result
/// as compiling with them.
///
/// # Errors
/// Where the set is not fit for this server; nothing of it is used then. Of path entries that are left unread
/// [`CompiledPolicy::prepare`] says it.
pub fn load_compiled(set: SetText, inputs: &Inputs<'_>) -> Result<Outcome, FormError> {
    let paths = if inputs.leave_paths { form::Paths::Left } else { form::Paths::Read };
    let mut resolved = form::read_with(set, inputs.catalogue, paths)?;
    if !has_code_layer(&resolved, inputs.switches) {
        return Err(FormError::CodeLayer);
    }
    let mut sources = SourceMap::default();
    let mut sink = Sink::default();
    if let Some(value) = inputs.enabled_groups {
        let (layer, found) = environment::layer(value, &mut sources);
        sink.extend(found);
        merge::overlay(&mut resolved, &layer, &sources, inputs.catalogue);
    }
    let written = resolved.base_dir.as_ref().map(|(dir, _)| dir.clone());
    let base_dir = inputs.base_dir(written.as_deref()).unwrap_or_else(|fault| {
        sink.push(*fault);
        DEFAULT_BASE_DIR.to_owned()
    });
    let mut diagnostics = sink.finish();
    let refused = diagnostics.iter().any(|found| refuses(inputs.levels, found));
    let policy = (!refused).then(|| inputs.compile(resolved, &base_dir)).transpose();
    let policy = policy.map_err(|error| form::uncompiled(&error))?;
    let left_out = inputs.levels.apply(&mut diagnostics);
    let layer = Layer::empty(LayerKind::Policy);
    Ok(Outcome { sources, document: None, layer, diagnostics, left_out, policy })
}

/// Whether a policy was merged with exactly these calls: a set cannot be told later what the code opens or closes.
fn has_code_layer(resolved: &Resolved, switches: &[GroupSwitch]) -> bool {
    let Ok(layer) = code::layer(switches) else { return false };
    let mut wanted: Vec<String> =
        layer.blocks.iter().map(|block| format!("{}:{}", LayerKind::Code.as_str(), block.name)).collect();
    let rules = resolved.rules.iter().filter(|rule| rule.layer == LayerKind::Code);
    let mut found: Vec<&str> = rules.map(|rule| rule.name.as_str()).collect();
    wanted.sort_unstable();
    found.sort_unstable();
    wanted.iter().eq(found)
}

fn read(
    document: Option<(SourceId, Format)>,
    sources: &SourceMap,
    catalogue: &Catalogue,
    sink: &mut Sink,
) -> Layer {
    let Some((source, format)) = document else { return Layer::empty(LayerKind::Policy) };
    let (root, found) = parse::policy(sources, source, format);
    sink.extend(found);
    let Some(root) = root else {
        return Layer { source: Some(source), ..Layer::empty(LayerKind::Policy) };
    };
    // Where a part of the text could not be read, a remark that something is missing may be untrue.
    let whole = sink.is_empty();
    let (layer, found) = lower::document(sources, source, root, catalogue, LayerKind::Policy);
    sink.extend(found.into_iter().filter(|finding| whole || finding.severity != Severity::Info));
    layer
}

/// Whether a finding keeps the policy from being used: an error that no level lowers.
fn refuses(levels: &Levels, found: &Diagnostic) -> bool {
    found.severity == Severity::Error && !levels.lowers(found.code)
}

/// A preset named beside the document; one within it is found where it stands.
fn unknown_preset(name: &str) -> Diagnostic {
    let known = presets::PRESETS.iter().map(|preset| preset.name);
    let near = suggest::closest(name, known.clone());
    let known: Vec<&str> = known.collect();
    Diagnostic::new(Code::UnknownPreset, format!("unknown preset `{name}`")).help(match near.first() {
        Some(best) => format!("did you mean `{best}`? the presets are {}", known.join(", ")),
        None => format!("the presets are {}", known.join(", ")),
    })
}
