//! The stages together, on files under `tests/codegen`.
//!
//! ```text
//! fail/toml/<slug>.toml    no TOML
//! fail/rows/<slug>.toml    a row is wrong by itself; the JSON Schema refuses it as well
//! fail/table/<slug>.toml   rows that are right one by one do not go together; the schema can not see it
//! expected/<macro>.rs      what a macro writes for three.toml
//! ```
//!
//! Beside each `.toml` stands the `.stderr` that the compiler would show. `UPDATE=1` rewrites them.

#[path = "../../tests/golden.rs"]
pub(crate) mod golden;

use crate::error::Faults;
use crate::read::{Input, expand_text};
use crate::{check, decl, emit};
use golden::Goldens;
use proc_macro2::TokenStream;
use std::path::{Path, PathBuf};

pub(crate) const COMMAND: &str = "cargo test -p codegen";

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The `.toml` files below a folder of `tests/codegen`, by their path from the root.
fn declarations(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new("tests/codegen").join(folder);
    let entries = std::fs::read_dir(root().join(&folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| folder.join(entry.unwrap().file_name())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(!files.is_empty());
    files
}

fn text(file: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// The table of a text, and what the compiler would show.
fn run(text: &str) -> (check::Table, String) {
    let mut faults = Faults::default();
    let declaration = decl::read(text, &mut faults);
    let table = check::check(&declaration, &mut faults);
    (table, faults.render("endpoints.toml", text))
}

fn call(tokens: &str) -> Input {
    syn::parse_str(tokens).unwrap()
}

#[test]
fn every_fault_is_shown_at_its_place() {
    let mut goldens = Goldens::new(COMMAND, &[("tests/codegen/fail", "stderr")]);
    for folder in ["fail/toml", "fail/rows", "fail/table"] {
        for file in declarations(folder) {
            let (_, shown) = run(&text(&file));
            assert!(!shown.is_empty(), "{} has no fault", file.display());
            goldens.compare(file.with_extension("stderr"), &shown);
        }
    }
    goldens.finish();
}

/// Users see our text and not hundreds of missing names: the tables are written all the same.
#[test]
fn a_faulty_declaration_still_gives_the_tables() {
    for folder in ["fail/toml", "fail/rows", "fail/table"] {
        for file in declarations(folder) {
            let text = text(&file);
            let code =
                expand_text(&text, &call(r#""../endpoints.toml""#), |table, _, _| emit::endpoints(table));
            let code = code.to_string();
            let (_, shown) = run(&text);
            let message =
                format!("compile_error ! {{ {:?} }}", format!("endpoints.toml has faults\n\n{shown}"));
            assert!(code.contains(&message), "{}: {code}", file.display());
            for name in [
                "enum EndpointId",
                "enum Group",
                "enum Scope",
                "enum Key",
                "static ENDPOINTS",
                "TABLE_FINGERPRINT",
            ] {
                assert!(code.contains(name), "{}: no {name}", file.display());
            }
            pretty(&code.parse().unwrap());
        }
    }
}

/// A macro's output as a person would write it.
pub(crate) fn pretty(code: &TokenStream) -> String {
    prettyplease::unparse(&syn::parse_file(&code.to_string()).unwrap())
}

#[test]
fn three_rows_become_readable_code() {
    let mut goldens = Goldens::new(COMMAND, &[("tests/codegen/expected", "rs")]);
    let (table, shown) = run(&text("tests/codegen/three.toml"));
    assert_eq!(shown, "");
    let handlers = emit::handlers(
        &table,
        &call(r#""", not_built = [pages_list], streams_body = [pages_run]"#),
        &mut Vec::new(),
    );
    for (name, code) in
        [("endpoints", emit::endpoints(&table)), ("routes", emit::routes(&table)), ("handlers", handlers)]
    {
        goldens.compare(format!("tests/codegen/expected/{name}.rs"), &pretty(&code));
    }
    goldens.finish();
}

#[test]
fn a_call_names_what_is_not_built() {
    let (table, _) = run(&text("tests/codegen/three.toml"));
    let faults = |tokens: &str| {
        let mut faults = Vec::new();
        emit::handlers(&table, &call(tokens), &mut faults);
        faults.into_iter().map(|fault| fault.to_string()).collect::<Vec<_>>()
    };
    assert!(faults(r#""", not_built = [pages, health]"#).is_empty());
    assert_eq!(faults(r#""", not_built = [pagez]"#), ["`pagez` is neither an endpoint nor a group"]);
    assert_eq!(faults(r#""", not_built = [pages, pages_list]"#), ["`pages_list` is listed already"]);
    let unknown = syn::parse_str::<Input>(r#""", unbuilt = []"#).err().unwrap();
    assert_eq!(unknown.to_string(), "unknown option `unbuilt`; there are `not_built` and `streams_body`");
}

#[test]
fn a_missing_file_is_a_fault_of_the_call() {
    let code = crate::read::expand(quote::quote!("../no.toml"), |_, _, _| TokenStream::new()).to_string();
    assert!(code.contains("compile_error ! { \"cannot read ../no.toml: No such file or directory"), "{code}");
}

#[test]
fn the_declaration_has_no_fault() {
    let (_, shown) = run(&text("endpoints.toml"));
    assert_eq!(shown, "");
}

/// Two texts that say the same have one fingerprint; a text that says something else has another.
#[test]
fn the_fingerprint_covers_what_is_said_and_not_how() {
    let original = text("tests/codegen/three.toml");
    let fingerprint = |text: &str| emit::fingerprint(&run(text).0);
    let of = fingerprint(&original);
    assert_eq!(of.len(), 64);
    for (before, after, same) in [
        ("id = \"health\"", "# a comment\nid   =   \"health\"", true),
        ("max_bytes = \"4MB\"", "max_bytes = 4_000_000", true),
        ("summary = \"List pages\"", "summary = \"Lists the pages\"", true),
        ("max_bytes = \"4MB\"", "max_bytes = \"4MiB\"", false),
        ("path = \"/health\"", "path = \"/live\"", false),
        ("default = \"opt-in\"", "default = \"on\"", false),
        ("scopes = [\"pages:read\"]", "scopes = [\"core:read\"]", false),
        ("streaming = true\n", "", false),
        ("errors = \"detail\"", "errors = \"plain\"", false),
    ] {
        let changed = original.replace(before, after);
        assert_ne!(changed, original, "{before}");
        assert_eq!(fingerprint(&changed) == of, same, "{after}");
    }
}

#[test]
fn the_schema_agrees_with_the_reader() {
    let schema = decl::schema::schema();
    let mut goldens = Goldens::new(COMMAND, &[]);
    let shown = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    goldens.compare("schemas/endpoints.schema.json", &shown);
    goldens.finish();

    let validator = jsonschema::validator_for(&schema).unwrap();
    let accepts = |file: &Path| {
        let json: serde_json::Value = toml::from_str(&text(file)).unwrap();
        validator.is_valid(&json)
    };
    assert!(accepts(Path::new("endpoints.toml")));
    assert!(accepts(Path::new("tests/codegen/three.toml")));
    for file in declarations("fail/rows") {
        assert!(!accepts(&file), "{}: the schema accepts it", file.display());
    }
    for file in declarations("fail/table") {
        assert!(accepts(&file), "{}: the schema refuses it", file.display());
    }
}
