//! The revision: a digest of what a policy means, and of nothing about how it was written.
//!
//! It covers, per endpoint and key, the value that holds (for a key that accumulates, every contribution), the preset,
//! `base_dir`, tokens and custom routes. Places, names of rules, beaten statements and the order of keys or of list
//! elements are left out, and so is the environment layer, which belongs to the process that serves.

use crate::endpoint::{KEYS, MergeLaw};
use crate::layer::LayerKind;
use crate::resolved::{Resolved, ResolvedStatement, ResolvedValue, StatementIx};
use sha2::{Digest, Sha256};

/// Lower-case hex of the SHA-256 of the content.
#[must_use]
pub fn revision(resolved: &Resolved) -> String {
    let digests: Vec<[u8; 32]> = resolved.statements.iter().map(statement).collect();
    let mut hash = Sha256::new();
    text(&mut hash, resolved.preset.as_deref().unwrap_or_default());
    text(&mut hash, resolved.base_dir.as_ref().map_or("", |(dir, _)| dir));
    for (endpoint, keys) in (0_u16..).zip(&resolved.endpoints) {
        for key in keys {
            let said: Vec<&StatementIx> =
                key.statements.iter().filter(|at| !environment(resolved, **at)).collect();
            let replaces = KEYS.get(key.key.index()).is_none_or(|decl| decl.law == MergeLaw::Replace);
            let holds = if replaces { said.get(..1).unwrap_or_default() } else { &said };
            let mut holds: Vec<&[u8; 32]> =
                holds.iter().filter_map(|at| digests.get(at.0 as usize)).collect();
            holds.sort_unstable();
            holds.dedup();
            if !holds.is_empty() {
                hash.update(endpoint.to_le_bytes());
                text(&mut hash, key.key.as_str());
                hash.update((holds.len() as u64).to_le_bytes());
                holds.iter().for_each(|digest| hash.update(digest));
            }
        }
    }
    for route in &resolved.custom {
        list(&mut hash, std::iter::once(&route.id).chain(&route.scopes));
        text(&mut hash, route.group.as_str());
    }
    hash.update([u8::from(resolved.tokens.is_some())]);
    let mut tokens: Vec<_> = resolved.tokens.iter().flatten().collect();
    tokens.sort_unstable_by_key(|token| &token.id);
    for token in tokens {
        let secret = [&token.token_env, &token.token_sha256].map(|part| part.clone().unwrap_or_default());
        list(&mut hash, std::iter::once(&token.id).chain(&secret));
        let mut scopes: Vec<&String> = token.scopes.iter().collect();
        scopes.sort_unstable();
        list(&mut hash, scopes);
    }
    super::hex(&hash.finalize())
}

fn environment(resolved: &Resolved, at: StatementIx) -> bool {
    let rule = resolved.statement(at).and_then(|statement| resolved.rule(statement.rule));
    rule.is_some_and(|rule| rule.layer == LayerKind::Environment)
}

fn statement(statement: &ResolvedStatement) -> [u8; 32] {
    let mut hash = Sha256::new();
    match &statement.value {
        ResolvedValue::Bool(value) => hash.update([0, u8::from(*value)]),
        ResolvedValue::Number(value) => {
            hash.update([1]);
            hash.update(value.to_le_bytes());
        }
        ResolvedValue::Word(word) => {
            hash.update([2]);
            text(&mut hash, word);
        }
        ResolvedValue::List(elements) => {
            hash.update([3]);
            let mut values: Vec<(u64, &str)> = elements.values().map(|value| (order(value), value)).collect();
            values.sort_unstable();
            values.dedup();
            hash.update((values.len() as u64).to_le_bytes());
            values.into_iter().for_each(|(_, value)| text(&mut hash, value));
        }
    }
    hash.finalize().into()
}

/// What the elements of a list are sorted by before they are hashed, which is several times faster than by their texts.
/// Any order serves that does not depend on how the list was written; equal sums fall back to the texts.
fn order(value: &str) -> u64 {
    let (words, rest) = value.as_bytes().as_chunks::<8>();
    let last = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    words
        .iter()
        .map(|word| u64::from_le_bytes(*word))
        .chain([last])
        .fold(value.len() as u64, |sum, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Length first, so that no two lists run into each other.
fn list<'a>(hash: &mut Sha256, values: impl IntoIterator<Item = &'a String>) {
    let values: Vec<&String> = values.into_iter().collect();
    hash.update((values.len() as u64).to_le_bytes());
    values.into_iter().for_each(|value| text(hash, value));
}

fn text(hash: &mut Sha256, value: &str) {
    hash.update((value.len() as u64).to_le_bytes());
    hash.update(value.as_bytes());
}
