//! The attribute on files under `tests/codegen/command`: `<slug>.rs` becomes `expected/<slug>.rs`, and each
//! `fail/<slug>.rs` the messages beside it. `UPDATE=1` rewrites what is expected.

use super::expand;
use crate::tests::golden::Goldens;
use crate::tests::{COMMAND, pretty, root};
use quote::ToTokens as _;
use std::path::{Path, PathBuf};
use syn::{Item, ItemFn, Meta};

const FOLDER: &str = "tests/codegen/command";

/// The `.rs` files of a folder, by their path from the root.
fn cases(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| folder.join(entry.unwrap().file_name())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Every `#[command]` of a file, expanded.
fn expanded(file: &Path) -> Vec<syn::File> {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let items = syn::parse_file(&text).unwrap().items;
    items.into_iter().map(|item| syn::parse2(one(item)).unwrap()).collect()
}

fn one(item: Item) -> proc_macro2::TokenStream {
    let Item::Fn(mut function) = item else {
        return expand(proc_macro2::TokenStream::new(), item.into_token_stream());
    };
    let attribute = take_attribute(&mut function);
    expand(attribute, function.into_token_stream())
}

fn take_attribute(function: &mut ItemFn) -> proc_macro2::TokenStream {
    let at = function.attrs.iter().position(|attribute| attribute.path().is_ident("command")).unwrap();
    match function.attrs.remove(at).meta {
        Meta::List(list) => list.tokens,
        _ => proc_macro2::TokenStream::new(),
    }
}

#[test]
fn functions_become_readable_declarations() {
    let mut goldens = Goldens::new(COMMAND, &[("tests/codegen/command/expected", "rs")]);
    for file in cases(Path::new(FOLDER)) {
        let code: Vec<String> = expanded(&file).iter().map(|file| pretty(&file.to_token_stream())).collect();
        let expected = Path::new(FOLDER).join("expected").join(file.file_name().unwrap());
        goldens.compare(expected, &code.join("\n"));
    }
    goldens.finish();
}

#[test]
fn what_is_no_command_is_told_all_at_once() {
    let folder = Path::new(FOLDER).join("fail");
    let mut goldens = Goldens::new(COMMAND, &[("tests/codegen/command/fail", "stderr")]);
    for file in cases(&folder) {
        let mut told = String::new();
        for code in expanded(&file) {
            for item in code.items {
                match item {
                    Item::Macro(fault)
                        if fault.mac.path.segments.last().unwrap().ident == "compile_error" =>
                    {
                        let message: syn::LitStr = syn::parse2(fault.mac.tokens).unwrap();
                        told.push_str(&format!("error: {}\n", message.value()));
                    }
                    // What was written still stands, so that nothing else fails with it.
                    item => told.push_str(&format!("     | {}\n", first_line(&item))),
                }
            }
        }
        assert!(told.contains("error: "), "{} has no fault", file.display());
        goldens.compare(file.with_extension("stderr"), &told);
    }
    goldens.finish();
}

fn first_line(item: &Item) -> String {
    let text = pretty(&item.to_token_stream());
    text.lines().find(|line| !line.starts_with("///")).unwrap_or_default().to_owned()
}
