//! The first pass: the parser's events as a flat list in which every collection knows its end.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StructureStyle, Tag, options};

use super::super::context::Context;
use super::super::limits::{self, MAX_DEPTH, MAX_NODES};
use super::syntax::SyntaxError;
use crate::diag::{Code, Diagnostic};

/// One value, key or collection of the document, in written order; children follow their collection.
#[derive(Debug)]
pub(super) struct Item<'t> {
    pub(super) kind: Kind<'t>,
    /// Bytes of the text. A block collection begins at its first child and ends with its last.
    pub(super) range: Range<usize>,
    /// The explicit tag, if any.
    pub(super) tag: Option<(ItemTag, Range<usize>)>,
}

#[derive(Debug)]
pub(super) enum Kind<'t> {
    Scalar {
        text: Cow<'t, str>,
        style: ScalarStyle,
    },
    /// `end` is the index of the first item after the children.
    Seq {
        end: usize,
    },
    Map {
        end: usize,
    },
    /// The index of the item that the alias stands for.
    Alias {
        target: usize,
    },
    /// An alias of no anchor.
    UnknownAlias,
    /// What was being read when a syntax error came.
    Missing,
}

/// What a tag asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemTag {
    /// `!!str`, or the non-specific `!`.
    Text,
    /// `!!map`, `!!seq`, `!!int` and the other types of the core schema, by name.
    Core(&'static str),
    /// Anything else.
    Foreign,
}

#[derive(Debug, Default)]
pub(super) struct Items<'t> {
    pub(super) list: Vec<Item<'t>>,
    pub(super) error: Option<SyntaxError>,
    /// Names of the anchors, for suggestions.
    pub(super) anchors: Vec<String>,
}

impl Items<'_> {
    /// The text of a scalar.
    pub(super) fn text(&self, at: usize) -> Option<&str> {
        match self.list.get(at).map(|item| &item.kind) {
            Some(Kind::Scalar { text, .. }) => Some(text),
            _ => None,
        }
    }

    /// The index of the first item after an item and its children.
    pub(super) fn after(&self, at: usize) -> usize {
        match self.list.get(at).map(|item| &item.kind) {
            Some(Kind::Seq { end } | Kind::Map { end }) => (*end).max(at + 1),
            _ => at + 1,
        }
    }
}

/// A collection whose end has not come.
struct Open {
    at: usize,
    block: bool,
    children: usize,
}

struct Gatherer<'t, 'c, 's> {
    text: &'t str,
    context: &'c mut Context<'s>,
    items: Items<'t>,
    open: Vec<Open>,
    by_anchor: HashMap<usize, usize>,
    /// End of the last thing that was really written, by which block collections end.
    written: usize,
    document: Option<Range<usize>>,
}

/// Reads events until the document, the budget or the syntax ends.
pub(super) fn gather<'t>(context: &mut Context<'_>, text: &'t str) -> Items<'t> {
    let mut options = options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        // Two more than are allowed, so that our own finding, which knows the place, comes first.
        flow_nesting_limit: MAX_DEPTH + 2,
        block_nesting_limit: MAX_DEPTH + 2,
    };
    options.set_emit_comments(false);
    let mut gatherer = Gatherer {
        text,
        context,
        items: Items::default(),
        open: Vec::new(),
        by_anchor: HashMap::new(),
        written: 0,
        document: None,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let go_on = match event {
            Ok((event, span)) => gatherer.event(event, span),
            Err(error) => gatherer.stop(&error),
        };
        if !go_on {
            break;
        }
    }
    gatherer.items
}

