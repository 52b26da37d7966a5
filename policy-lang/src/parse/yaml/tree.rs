//! The second pass: items to a tree, aliases and merge keys followed, every value counted.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::ScalarStyle;

use super::super::context::Context;
use super::super::limits::{self, MAX_DEPTH};
use super::super::mapping::{Mapping, duplicate};
use super::super::ours::Ours;
use super::super::scalar;
use super::super::{Entry, Node, NodeKind};
use super::items::{Item, ItemTag, Items, Kind};
use super::mend::{Mended, must_be_quoted};
use super::merge_keys::Merged;
use crate::diag::{Code, Diagnostic, quoted};
use crate::source::Span;

pub(super) struct Builder<'s, 'i> {
    pub(super) context: &'i mut Context<'s>,
    pub(super) items: &'i Items<'i>,
    mended: &'i Mended,
    ours: Ours,
    /// The alias through which the value being read was reached.
    pub(super) via: Option<Span>,
}

/// Where a value is being built: through which alias, and how deep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) via: Option<Span>,
    pub(super) depth: usize,
}

/// Builds the document; one without any value is an absent null at its end.
pub(super) fn build<'s>(context: &mut Context<'s>, items: &Items<'_>, mended: &Mended) -> Option<Node<'s>> {
    if items.list.is_empty() {
        let end = context.text.len();
        let span = context.span(end..end);
        // Where a syntax error came first there is nothing to say about an empty document.
        return context.is_clean().then(|| context.node(NodeKind::Null { written: false }, span, None));
    }
    let ours = ours(context, items);
    Builder { context, items, mended, ours, via: None }.value(0, Site { via: None, depth: 1 })
}

/// Which entries of the root are ours.
fn ours(context: &Context<'_>, items: &Items<'_>) -> Ours {
    let Some(Item { kind: Kind::Map { end }, range, .. }) = items.list.first() else { return Ours::All };
    let flow = context.text.get(range.start..).is_some_and(|root| root.starts_with('{'));
    let keys = std::iter::successors(Some(1), |&key| Some(items.after(items.after(key))));
    let keys = keys.take_while(|key| key < end).filter_map(|key| items.text(key));
    Ours::of(keys, context.policy, flow)
}

