//! A merged policy to text. One rule a line, so that two sets can be compared by eye.

use super::places::Packer;
use super::tail::{END, PATHS};
use super::{FORMAT_VERSION, TAG, TOOL_VERSION, checksum, shape, values};
use crate::endpoint::TABLE_FINGERPRINT;
use crate::layer::LayerKind;
use crate::resolved::{FilePlace, Resolved, ResolvedStatement, ResolvedValue, RuleIx};
use serde::Serialize;

/// Writes the compiled set. The same policy gives the same bytes, from whatever directory and on whatever machine.
#[must_use]
pub fn write(resolved: &Resolved) -> String {
    let body = body(resolved);
    format!("{TAG}{FORMAT_VERSION},\"crc32\":\"{}\",\n{body}", checksum(&body))
}

fn body(resolved: &Resolved) -> String {
    let mut to = String::new();
    field(&mut to, "tool_version", &TOOL_VERSION);
    field(&mut to, "table", &TABLE_FINGERPRINT);
    field(&mut to, "revision", &resolved.revision);
    field(&mut to, "preset", &resolved.preset);
    field(&mut to, "base_dir", &resolved.base_dir.as_ref().map(|(path, at)| base_dir(path, at.as_ref())));
    list(
        &mut to,
        "files",
        resolved.files.iter().filter(|file| kept(file.layer)).map(|file| shape::File {
            name: file.name.clone(),
            layer: file.layer.as_str().to_owned(),
            sha256: file.sha256.clone(),
        }),
    );
    let rules: Vec<_> = rules(resolved).collect();
    list(&mut to, "rules", rules.iter());
    list(
        &mut to,
        "custom",
        resolved.custom.iter().map(|route| shape::Custom {
            id: route.id.clone(),
            group: route.group.as_str().to_owned(),
            scopes: route.scopes.clone(),
        }),
    );
    let tokens: Option<Vec<_>> = resolved.tokens.as_ref().map(|tokens| tokens.iter().map(token).collect());
    to.push_str("\"tokens\":");
    to.push_str(&json(&tokens));
    to.push(',');
    to.push_str(PATHS);
    let said = rules.iter().flat_map(|rule| &rule.says.0);
    for (position, text) in said.filter_map(|said| said.value.text()).enumerate() {
        to.push_str(if position == 0 { "\n\"" } else { ",\n\"" });
        to.push_str(text);
        to.push('"');
    }
    to.push_str(END);
    to
}

/// Whether the layer is written: the default layer is the tool's own, the environment that of the process.
const fn kept(layer: LayerKind) -> bool {
    !matches!(layer, LayerKind::Default | LayerKind::Environment)
}

fn rules(resolved: &Resolved) -> impl Iterator<Item = shape::Rule<'_>> + '_ {
    let mut statements = resolved.statements.iter().peekable();
    (0..).map(RuleIx).zip(&resolved.rules).skip(Resolved::BUILT_IN).filter_map(move |(ix, rule)| {
        let mut says = Vec::new();
        while let Some(statement) = statements.next_if(|statement| statement.rule <= ix) {
            says.push(statement);
        }
        kept(rule.layer).then(|| shape::Rule {
            name: rule.name.clone(),
            layer: rule.layer.as_str().into(),
            selector: rule.selector.clone(),
            specificity: rule.specificity.as_str().into(),
            file: file(rule.at.as_ref()),
            places: places(rule.at.as_ref(), &says).into(),
            says: shape::Says(says.into_iter().map(statement).collect()),
        })
    })
}

fn statement(statement: &ResolvedStatement) -> shape::Statement<'_> {
    let value = match &statement.value {
        ResolvedValue::Bool(value) => shape::Value::Bool(*value),
        ResolvedValue::Number(value) => shape::Value::Number(*value),
        ResolvedValue::Word(word) => shape::Value::Text(word.into()),
        ResolvedValue::List(list) => match list.joined().filter(|_| values::is_of_paths(statement.key)) {
            Some(text) if is_plain(text) => shape::Value::counted(text, list.len()),
            Some(text) => shape::Value::Text(text.into()),
            None => shape::Value::List(list),
        },
    };
    shape::Statement { key: statement.key.as_str().into(), value }
}

/// Whether JSON has the text as it stands.
fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\'))
}

/// Empty for a rule that was not read from a text.
fn places(rule: Option<&FilePlace>, says: &[&ResolvedStatement]) -> String {
    let mut packer = Packer::default();
    let Some(rule) = rule else { return packer.finish() };
    packer.push(Some(rule));
    for statement in says {
        packer.push(statement.at.as_ref());
        if let ResolvedValue::List(list) = &statement.value {
            packer.push_list(list);
        }
    }
    packer.finish()
}

fn file(at: Option<&FilePlace>) -> Option<shape::FileIx> {
    at.map(|at| shape::FileIx(at.file))
}

fn one_place(at: Option<&FilePlace>) -> String {
    let mut packer = Packer::default();
    packer.push(at);
    packer.finish()
}

fn base_dir(path: &str, at: Option<&FilePlace>) -> shape::BaseDir {
    shape::BaseDir { path: path.to_owned(), file: file(at), places: one_place(at) }
}

fn token(token: &crate::resolved::ResolvedToken) -> shape::Token {
    shape::Token {
        id: token.id.clone(),
        scopes: token.scopes.clone(),
        token_env: token.token_env.clone(),
        token_sha256: token.token_sha256.clone(),
        file: file(token.at.as_ref()),
        places: one_place(token.at.as_ref()),
    }
}

fn field(to: &mut String, name: &str, value: &impl Serialize) {
    to.push_str(&format!("\"{name}\":{},\n", json(value)));
}

fn list<T: Serialize>(to: &mut String, name: &str, values: impl Iterator<Item = T>) {
    to.push_str(&format!("\"{name}\":["));
    for (position, value) in values.enumerate() {
        to.push_str(if position == 0 { "\n" } else { ",\n" });
        to.push_str(&json(&value));
    }
    to.push_str("],\n");
}

fn json(value: &impl Serialize) -> String {
    // Plain structs of text and numbers always serialise.
    serde_json::to_string(value).unwrap_or_default()
}
