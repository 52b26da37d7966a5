//! Reads a table of the file by the shape of its row, reporting every field that does not fit.

use super::At;
use super::fields::{Field, Grammar, RowShape, Shape};
use super::values::Written;
use crate::error::{Faults, Span};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The fields of one row that had the right shape.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) span: Span,
    fields: BTreeMap<&'static str, At<Content>>,
}

#[derive(Debug)]
enum Content {
    Text(String),
    Flag(bool),
    Words(Vec<At<String>>),
    Values(Vec<(At<String>, At<Written>)>),
    Rows(Vec<Row>),
}

impl Row {
    /// Reads `table`, which stands at `span`.
    pub(crate) fn read(table: &DeTable<'_>, span: Span, shape: &RowShape, faults: &mut Faults) -> Self {
        let mut fields = BTreeMap::new();
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            let Some(field) = shape.fields.iter().find(|field| field.name == name) else {
                faults
                    .at(&key.span(), format!("{} has no field `{name}`", shape.noun))
                    .suggest(name, shape.fields.iter().map(|field| field.name));
                continue;
            };
            let at = value.span();
            match content(field, value, faults) {
                Some(value) => fields.insert(field.name, At { value, span: at }),
                // Present but wrong was reported; it is not missing as well.
                None => None,
            };
        }
        let absent = |field: &&Field| field.required && !table.contains_key(field.name);
        for field in shape.fields.iter().filter(absent) {
            faults.at(&span, format!("{} needs the field `{}`", shape.noun, field.name));
        }
        Self { span, fields }
    }

    /// A text field.
    pub(crate) fn text(&self, name: &str) -> Option<At<String>> {
        let at = self.fields.get(name)?;
        match &at.value {
            Content::Text(value) => Some(At { value: value.clone(), span: at.span.clone() }),
            _ => None,
        }
    }

    /// A text field whose place no rule asks for; empty where absent.
    pub(crate) fn line(&self, name: &str) -> String {
        self.text(name).map(|at| at.value).unwrap_or_default()
    }

    /// A flag.
    pub(crate) fn flag(&self, name: &str) -> Option<At<bool>> {
        let at = self.fields.get(name)?;
        match at.value {
            Content::Flag(value) => Some(At { value, span: at.span.clone() }),
            _ => None,
        }
    }

    /// A list of words.
    pub(crate) fn words(&self, name: &str) -> Vec<At<String>> {
        match self.fields.get(name).map(|at| &at.value) {
            Some(Content::Words(words)) => words.clone(),
            _ => Vec::new(),
        }
    }

    /// A table of base values, in the order of the file.
    pub(crate) fn values(&self, name: &str) -> Vec<(At<String>, At<Written>)> {
        match self.fields.get(name).map(|at| &at.value) {
            Some(Content::Values(values)) => values.clone(),
            _ => Vec::new(),
        }
    }

    /// A list of rows.
    pub(crate) fn rows(&self, name: &str) -> impl Iterator<Item = &Self> {
        match self.fields.get(name).map(|at| &at.value) {
            Some(Content::Rows(rows)) => rows.as_slice(),
            _ => &[],
        }
        .iter()
    }

    /// Where a field's value stands.
    pub(crate) fn place(&self, name: &str) -> Option<Span> {
        self.fields.get(name).map(|at| at.span.clone())
    }
}

/// The value of `field`, or `None` after saying what is wrong with it.
fn content(field: &Field, value: &Spanned<DeValue<'_>>, faults: &mut Faults) -> Option<Content> {
    let span = value.span();
    match (field.shape, value.get_ref()) {
        (Shape::Line, DeValue::String(text)) => {
            if text.trim().is_empty() {
                faults.at(&span, format!("`{}` is empty", field.name));
                return None;
            }
            if text.contains(['\n', '\r']) {
                faults.at(&span, format!("`{}` is more than one line", field.name));
                return None;
            }
            Some(Content::Text(text.to_string()))
        }
        (Shape::Name(grammar), DeValue::String(text)) => {
            if let Some(why) = grammar.fault(text) {
                let fault = faults.at(&span, format!("bad {} `{text}`", field.name)).label(why);
                let mended = text.to_lowercase().replace(['-', ' '], "_");
                if grammar == Grammar::Id && grammar.fault(&mended).is_none() {
                    fault.help(format!("did you mean `{mended}`?"));
                }
                return None;
            }
            Some(Content::Text(text.to_string()))
        }
        (Shape::Word(words), DeValue::String(text)) => {
            if !words.contains(&text.as_ref()) {
                faults
                    .at(&span, format!("unknown {} `{text}`", field.name))
                    .label(format!("one of {}", list(words)))
                    .suggest(text, words.iter().copied());
                return None;
            }
            Some(Content::Text(text.to_string()))
        }
        (Shape::Flag, DeValue::Boolean(flag)) => Some(Content::Flag(*flag)),
        (Shape::Names(grammar), DeValue::Array(items)) => {
            let mut words: Vec<At<String>> = Vec::new();
            for item in items.iter() {
                let DeValue::String(text) = item.get_ref() else {
                    wrong(faults, &item.span(), field.name, "a string", item.get_ref());
                    continue;
                };
                if let Some(why) = grammar.fault(text) {
                    faults.at(&item.span(), format!("bad name `{text}` in `{}`", field.name)).label(why);
                } else if let Some(first) = words.iter().find(|word| word.value == text.as_ref()) {
                    faults
                        .at(&item.span(), format!("`{text}` stands twice in `{}`", field.name))
                        .related(&first.span.clone(), "first here");
                } else {
                    words.push(At { value: text.to_string(), span: item.span() });
                }
            }
            Some(Content::Words(words))
        }
        (Shape::Values, DeValue::Table(table)) => {
            let values = in_order(table).into_iter().filter_map(|(key, value)| {
                let written = Written::read(value, faults)?;
                let key = At { value: key.get_ref().to_string(), span: key.span() };
                Some((key, At { value: written, span: value.span() }))
            });
            Some(Content::Values(values.collect()))
        }
        (Shape::Rows(shape), DeValue::Array(items)) => {
            let rows = items.iter().filter_map(|item| match item.get_ref() {
                DeValue::Table(table) => Some(Row::read(table, item.span(), shape, faults)),
                other => {
                    wrong(faults, &item.span(), field.name, "a table", other);
                    None
                }
            });
            Some(Content::Rows(rows.collect()))
        }
        (shape, other) => {
            wrong(faults, &span, field.name, noun(shape), other);
            None
        }
    }
}

fn wrong(faults: &mut Faults, span: &Span, name: &str, wanted: &str, found: &DeValue<'_>) {
    faults.at(span, format!("`{name}` is {}", described(found))).label(format!("expected {wanted}"));
}

fn noun(shape: Shape) -> &'static str {
    match shape {
        Shape::Line | Shape::Name(_) | Shape::Word(_) => "a string",
        Shape::Flag => "true or false",
        Shape::Names(_) => "a list of strings",
        Shape::Values => "a table",
        Shape::Rows(_) => "a list of tables",
    }
}

/// What a value is, with its article.
pub(super) fn described(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The words in backticks, with commas.
fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

type Entry<'a, 'i> = (&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

/// The entries of a table in the order of the file; the map itself is in the order of the alphabet.
fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Entry<'a, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