impl<'s, 'i> Builder<'s, 'i> {
    /// The value that begins at an item. `None` ends the building: the budget is spent.
    pub(super) fn value(&mut self, at: usize, site: Site) -> Option<Node<'s>> {
        if self.context.exhausted() {
            return None;
        }
        let item = self.items.list.get(at)?;
        let span = self.context.span(item.range.clone());
        let kind = match &item.kind {
            Kind::Seq { .. } | Kind::Map { .. } if site.depth > MAX_DEPTH => {
                self.context.give_up(limits::too_deep().at(span).via(site.via));
                return None;
            }
            Kind::Seq { end } => NodeKind::Seq(self.sequence(at, *end, site)?),
            Kind::Map { end } => {
                let mapping = self.mapping(at, *end, site)?;
                let refused = mapping.refused;
                match mapping.into_entries() {
                    // Where everything was refused there is no empty mapping to remark upon.
                    entries if entries.is_empty() && refused => NodeKind::Invalid,
                    entries => NodeKind::Map(entries),
                }
            }
            Kind::Scalar { text, style } => self.scalar(item, text, *style),
            Kind::Alias { target } => return self.alias(at, *target, span, site),
            Kind::UnknownAlias => self.unknown_alias(item),
            Kind::Missing => NodeKind::Invalid,
        };
        let kind = self.tagged(kind, item);
        Some(self.context.node(kind, span, site.via))
    }

    fn sequence(&mut self, at: usize, end: usize, site: Site) -> Option<Vec<Node<'s>>> {
        let inner = Site { depth: site.depth + 1, ..site };
        let mut items = Vec::new();
        let mut next = at + 1;
        while next < end {
            items.push(self.value(next, inner)?);
            next = self.items.after(next);
        }
        Some(items)
    }

    /// The entries of a mapping: its own first, then what its merge keys add.
    pub(super) fn mapping(&mut self, at: usize, end: usize, site: Site) -> Option<Mapping<'s>> {
        let inner = Site { depth: site.depth + 1, ..site };
        let mut mapping = Mapping::default();
        let mut merged = Merged::default();
        let mut next = at + 1;
        while next < end {
            let key_at = next;
            let value_at = self.items.after(key_at);
            next = self.items.after(value_at);
            if at == 0 {
                // Of a template's own entries nothing is said.
                self.context.foreign = !self.items.text(key_at).is_some_and(|key| self.ours.holds(key))
                    && self.ours != Ours::All;
            }
            if merged.take(self, key_at, value_at, inner)? {
                continue;
            }
            let key = self.key(key_at);
            // The value is read even where the key is refused, for the mistakes within it.
            let value = self.value(value_at, inner)?;
            let Some((key, key_span)) = key else {
                mapping.refused = true;
                continue;
            };
            match mapping.find(&key) {
                Some(first) => {
                    let finding = duplicate(&key, key_span, first.key_span).via(site.via);
                    self.context.judge(finding);
                }
                None => mapping.push(Entry { key, key_span, value }),
            }
        }
        if at == 0 {
            self.context.foreign = false;
        }
        merged.add_to(&mut mapping);
        Some(mapping)
    }

    /// The text of a key. Anything but text is refused here, for a number and its spelling are not the same key.
    fn key(&mut self, at: usize) -> Option<(Cow<'s, str>, Span)> {
        let item = self.items.list.get(at)?;
        let span = self.context.span(item.range.clone());
        let (scalar, target) = match &item.kind {
            Kind::Alias { target } => (self.items.list.get(*target)?, true),
            _ => (item, false),
        };
        match &scalar.kind {
            Kind::Scalar { text, style } => match self.scalar(scalar, text, *style) {
                NodeKind::Text { text, .. } => Some((text, span)),
                NodeKind::Null { written: false } => {
                    self.refuse_key(span, "a key is missing before this `:`", None)
                }
                NodeKind::Invalid => None,
                other => {
                    let written = self.slice(&item.range);
                    if self.context.foreign {
                        return Some((Cow::Borrowed(written), span));
                    }
                    let what = Node { kind: other, span, via: None }.describe();
                    let message = format!("key {} is {what}, and keys are text", quoted(written));
                    let help = format!("put it in quotes: `\"{}\"`", written.trim());
                    self.refuse_key(span, &message, Some(&help))
                }
            },
            Kind::UnknownAlias => match self.unknown_alias(item) {
                NodeKind::Text { text, .. } => Some((text, span)),
                _ => None,
            },
            Kind::Missing => None,
            // `{a,b}: …` as a selector. Its text is plain, so what it holds is read as under the quoted key.
            Kind::Map { .. } | Kind::Seq { .. }
                if !target
                    && !self.is_explicit(&item.range)
                    && !self.slice(&item.range).contains(['\n', '\r', ' ']) =>
            {
                let written = self.slice(&item.range);
                let finding = must_be_quoted(self.context, written, item.range.clone());
                self.judge(finding);
                Some((Cow::Borrowed(written), span))
            }
            _ => self.refuse_key(span, "a list or mapping cannot be a key", Some("keys are text")),
        }
    }

    /// Whether a key was written behind `?`, and so as the list or mapping that it is.
    fn is_explicit(&self, key: &Range<usize>) -> bool {
        self.slice(&(0..key.start)).trim_end().ends_with('?')
    }

    fn refuse_key<T>(&mut self, span: Span, message: &str, help: Option<&str>) -> Option<T> {
        let finding = Diagnostic::new(Code::WrongType, message).at(span);
        self.judge(match help {
            Some(help) => finding.help(help),
            None => finding,
        });
        None
    }

    fn scalar(&mut self, item: &Item<'_>, text: &str, style: ScalarStyle) -> NodeKind<'s> {
        let written = self.slice(&item.range);
        if self.mended.is_unquoted(&item.range) {
            return NodeKind::Text { text: Cow::Borrowed(written), quoted: true };
        }
        if style == ScalarStyle::Plain && item.tag.as_ref().is_none_or(|(tag, _)| *tag != ItemTag::Text) {
            match scalar::resolve(text) {
                Ok(Some(kind)) => return kind,
                Ok(None) => {}
                Err(_) if self.context.foreign => {}
                Err(refused) => {
                    let span = self.context.span(item.range.clone());
                    self.judge(refused.finding(written, span));
                    return NodeKind::Invalid;
                }
            }
        }
        let inside = match style {
            ScalarStyle::Plain => written,
            _ => written.get(1..written.len().saturating_sub(1)).unwrap_or(""),
        };
        let text = if inside == text { Cow::Borrowed(inside) } else { Cow::Owned(text.to_owned()) };
        NodeKind::Text { text, quoted: style != ScalarStyle::Plain }
    }

    /// A value with a tag of the core schema must be of that type; other tags mean nothing here.
    fn tagged(&mut self, kind: NodeKind<'s>, item: &Item<'_>) -> NodeKind<'s> {
        let Some((tag, range)) = &item.tag else { return kind };
        let fits = match (tag, &kind) {
            (ItemTag::Text, NodeKind::Text { .. }) | (_, NodeKind::Invalid) => true,
            (ItemTag::Core(name), kind) => match kind {
                NodeKind::Null { .. } => *name == "null",
                NodeKind::Bool(_) => *name == "bool",
                NodeKind::Int(_) => matches!(*name, "int" | "float"),
                NodeKind::Float(_) => *name == "float",
                NodeKind::Seq(_) => *name == "seq",
                NodeKind::Map(_) => *name == "map",
                _ => false,
            },
            _ => false,
        };
        if fits || self.context.foreign {
            return kind;
        }
        let written = quoted(self.slice(range));
        let message = match tag {
            ItemTag::Foreign => format!("tag {written} is not known"),
            _ => format!("tag {written} does not fit its value"),
        };
        let span = self.context.span(range.clone());
        let finding = Diagnostic::new(Code::Syntax, message).at(span);
        self.judge(finding.help("remove the tag; quotes make a value text"));
        NodeKind::Invalid
    }

    /// Reports what is wrong with a value, and the alias that leads to it.
    pub(super) fn judge(&mut self, finding: Diagnostic) {
        self.context.judge(finding.via(self.via));
    }

    pub(super) fn slice(&self, range: &Range<usize>) -> &'s str {
        self.context.text.get(range.clone()).unwrap_or("")
    }
}
