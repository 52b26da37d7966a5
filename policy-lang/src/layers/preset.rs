//! The preset layer: a document of the same language that is built into the library.

use crate::diag::Diagnostic;
use crate::endpoint::Catalogue;
use crate::layer::{Layer, LayerKind};
use crate::lower::{self, presets};
use crate::parse::{self, Format};
use crate::source::{SourceMap, Span, Spanned};

/// The layer of the preset of that name, `None` where there is none. Presets are tested to have no findings; any that
/// there are all the same are handed on and refuse the policy.
#[must_use]
pub fn layer(name: &str, sources: &mut SourceMap, catalogue: &Catalogue) -> Option<(Layer, Vec<Diagnostic>)> {
    let preset = presets::get(name)?;
    let source = sources.add(preset.file, preset.text);
    let (root, mut findings) = parse::parse(sources, source, Format::Yaml);
    let mut layer = Layer { source: Some(source), ..Layer::empty(LayerKind::Preset) };
    if let Some(root) = root {
        let (read, found) = lower::document(sources, source, root, catalogue, LayerKind::Preset);
        layer = read;
        findings.extend(found);
    }
    // Its rules print as the preset's name, whichever of them decides.
    for block in &mut layer.blocks {
        preset.name.clone_into(&mut block.name);
    }
    layer.preset = Some(Spanned { value: preset.name.to_owned(), span: Span { source, start: 0, end: 0 } });
    Some((layer, findings))
}
