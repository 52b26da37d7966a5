//! The presets: complete documents of this language, in `presets/`, built into the library.

/// A preset as it stands in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// The name that `preset:` and `--preset` take.
    pub name: &'static str,
    /// The name of its file, as places in it are shown.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
    /// One line that says what it leaves open.
    pub summary: &'static str,
}

impl Preset {
    /// Whether its document sets nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.lines().filter(|line| !line.starts_with('#')).all(|line| matches!(line, "" | "{}"))
    }
}

/// Every preset, widest first.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "default",
        file: "presets/default.yaml",
        text: include_str!("../../../presets/default.yaml"),
        summary: "Every endpoint but those of the optional groups",
    },
    Preset {
        name: "hardened",
        file: "presets/hardened.yaml",
        text: include_str!("../../../presets/hardened.yaml"),
        summary: "The default surface without its sharpest endpoints, slowed down and audited",
    },
    Preset {
        name: "read-only",
        file: "presets/read-only.yaml",
        text: include_str!("../../../presets/read-only.yaml"),
        summary: "Only endpoints that change nothing",
    },
    Preset {
        name: "transfer-only",
        file: "presets/transfer-only.yaml",
        text: include_str!("../../../presets/transfer-only.yaml"),
        summary: "Files in and out, nothing else",
    },
    Preset {
        name: "locked",
        file: "presets/locked.yaml",
        text: include_str!("../../../presets/locked.yaml"),
        summary: "Liveness and discovery alone",
    },
];

/// The preset of that name.
#[must_use]
pub fn get(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Catalogue;
    use crate::layer::LayerKind;
    use crate::parse::{self, Format};
    use crate::source::SourceMap;

    #[test]
    fn every_preset_is_read_without_a_finding() {
        for preset in PRESETS {
            let mut map = SourceMap::default();
            let source = map.add(preset.file, preset.text);
            let (root, found) = parse::parse(&map, source, Format::Yaml);
            assert_eq!(found, [], "{}", preset.name);
            let catalogue = Catalogue::builtin();
            let (layer, found) =
                crate::lower::document(&map, source, root.unwrap(), &catalogue, LayerKind::Preset);
            assert_eq!(found, [], "{}", preset.name);
            assert_eq!(layer.blocks.is_empty(), preset.name == "default");
            assert_eq!(layer.blocks.is_empty(), preset.is_empty());
        }
    }

    #[test]
    fn names_are_unique_and_resolve() {
        for preset in PRESETS {
            assert_eq!(get(preset.name), Some(preset));
            assert_eq!(preset.file, format!("presets/{}.yaml", preset.name));
        }
        assert_eq!(get("Default"), None);
    }
}