impl<'t> Gatherer<'t, '_, '_> {
    /// Takes one event; false ends the pass.
    fn event(&mut self, event: Event<'t>, span: Span) -> bool {
        let range = span.byte_range().unwrap_or(0..0);
        let mark = span.tag_span().and_then(|tag| tag.byte_range()).unwrap_or_else(|| range.clone());
        let tagged = |tag: Option<Cow<'_, Tag>>| tag.map(|tag| (item_tag(&tag), mark));
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let absent = style == ScalarStyle::Plain && range.is_empty();
                let text = if absent { Cow::Borrowed("") } else { text };
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                // A block scalar's range runs on into the indentation of the next line.
                let range = if block { self.trim(range) } else { range };
                self.push(Item { kind: Kind::Scalar { text, style }, range, tag: tagged(tag) }, anchor)
            }
            Event::SequenceStart(style, anchor, tag) => {
                let item = Item { kind: Kind::Seq { end: 0 }, range, tag: tagged(tag) };
                self.push(item, anchor) && self.enter(style)
            }
            Event::MappingStart(style, anchor, tag) => {
                let item = Item { kind: Kind::Map { end: 0 }, range, tag: tagged(tag) };
                self.push(item, anchor) && self.enter(style)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.leave(range.end);
                true
            }
            Event::Alias(id) => {
                let kind =
                    self.by_anchor.get(&id).map_or(Kind::UnknownAlias, |&target| Kind::Alias { target });
                self.push(Item { kind, range, tag: None }, 0)
            }
            Event::UnresolvedAlias(_) => self.push(Item { kind: Kind::UnknownAlias, range, tag: None }, 0),
            Event::Anchor(_, name) => {
                self.items.anchors.push(name.into_owned());
                true
            }
            Event::DocumentStart(..) => self.start_document(range),
            _ => true,
        }
    }

    fn push(&mut self, item: Item<'t>, anchor: usize) -> bool {
        let at = self.items.list.len();
        if at > MAX_NODES * 2 {
            self.context.give_up(limits::too_many_nodes().at(self.context.span(item.range)));
            return false;
        }
        if anchor != 0 {
            self.by_anchor.insert(anchor, at);
        }
        if let Some(open) = self.open.last_mut() {
            open.children += 1;
        }
        self.written = self.written.max(item.range.end);
        self.items.list.push(item);
        true
    }

    fn trim(&self, range: Range<usize>) -> Range<usize> {
        let written = self.text.get(range.clone()).map_or(0, |text| text.trim_end().len());
        range.start..range.start + written
    }

    fn enter(&mut self, style: StructureStyle) -> bool {
        let at = self.items.list.len().saturating_sub(1);
        self.open.push(Open { at, block: style == StructureStyle::Block, children: 0 });
        if self.open.len() > MAX_DEPTH {
            let range = self.items.list.get(at).map_or(0..0, |item| item.range.clone());
            self.context.give_up(limits::too_deep().at(self.context.span(range)));
            return false;
        }
        true
    }

    fn leave(&mut self, end: usize) {
        let after = self.items.list.len();
        let Some(open) = self.open.pop() else { return };
        if !open.block {
            self.written = self.written.max(end);
        }
        if let Some(item) = self.items.list.get_mut(open.at) {
            // A syntax error may be reported at a place before what was still open.
            let end = if open.block { self.written } else { end };
            item.range.end = end.max(item.range.start);
            match &mut item.kind {
                Kind::Seq { end } | Kind::Map { end } => *end = after,
                _ => {}
            }
        }
    }

    fn start_document(&mut self, range: Range<usize>) -> bool {
        let Some(first) = self.document.replace(range.clone()) else { return true };
        let finding = Diagnostic::new(Code::Syntax, "a second document begins here")
            .at(self.context.span(range))
            .help("a policy is one document: merge the two, or keep them in files of their own");
        let finding = match first.is_empty() {
            true => finding,
            false => finding.related(self.context.span(first), "the first document begins here"),
        };
        self.context.report(finding);
        false
    }

    /// Notes the error and closes what is open, an entry without a value as one with a value that is missing.
    fn stop(&mut self, error: &ScanError) -> bool {
        let mut error = SyntaxError::new(error, self.text);
        if error.is_depth() {
            self.context.give_up(limits::too_deep().at(self.context.span(error.range())));
            return false;
        }
        if error.blames_the_value_before() {
            self.blame(&mut error);
        }
        let end = error.range().start;
        while let Some(open) = self.open.last() {
            let map = matches!(self.items.list.get(open.at).map(|item| &item.kind), Some(Kind::Map { .. }));
            if map && open.children % 2 == 1 {
                self.items.list.push(Item { kind: Kind::Missing, range: end..end, tag: None });
            }
            self.leave(end);
        }
        self.items.error = Some(error);
        false
    }

    /// Takes back the value before an error: `b` of `a: b: c`, or two lines that became one value because the first has
    /// no colon.
    fn blame(&mut self, error: &mut SyntaxError) {
        let Some(last) = self.items.list.last_mut() else { return };
        if !matches!(last.kind, Kind::Scalar { .. }) {
            return;
        }
        let written = self.text.get(last.range.clone()).unwrap_or("");
        if let Some(line) = written.find(['\n', '\r']) {
            let word = written.get(..line).unwrap_or("").trim_end();
            error.is_missing_colon(last.range.start, word);
        }
        last.kind = Kind::Missing;
    }
}

fn item_tag(tag: &Tag) -> ItemTag {
    match tag.core_suffix() {
        Some("str") => ItemTag::Text,
        Some("int") => ItemTag::Core("int"),
        Some("float") => ItemTag::Core("float"),
        Some("bool") => ItemTag::Core("bool"),
        Some("null") => ItemTag::Core("null"),
        Some("map") => ItemTag::Core("map"),
        Some("seq") => ItemTag::Core("seq"),
        _ => ItemTag::Foreign,
    }
}
