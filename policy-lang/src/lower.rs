//! A tree of nodes to a layer of rules. Everything that is wrong with a document by itself is found here, in one run.
//!
//! `find` looks for the document within its file, `document` reads its six keys, `selector` and `groups` what stands
//! under `endpoints` and `groups`, `rule` a rule, and [`crate::rules`] each value of a rule. `words` knows every key of
//! the language and where it belongs, `synonyms` what else people call some. A part that is wrong is reported and left out; reading goes on beside it.

pub(crate) mod auth;
pub mod base_dir;
mod context;
mod document;
mod find;
mod groups;
mod indent;
mod keys;
pub(crate) mod rule;
pub(crate) mod selector;
mod synonyms;
mod text;
pub(crate) mod words;

pub mod presets;

pub(crate) use context::{Context, Holder};
pub(crate) use find::{is_bare, is_nearly_wrapper};
pub(crate) use text::{Text, alternatives, listed};
pub(crate) use words::WRAPPER;

use crate::diag::Diagnostic;
use crate::endpoint::Catalogue;
use crate::layer::{Layer, LayerKind};
use crate::parse::Node;
use crate::source::{SourceId, SourceMap};

/// Reads a document into the layer `kind`. The tree is taken apart: its texts move into the layer.
///
/// The layer holds whatever could be read; with an error among the findings it must not be used to decide.
/// Findings are sorted by place.
#[must_use]
pub fn document(
    map: &SourceMap,
    source: SourceId,
    root: Node<'_>,
    catalogue: &Catalogue,
    kind: LayerKind,
) -> (Layer, Vec<Diagnostic>) {
    let mut cx = Context::new(map, source, catalogue);
    let mut layer = Layer { source: Some(source), ..Layer::empty(kind) };
    match find::document(&mut cx, root) {
        Some(entries) => document::read(&mut cx, entries, &mut layer),
        None => layer.is_absent = true,
    }
    (layer, cx.finish())
}
