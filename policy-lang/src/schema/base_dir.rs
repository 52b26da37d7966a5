//! `base_dir`.

use crate::lower::base_dir::KERNEL;
use serde_json::{Value, json};

pub(super) fn base_dir() -> Value {
    json!({
        "title": "Base directory",
        "description": "The directory that relative paths start from, and the one that may be touched where no \
                        `paths.allow` says otherwise. Absolute; never `/`, and never in `/proc`, `/sys` or `/dev`.",
        "type": "string",
        "pattern": "^/",
        "not": { "anyOf": [
            { "pattern": r"^(/+\.?)+$" },
            { "pattern": format!(r"^(/+\.)*/+({})(/|$)", KERNEL.join("|")) },
            { "pattern": r"(^|/)\.\.(/|$)" },
            { "pattern": r"[*?\[\]{}\\\u0000]" }
        ] }
    })
}
