//! The compiled form of each family of `params` keys, and how each judges. Every family is one file.
//!
//! Allow-lists compare exactly, deny-lists ignore ASCII case: a deny that is too wide refuses, one that is too narrow
//! lets through. A judgement gives back the element that refuses.

pub mod command;
pub mod extension;
pub mod network;
pub mod port;
pub mod signal;
pub mod url;
pub mod variable;
pub mod words;

use crate::policy::ElementRef;

/// An allow-list: absent lets everything through, an empty one nothing.
#[derive(Debug, Clone)]
pub struct Allow<T> {
    /// The entries.
    pub entries: Vec<T>,
    /// The statement that says them, which is what refuses a value that is not among them.
    pub origin: ElementRef,
}

/// A deny-list: entries of every rule that says any, each with where it came from.
pub type Deny<T> = Vec<(T, ElementRef)>;

/// The first deny entry that fits.
fn denied<T>(deny: &Deny<T>, fits: impl Fn(&T) -> bool) -> Option<ElementRef> {
    deny.iter().find(|(entry, _)| fits(entry)).map(|(_, element)| *element)
}

/// The allow-list's own element where none of its entries fits.
fn not_allowed<T>(allow: Option<&Allow<T>>, fits: impl Fn(&T) -> bool) -> Option<ElementRef> {
    allow.filter(|allow| !allow.entries.iter().any(fits)).map(|allow| allow.origin)
}
