//! `auth.tokens`: who may call, with which scopes, and where the secret of each is.
//!
//! No message repeats a secret's value: a hash may be a pasted token, and a variable name may be one too.

use crate::diag::{Code, Diagnostic, Suggestion, quoted};
use crate::layer::{Token, TokenSecret};
use crate::lower::words::Level;
use crate::lower::{Context, Holder, Text, keys};
use crate::parse::{Entry, Node, NodeKind};
use crate::rules::scopes;
use crate::source::{Span, Spanned};
use std::collections::HashMap;

/// Ids that the server gives by itself.
pub(crate) const RESERVED: [&str; 2] = ["anonymous", "legacy"];
/// The variable of the server's own token, which the id `legacy` stands for.
pub(crate) const SERVER_TOKEN: &str = "ABX_SERVER_TOKEN";
/// Longest id of a token, in characters.
pub(crate) const ID_LENGTH: usize = 64;

/// Reads `auth`; none where it says nothing of tokens.
pub(crate) fn read(cx: &mut Context<'_>, node: Node<'_>) -> Option<Vec<Token>> {
    if matches!(node.kind, NodeKind::Invalid) {
        return None;
    }
    let NodeKind::Map(entries) = node.kind else {
        let report = cx.wrong_type("`auth`", "a mapping with the key `tokens`", &node);
        cx.emit(report);
        return None;
    };
    let mut tokens = None;
    for entry in entries {
        match &*entry.key {
            "tokens" => {
                tokens = cx.value_of(entry.key_span, entry.value.via, |cx| self::tokens(cx, entry.value))
            }
            _ => keys::foreign(cx, Level::Auth, &entry),
        }
    }
    tokens
}

/// Reads `auth.tokens`.
pub(crate) fn tokens(cx: &mut Context<'_>, node: Node<'_>) -> Option<Vec<Token>> {
    if matches!(node.kind, NodeKind::Invalid) {
        return None;
    }
    let NodeKind::Seq(items) = node.kind else {
        let report = cx.wrong_type("`auth.tokens`", "a list of tokens", &node);
        cx.emit(report);
        return None;
    };
    let tokens: Vec<_> = cx.holding(Holder::List, |cx| {
        items.into_iter().filter_map(|item| cx.inside(item.via, |cx| token(cx, item))).collect()
    });
    twins(cx, &tokens);
    Some(tokens)
}

/// What an entry has said so far.
#[derive(Default)]
struct Draft {
    id: Option<Spanned<String>>,
    scopes: Option<Vec<Spanned<String>>>,
    secrets: Vec<(Span, Option<TokenSecret>)>,
    /// Whether the key was there at all, right or wrong.
    has_id: bool,
    has_scopes: bool,
    /// Whether there is a key that is none of a token's: it may be what is missing, misspelt.
    has_foreign: bool,
}

fn token(cx: &mut Context<'_>, node: Node<'_>) -> Option<Token> {
    let span = node.span;
    if matches!(node.kind, NodeKind::Invalid) {
        return None;
    }
    let NodeKind::Map(entries) = node.kind else {
        let report = cx.wrong_type(
            "a token",
            "a mapping with `id`, `scopes` and `token_env` or `token_sha256`",
            &node,
        );
        cx.emit(report);
        return None;
    };
    let first = entries.first().map_or(span, |entry| entry.key_span);
    let mut draft = Draft::default();
    for entry in entries {
        let via = entry.value.via;
        cx.value_of(entry.key_span, via, |cx| cx.holding(Holder::Required, |cx| part(cx, entry, &mut draft)));
    }
    complete(cx, draft, first, span)
}

fn part(cx: &mut Context<'_>, entry: Entry<'_>, draft: &mut Draft) {
    let key = entry.key_span;
    match &*entry.key {
        "id" => {
            draft.has_id = true;
            draft.id = cx.text("a token's `id`", entry.value).and_then(|text| id(cx, text));
        }
        "scopes" => {
            draft.has_scopes = true;
            draft.scopes = scopes::of_token(cx, entry.value);
        }
        "token_env" => {
            let text = cx.text("`token_env`", entry.value);
            let secret = text.and_then(|text| variable(cx, text)).map(TokenSecret::Env);
            draft.secrets.push((key, secret));
        }
        "token_sha256" => {
            let text = cx.text("`token_sha256`", entry.value);
            let secret = text.and_then(|text| digest(cx, text)).map(TokenSecret::Sha256);
            draft.secrets.push((key, secret));
        }
        _ => {
            draft.has_foreign = true;
            keys::foreign(cx, Level::Token, &entry);
        }
    }
}

