//! The YAML reader: events of the parser, gathered flat, then made into a tree.
//!
//! Two passes, because an alias may stand for anything before it: the first gathers items and knows where every
//! collection ends, the second builds the tree from them, goes back where an alias points, and counts what it makes.
//! A syntax error ends the first pass. Where the mistake is one whose meaning is plain (a selector without quotes, a tab
//! in the indentation) the text is mended in memory, place for place, and read again, so that what follows it is
//! reported in the same run; else the tree holds what stands before the error.

mod alias;
mod items;
mod mend;
mod merge_keys;
mod syntax;
mod tree;

use super::Node;
use super::context::Context;
use items::Items;
use mend::Mended;

/// How often a text is mended and read again; a document with more such mistakes has been told enough.
const MAX_MENDS: usize = 16;

/// Reads the text of a context as YAML.
pub(super) fn read<'s>(context: &mut Context<'s>) -> Option<Node<'s>> {
    let mut mended = Mended::new(context.text);
    for round in 0..=MAX_MENDS {
        let text = mended.text().to_owned();
        let mut items = items::gather(context, &text);
        let again = match items.error.take() {
            Some(error) if round < MAX_MENDS => mended.mend(context, &items, &error),
            Some(error) => {
                context.report(error.finding(context));
                false
            }
            None => false,
        };
        if !again {
            return build(context, &items, &mended);
        }
    }
    None
}

fn build<'s>(context: &mut Context<'s>, items: &Items<'_>, mended: &Mended) -> Option<Node<'s>> {
    if context.exhausted() {
        return None;
    }
    let root = tree::build(context, items, mended);
    root.filter(|_| !context.exhausted())
}
