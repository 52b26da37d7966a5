//! How each layer that is not the author's document is built.

pub mod code;
pub mod default;
pub mod environment;
pub mod preset;

use crate::endpoint::{Group, Key};
use crate::layer::{Block, Selector, Statement, Value};
use crate::source::Span;

/// A rule that opens or closes one group and says nothing else.
fn switch(group: Group, name: String, enabled: bool, span: Option<Span>) -> Block {
    let statement = Statement {
        key: Key::Enabled,
        value: Value::Bool(enabled),
        key_span: span,
        value_span: span,
        via: None,
    };
    Block { selector: Selector::Group(group), name, span, statements: vec![statement] }
}