/// Whether all parts are there, and one secret and no more.
fn complete(cx: &mut Context<'_>, draft: Draft, first: Span, span: Span) -> Option<Token> {
    let missing =
        |what: &str| Diagnostic::new(Code::InvalidToken, format!("this token has no {what}")).at(first);
    if !draft.has_id && !draft.has_foreign {
        cx.emit(missing("`id`").help("give it an `id`: audit lines and rules name a caller by it"));
    }
    if !draft.has_scopes && !draft.has_foreign {
        cx.emit(missing("`scopes`").help("list what its holder may do, such as `scopes: [\"files:read\"]`"));
    }
    let mut secrets = draft.secrets.into_iter();
    let secret = match (secrets.next(), secrets.next()) {
        (None, _) if draft.has_foreign => None,
        (None, _) => {
            let help = "name the variable that holds its secret under `token_env`, or give `token_sha256`";
            cx.emit(missing("secret").help(help));
            None
        }
        (Some((one, _)), Some((other, _))) => {
            let message = "this token has both `token_env` and `token_sha256`";
            let report = Diagnostic::new(Code::InvalidToken, message).at(other);
            cx.emit(report.related(one, "the other secret").help("keep one of them"));
            None
        }
        (Some((_, secret)), None) => secret,
    };
    Some(Token { id: draft.id?, scopes: draft.scopes?, secret: secret?, span })
}

/// Letters, digits, `.`, `_` and `-`, beginning with a letter or a digit: fit for logs and comma lists.
fn id(cx: &mut Context<'_>, text: Text<'_>) -> Option<Spanned<String>> {
    let Some(message) = id_fault(&text.value) else { return Some(text.spanned()) };
    let help = format!(
        "an id is 1 to {ID_LENGTH} letters, digits, `.`, `_` and `-`, begins with a letter or a digit, and is neither \
         `anonymous` nor `legacy`"
    );
    cx.emit(Diagnostic::new(Code::InvalidToken, message).at(text.span).help(help));
    None
}

/// Why a text is no id of a token.
fn id_fault(id: &str) -> Option<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let starts = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    if RESERVED.contains(&id) {
        return Some(format!("the token id `{id}` is reserved"));
    }
    let fits = starts && id.chars().all(word) && id.len() <= ID_LENGTH;
    (!fits).then(|| format!("{} is no token id", quoted(id)))
}

fn variable(cx: &mut Context<'_>, text: Text<'_>) -> Option<Spanned<String>> {
    let Some((message, help)) = variable_fault(&text.value) else { return Some(text.spanned()) };
    cx.emit(Diagnostic::new(Code::InvalidToken, message).at(text.span).help(help));
    None
}

/// Why a text is no variable that holds the secret of a token, and what to do. The text may be a secret, and is not shown.
fn variable_fault(name: &str) -> Option<(&'static str, &'static str)> {
    if name == SERVER_TOKEN {
        return Some((
            "`ABX_SERVER_TOKEN` holds the server's own token, which is `legacy` with every scope",
            "give this token a variable of its own, such as `CI_TOKEN`",
        ));
    }
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (!(starts && name.chars().all(word))).then_some((
        "`token_env` is not the name of a variable",
        "name the environment variable that holds the secret, such as `CI_TOKEN`; never the secret",
    ))
}

fn digest(cx: &mut Context<'_>, text: Text<'_>) -> Option<Spanned<String>> {
    const DIGITS: usize = 64;
    let hex = |c: char| c.is_ascii_hexdigit();
    let bare = text.value.trim().trim_start_matches("sha256:");
    let whole = bare.len() == DIGITS && bare.chars().all(hex);
    let lower = bare.to_ascii_lowercase();
    if whole && lower == text.value {
        return Some(text.spanned());
    }
    let what = if text.value.trim().is_empty() {
        "is blank".to_owned()
    } else if whole && bare != text.value {
        "is more than the 64 digits".to_owned()
    } else if whole {
        "has upper-case digits".to_owned()
    } else if bare.chars().all(hex) {
        format!("has {} digits, not {DIGITS}", bare.len())
    } else {
        "is not a hexadecimal SHA-256".to_owned()
    };
    let report = Diagnostic::new(Code::InvalidToken, format!("`token_sha256` {what}")).at(text.span).help(
        "give the SHA-256 of the secret as 64 lower-case hex digits: `printf %s \"$SECRET\" | sha256sum`",
    );
    let quoted = cx.quoted_like(text.span, &lower);
    cx.emit(if whole {
        report.suggest(Suggestion::safe("write the plain lower-case digits", text.span, quoted))
    } else {
        report
    });
    None
}

/// Two tokens with one id, or one secret for two ids.
fn twins(cx: &mut Context<'_>, tokens: &[Token]) {
    let mut ids: HashMap<&str, Span> = HashMap::new();
    let mut secrets: HashMap<(bool, &str), Span> = HashMap::new();
    for token in tokens {
        if let Some(first) = ids.insert(&token.id.value, token.id.span) {
            let message = format!("two tokens have the id `{}`", token.id.value);
            let report = Diagnostic::new(Code::DuplicateTokenId, message).at(token.id.span);
            cx.emit(report.related(first, "first used here").help("give each token an id of its own"));
        }
        let (key, secret) = match &token.secret {
            TokenSecret::Env(name) => ((true, name.value.as_str()), name.span),
            TokenSecret::Sha256(hash) => ((false, hash.value.as_str()), hash.span),
        };
        if let Some(first) = secrets.insert(key, secret) {
            let report = Diagnostic::new(Code::InvalidToken, "two tokens have the same secret")
                .at(secret)
                .related(first, "the same secret")
                .help("a caller is known by its secret: give each token its own");
            cx.emit(report);
        }
    }
}
