//! The verdict of a check as one value; every output format is a view of it.
//!
//! The shape is public (`schemas/check-report.schema.json`, `schema_version` 1): lines and columns count from 1, columns
//! in characters, `byte_*` in bytes of the file. [`build`] makes it, the other modules print it.

pub(super) mod build;
pub(super) mod github;
pub(super) mod human;
pub(super) mod json;
pub(super) mod junit;
pub(super) mod keys;
pub(super) mod sarif;

use serde::Serialize;
use serde_json::Value;

/// Version of the report's shape.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// One run of `check-config`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Report {
    /// [`SCHEMA_VERSION`].
    pub(super) schema_version: u32,
    /// Version of this program.
    pub(super) tool_version: &'static str,
    /// The command that was run.
    pub(super) command: &'static str,
    /// Whether warnings fail.
    pub(super) strict: bool,
    /// The exit status.
    pub(super) exit_code: u8,
    /// The exit status as a word: `clean` also where there are findings and none fails.
    pub(super) verdict: &'static str,
    /// The same as a type.
    #[serde(skip)]
    pub(super) exit: crate::cli::Exit,
    /// For people: what was checked, as the call named it.
    #[serde(skip)]
    pub(super) subjects: Vec<String>,
    /// Every text that took part.
    pub(super) inputs: Vec<Input>,
    /// What the one document resolves to; null when there are several or it has errors.
    pub(super) policy: Option<Policy>,
    /// Counts by level.
    pub(super) summary: Summary,
    /// Findings, sorted by file and place.
    pub(super) findings: Vec<Finding>,
    /// What could not be judged here, and why.
    pub(super) skipped_checks: Vec<Skipped>,
    /// The resolved keys of every endpoint, by id; null when the document has an error or there are several.
    pub(super) endpoints: Option<Value>,
    /// The answer to `--explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) explain: Option<Value>,
    /// What `--fix` did, and what it left alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<Value>,
    /// What came of the tests of `test`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tests: Option<Value>,
    /// For people: what to do about it.
    #[serde(skip)]
    pub(super) help: Option<String>,
    /// For people: a sentence about a failure that has no document (usage, unreadable).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
}

/// One input text.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Input {
    /// As named on the command line.
    pub(super) name: String,
    /// Which layer it became.
    pub(super) layer: &'static str,
    /// SHA-256 of its bytes.
    pub(super) sha256: String,
}

/// What a document resolves to.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Policy {
    /// The preset in force.
    pub(super) preset: String,
    /// The base directory in force.
    pub(super) base_dir: String,
    /// SHA-256 of the resolved content.
    pub(super) revision: String,
}

/// Counts by level.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Summary {
    /// Errors.
    pub(super) errors: usize,
    /// Warnings.
    pub(super) warnings: usize,
    /// Remarks.
    pub(super) infos: usize,
}

/// One finding.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// Its code.
    pub(super) code: &'static str,
    /// `error`, `warning` or `info`.
    pub(super) level: &'static str,
    /// One sentence.
    pub(super) message: String,
    /// What to do.
    pub(super) help: Option<String>,
    /// The place that is underlined.
    pub(super) primary: Option<PlaceView>,
    /// Further places.
    pub(super) related: Vec<Related>,
    /// Endpoints it concerns.
    pub(super) affects: Vec<String>,
    /// Fixes, best first.
    pub(super) suggestions: Vec<SuggestionView>,
}

/// A range of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PlaceView {
    /// The file as named.
    pub(super) file: String,
    /// Line of the first character.
    pub(super) line: u32,
    /// Column of the first character.
    pub(super) column: u32,
    /// Line of the end.
    pub(super) end_line: u32,
    /// Column of the end.
    pub(super) end_column: u32,
    /// First byte.
    pub(super) byte_start: u32,
    /// One past the last byte.
    pub(super) byte_end: u32,
}

/// A further place with its words.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Related {
    /// The place.
    #[serde(flatten)]
    pub(super) place: PlaceView,
    /// The words.
    pub(super) message: String,
}

/// A fix.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SuggestionView {
    /// What it does.
    pub(super) message: String,
    /// `safe` or `review`.
    pub(super) applicability: &'static str,
    /// The edits.
    pub(super) edits: Vec<EditView>,
}

/// One replacement.
#[derive(Debug, Clone, Serialize)]
pub(super) struct EditView {
    /// The file as named.
    pub(super) file: String,
    /// First byte replaced.
    pub(super) byte_start: u32,
    /// One past the last byte replaced.
    pub(super) byte_end: u32,
    /// The new text.
    pub(super) replacement: String,
}

/// A check that could not be made here.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Skipped {
    /// Which.
    pub(super) check: &'static str,
    /// Why not.
    pub(super) why: String,
}
