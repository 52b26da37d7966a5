//! Names: unique as written and as Rust, and found with a suggestion where they are not.

use crate::decl::At;
use crate::error::{Faults, Span};
use std::collections::BTreeMap;
use syn::Ident;

/// A name as written, and as the variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) variant: String,
}

/// The names of one namespace that were seen so far.
#[derive(Debug)]
pub(super) struct Names {
    noun: &'static str,
    seen: BTreeMap<String, Span>,
    variants: BTreeMap<String, (String, Span)>,
}

impl Names {
    pub(super) fn new(noun: &'static str) -> Self {
        Self { noun, seen: BTreeMap::new(), variants: BTreeMap::new() }
    }

    /// The names that follow are of another kind, which shares the namespace of those before.
    pub(super) fn now(&mut self, noun: &'static str) {
        self.noun = noun;
    }

    /// Notes a name, or says that it is taken.
    pub(super) fn add(&mut self, name: Option<&At<String>>, faults: &mut Faults) -> Option<Name> {
        let At { value: text, span } = name?;
        let noun = self.noun;
        if let Some(first) = self.seen.get(text) {
            faults.at(span, format!("duplicate {noun} `{text}`")).related(first, "first here");
            return None;
        }
        self.seen.insert(text.clone(), span.clone());
        let variant = camel(text);
        if syn::parse_str::<Ident>(&variant).is_err() {
            faults.at(span, format!("the {noun} `{text}` makes no Rust name")).label("reserved");
            return None;
        }
        if let Some((other, first)) = self.variants.get(&variant) {
            faults
                .at(span, format!("the {noun} names `{other}` and `{text}` are both `{variant}` in Rust"))
                .related(first, "first here");
            return None;
        }
        self.variants.insert(variant.clone(), (text.clone(), span.clone()));
        Some(Name { text: text.clone(), variant })
    }
}

/// The names that a word may be, in the order of their table.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    noun: &'static str,
    names: Vec<&'a str>,
    /// Whether every row has its name: else an unknown word may be one whose row could not be read.
    whole: bool,
}

impl<'a> Candidates<'a> {
    /// An empty name holds its place and fits no word.
    pub(super) fn new(noun: &'static str, names: impl IntoIterator<Item = &'a str>, whole: bool) -> Self {
        Self { noun, names: names.into_iter().collect(), whole }
    }

    /// The position of `word`, or a fault with the nearest name.
    pub(super) fn find(&self, word: &At<String>, faults: &mut Faults) -> Option<usize> {
        let found = self.names.iter().position(|name| *name == word.value).filter(|_| !word.value.is_empty());
        if found.is_none() && self.whole {
            let names = self.names.iter().copied().filter(|name| !name.is_empty());
            faults
                .at(&word.span, format!("unknown {} `{}`", self.noun, word.value))
                .suggest(&word.value, names);
        }
        found
    }
}

/// The words of `text`, each with a capital: `commands:run:{name}` becomes `CommandsRunName`, `GET` becomes `Get`.
pub(crate) fn camel(text: &str) -> String {
    let mut camel = String::with_capacity(text.len());
    for word in text.split(|each: char| !each.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.extend(letters.map(|rest| rest.to_ascii_lowercase()));
    }
    camel
}
