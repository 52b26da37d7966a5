//! Merge keys: `<<: *strict` and `<<: [*a, *b]`. What a mapping says itself wins, then the first that was merged.

use granit_parser::ScalarStyle;

use super::super::limits::{self, MAX_DEPTH};
use super::super::mapping::{Mapping, duplicate};
use super::items::Kind;
use super::tree::{Builder, Site};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// What the merge keys of one mapping bring.
#[derive(Debug, Default)]
pub(super) struct Merged<'s> {
    entries: Mapping<'s>,
    key: Option<Span>,
}

impl<'s> Merged<'s> {
    /// Takes an entry if its key is a merge key: a plain `<<`. `None` ends the building.
    pub(super) fn take(
        &mut self,
        builder: &mut Builder<'s, '_>,
        key_at: usize,
        value_at: usize,
        site: Site,
    ) -> Option<bool> {
        let items = builder.items;
        let Some(key) = items.list.get(key_at) else { return Some(false) };
        if !matches!(&key.kind, Kind::Scalar { text, style: ScalarStyle::Plain } if text == "<<") {
            return Some(false);
        }
        let key_span = builder.context.span(key.range.clone());
        if let Some(first) = self.key.replace(key_span) {
            let finding = duplicate("<<", key_span, first).help("merge several with `<<: [*a, *b]`");
            builder.context.judge(finding);
            return Some(true);
        }
        let site = Site { via: site.via.or(Some(key_span)), ..site };
        match items.list.get(value_at).map(|item| &item.kind) {
            Some(Kind::Seq { end }) => {
                let mut next = value_at + 1;
                while next < *end {
                    self.merge(builder, next, site, key_span)?;
                    next = items.after(next);
                }
            }
            _ => self.merge(builder, value_at, site, key_span)?,
        }
        Some(true)
    }

    fn merge(&mut self, builder: &mut Builder<'s, '_>, at: usize, site: Site, key_span: Span) -> Option<()> {
        let items = builder.items;
        let Some(item) = items.list.get(at) else { return Some(()) };
        let span = builder.context.span(item.range.clone());
        let (target, site) = match item.kind {
            Kind::Alias { target } if items.after(target) > at => {
                builder.report_cycle(span);
                self.entries.refused = true;
                return Some(());
            }
            // The alias names the use more exactly than the merge key, unless one further out does already.
            Kind::Alias { target } if site.via == Some(key_span) => {
                (target, Site { via: Some(span), ..site })
            }
            Kind::Alias { target } => (target, site),
            _ => (at, site),
        };
        match items.list.get(target).map(|item| &item.kind) {
            Some(Kind::Map { end }) => {
                // The merged mapping itself is counted, so that empty ones are not free.
                let _counted = builder.context.invalid(span, site.via);
                // Each merge goes one deeper: a chain of them is as bounded as nesting is.
                if site.depth > MAX_DEPTH {
                    builder.context.give_up(limits::too_deep().at(span).via(site.via));
                    return None;
                }
                let outer = std::mem::replace(&mut builder.via, site.via);
                let mapping = builder.mapping(target, *end, site)?;
                builder.via = outer;
                self.entries.refused |= mapping.refused;
                for entry in mapping.into_entries() {
                    if self.entries.find(&entry.key).is_none() {
                        self.entries.push(entry);
                    }
                }
            }
            // An unknown alias is reported as such.
            Some(Kind::UnknownAlias) => {
                self.entries.refused = true;
                drop(builder.value(at, site)?);
            }
            Some(Kind::Missing) | None => self.entries.refused = true,
            Some(_) => {
                self.entries.refused = true;
                let finding =
                    Diagnostic::new(Code::WrongType, "a merge key takes a mapping, or a list of mappings")
                        .at(span)
                        .help("write `<<: *name`, where `&name` stands before a mapping");
                builder.context.judge(finding);
            }
        }
        Some(())
    }

    /// Adds what the mapping does not say itself.
    pub(super) fn add_to(self, mapping: &mut Mapping<'s>) {
        mapping.refused |= self.entries.refused;
        for entry in self.entries.into_entries() {
            if mapping.find(&entry.key).is_none() {
                mapping.push(entry);
            }
        }
    }
}
