//! A compiled set as YAML that a person reads: each rule with what it says, each line with its origin as a comment.

use super::{FORMAT_VERSION, TOOL_VERSION};
use crate::diag::{harmless_line, is_harmful};
use crate::endpoint::TABLE_FINGERPRINT;
use crate::layer::LayerKind;
use crate::resolved::{FilePlace, Resolved, ResolvedStatement, ResolvedValue, RuleIx};

/// The column that comments stand in, where a line leaves room.
const COMMENT: usize = 56;

/// The set as YAML. Reading it back is not meant: `compile` takes documents.
#[must_use]
pub fn inspect(resolved: &Resolved) -> String {
    let mut page = Page { resolved, text: String::new() };
    page.line(0, &format!("format: {FORMAT_VERSION}"), None);
    page.line(0, &format!("tool: {}", scalar(TOOL_VERSION)), None);
    page.line(0, &format!("endpoint_table: {}", scalar(TABLE_FINGERPRINT)), None);
    page.line(0, &format!("revision: {}", scalar(&resolved.revision)), None);
    let preset = resolved.preset.as_deref().unwrap_or("default");
    page.line(0, &format!("preset: {}", scalar(preset)), None);
    if let Some((dir, at)) = &resolved.base_dir {
        page.line(0, &format!("base_dir: {}", scalar(dir)), at.as_ref());
    }
    page.head("files", resolved.files.is_empty());
    for file in &resolved.files {
        page.line(
            1,
            &format!(
                "- {{name: {}, layer: {}, sha256: {}}}",
                scalar(&file.name),
                file.layer.as_str(),
                scalar(&file.sha256)
            ),
            None,
        );
    }
    page.rules();
    page.custom();
    page.tokens();
    page.text
}

struct Page<'a> {
    resolved: &'a Resolved,
    text: String,
}

impl Page<'_> {
    /// A line with its origin.
    fn line(&mut self, depth: usize, content: &str, at: Option<&FilePlace>) {
        let mut line = format!("{}{content}", "  ".repeat(depth));
        if let Some(at) = at {
            let file = self.resolved.files.get(at.file as usize).map_or("?", |file| &file.name);
            let width = line.chars().count();
            line.push_str(&" ".repeat(COMMENT.saturating_sub(width).max(2)));
            line.push_str(&format!("# {}:{}:{}", harmless_line(file), at.line, at.column));
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn head(&mut self, name: &str, empty: bool) {
        self.line(0, &format!("{name}:{}", if empty { " []" } else { "" }), None);
    }

    fn rules(&mut self) {
        let resolved = self.resolved;
        let kept: Vec<_> = (0..).map(RuleIx).zip(&resolved.rules).skip(Resolved::BUILT_IN).collect();
        let kept: Vec<_> = kept.into_iter().filter(|(_, rule)| rule.layer != LayerKind::Default).collect();
        self.head("rules", kept.is_empty());
        let mut statements = resolved.statements.iter().peekable();
        for (ix, rule) in kept {
            self.line(1, &format!("- rule: {}", scalar(&rule.name)), rule.at.as_ref());
            self.line(2, &format!("selector: {}", scalar(&rule.selector)), None);
            self.line(2, &format!("specificity: {}", rule.specificity.as_str()), None);
            while statements.next_if(|statement| statement.rule < ix).is_some() {}
            while let Some(statement) = statements.next_if(|statement| statement.rule == ix) {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &ResolvedStatement) {
        let key = statement.key.as_str();
        let at = statement.at.as_ref();
        match &statement.value {
            ResolvedValue::Bool(value) => self.line(2, &format!("{key}: {value}"), at),
            ResolvedValue::Number(value) => self.line(2, &format!("{key}: {value}"), at),
            ResolvedValue::Word(word) => self.line(2, &format!("{key}: {}", scalar(word)), at),
            ResolvedValue::List(list) if list.is_empty() => self.line(2, &format!("{key}: []"), at),
            ResolvedValue::List(list) => {
                self.line(2, &format!("{key}:"), None);
                for element in list.iter() {
                    self.line(3, &format!("- {}", scalar(element.value)), element.at.as_ref());
                }
            }
        }
    }

    fn custom(&mut self) {
        if self.resolved.custom.is_empty() {
            return;
        }
        self.head("custom_routes", false);
        for route in &self.resolved.custom {
            let scopes: Vec<String> = route.scopes.iter().map(|scope| scalar(scope)).collect();
            let line = format!(
                "- {{id: {}, group: {}, scopes: [{}]}}",
                scalar(&route.id),
                route.group.as_str(),
                scopes.join(", ")
            );
            self.line(1, &line, None);
        }
    }

    fn tokens(&mut self) {
        let Some(tokens) = &self.resolved.tokens else { return };
        self.head("tokens", tokens.is_empty());
        for token in tokens {
            self.line(1, &format!("- id: {}", scalar(&token.id)), token.at.as_ref());
            if let Some(variable) = &token.token_env {
                self.line(2, &format!("token_env: {}", scalar(variable)), None);
            }
            if let Some(digest) = &token.token_sha256 {
                self.line(2, &format!("token_sha256: {}", scalar(digest)), None);
            }
            let scopes: Vec<String> = token.scopes.iter().map(|scope| scalar(scope)).collect();
            self.line(2, &format!("scopes: [{}]", scopes.join(", ")), None);
        }
    }
}

/// Text as a scalar on one line; what the YAML writer would fold, and what a terminal would obey, is written in the quotes
/// of JSON.
fn scalar(text: &str) -> String {
    let plain = serde_yaml::to_string(text).ok().map(|text| text.trim_end_matches('\n').to_owned());
    match plain {
        Some(plain)
            if !plain.contains('\n') && !plain.contains([',', '{', '}']) && !text.contains(is_harmful) =>
        {
            plain
        }
        _ => {
            let text = serde_json::to_string(text).unwrap_or_default();
            let escaped = |character| match character {
                harmful if is_harmful(harmful) => format!("\\u{:04x}", u32::from(harmful)),
                other => other.to_string(),
            };
            text.chars().map(escaped).collect()
        }
    }
}
