//! Every key of the language and the one place it belongs to. The rule keys come from the key table, the rest is here.

use crate::endpoint::{EndpointId, Group, KEYS, Key};

/// The keys of a document.
pub(crate) const DOCUMENT: &[&str] = &["preset", "base_dir", "groups", "defaults", "endpoints", "auth"];
/// The key that a document stands under in a template.
pub(crate) const WRAPPER: &str = "server";
/// The keys of `auth`.
pub(crate) const AUTH: &[&str] = &["tokens"];
/// The keys of an entry of `auth.tokens`.
pub(crate) const TOKEN: &[&str] = &["id", "scopes", "token_env", "token_sha256"];

/// A mapping of the language, by what its keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The document itself.
    Document,
    /// Under `groups`: group names.
    Groups,
    /// Under `endpoints`: selectors.
    Endpoints,
    /// A rule.
    Rule,
    /// A part of a rule: `paths`, `limits`, `params`.
    Section(&'static str),
    /// Under `auth`.
    Auth,
    /// An entry of `auth.tokens`.
    Token,
}

impl Level {
    /// As a message names it: "in …".
    pub(crate) fn name(self) -> String {
        match self {
            Self::Document => "the policy document".to_owned(),
            Self::Groups | Self::Endpoints | Self::Auth => format!("`{}`", self.path()),
            Self::Rule => "a rule".to_owned(),
            Self::Section(section) => format!("`{section}`"),
            Self::Token => "a token".to_owned(),
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Groups => "groups",
            Self::Endpoints => "endpoints",
            Self::Auth => "auth",
            _ => "",
        }
    }

    /// Where one of its keys belongs, as the end of a sentence: "`x` belongs …".
    fn place(self) -> String {
        match self {
            Self::Document => "at the top of the policy document".to_owned(),
            Self::Groups => "under `groups`".to_owned(),
            Self::Endpoints => "under `endpoints`".to_owned(),
            Self::Rule => "in a rule, under `defaults` or a selector of `endpoints`".to_owned(),
            Self::Section(section) => format!("under `{section}` of a rule"),
            Self::Auth => "under `auth`".to_owned(),
            Self::Token => "in an entry of `auth.tokens`".to_owned(),
        }
    }

    /// How to get one of its keys there.
    const fn hint(self) -> &'static str {
        match self {
            Self::Document => "move it to the left, beside `endpoints`",
            Self::Rule => "put it into the rule of a selector, or into `defaults`",
            Self::Auth => "write `auth:` at the top of the policy document and put it into it",
            Self::Token => "write `tokens:` with a list of entries, each with an `id`, `scopes` and a secret",
            Self::Groups | Self::Endpoints | Self::Section(_) => "move it there",
        }
    }

    /// Its keys, where they are a fixed list.
    pub(crate) fn keys(self) -> Vec<&'static str> {
        match self {
            Self::Document => DOCUMENT.to_vec(),
            Self::Rule => rule_keys(),
            Self::Section(section) => section_keys(section).map(|(name, _)| name).collect(),
            Self::Auth => AUTH.to_vec(),
            Self::Token => TOKEN.to_vec(),
            Self::Groups => Group::ALL.map(Group::as_str).to_vec(),
            Self::Endpoints => EndpointId::ALL.map(EndpointId::as_str).to_vec(),
        }
    }
}

/// A key of a rule, found by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleKey {
    /// A key that takes a value.
    Value(Key),
    /// A key that holds a mapping of further keys.
    Section(&'static str),
}

impl RuleKey {
    const fn name(self) -> &'static str {
        match self {
            Self::Value(key) => key.as_str(),
            Self::Section(section) => section,
        }
    }
}

/// The parts of a rule that hold further keys, in the order of the key table.
pub(crate) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = KEYS.iter().filter_map(|decl| decl.name.split_once('.')).collect();
    sections.dedup_by_key(|(section, _)| *section);
    sections.into_iter().map(|(section, _)| section).collect()
}

/// The keys of a rule: those that take a value, then the sections.
pub(crate) fn rule_keys() -> Vec<&'static str> {
    let single = KEYS.iter().map(|decl| decl.name).filter(|name| !name.contains('.'));
    single.chain(sections()).collect()
}

/// The keys of one section, without its name.
pub(crate) fn section_keys(section: &str) -> impl Iterator<Item = (&'static str, Key)> {
    KEYS.iter().filter_map(move |decl| {
        let (its, name) = decl.name.split_once('.')?;
        (its == section).then_some((name, decl.key))
    })
}

/// The key of a rule with this name.
pub(crate) fn rule_key(name: &str) -> Option<RuleKey> {
    for decl in &KEYS {
        if decl.name == name && !name.contains('.') {
            return Some(RuleKey::Value(decl.key));
        }
        if let Some(rest) = decl.name.strip_prefix(name)
            && rest.starts_with('.')
        {
            return decl.name.get(..name.len()).map(RuleKey::Section);
        }
    }
    None
}

/// The key of a section with this name.
pub(crate) fn section_key(section: &str, name: &str) -> Option<Key> {
    let dotted = section.len() + 1 + name.len();
    KEYS.iter()
        .filter(|decl| decl.name.len() == dotted)
        .find(|decl| decl.name.starts_with(section) && decl.name.ends_with(name))
        .map(|decl| decl.key)
}

/// A key found at the wrong level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misplaced {
    /// Where it belongs, as the end of a sentence: "`x` belongs …".
    pub(crate) place: String,
    /// The key that holds it, and its name there: what a fix writes.
    pub(crate) under: Option<(&'static str, &'static str)>,
    /// What to do where there is no such key.
    pub(crate) hint: &'static str,
}

impl Misplaced {
    /// Whether the word is the name of an endpoint or a group, which a misspelt key may be by chance.
    pub(crate) fn is_a_name(&self) -> bool {
        self.under.is_some_and(|(parent, _)| matches!(parent, "endpoints" | "groups"))
    }
}

/// Where a word belongs that is no key of `here`; none for a word that the language does not know.
pub(crate) fn misplaced(word: &str, here: Level) -> Option<Misplaced> {
    let at = |level: Level, under| Some(Misplaced { place: level.place(), under, hint: level.hint() });
    if word == WRAPPER {
        let place = "at the top of a template, and not within itself".to_owned();
        return Some(Misplaced { place, under: None, hint: "remove it, and move what it holds to the left" });
    }
    if let Some((section, key)) = in_section(word) {
        let place = match here {
            Level::Rule => format!("under `{section}`"),
            _ => Level::Section(section).place(),
        };
        return Some(Misplaced { place, under: Some((section, key)), hint: Level::Section(section).hint() });
    }
    if let Some(key) = rule_key(word).filter(|_| !matches!(here, Level::Rule | Level::Token)) {
        if let Level::Section(section) = here {
            let place = format!("directly in the rule, beside `{section}`");
            return Some(Misplaced { place, under: None, hint: "move it to the left" });
        }
        return at(Level::Rule, (here == Level::Document).then(|| ("defaults", key.name())));
    }
    if here != Level::Document && DOCUMENT.contains(&word) {
        return at(Level::Document, None);
    }
    if here != Level::Auth && AUTH.contains(&word) {
        return at(Level::Auth, None);
    }
    if here != Level::Token && TOKEN.contains(&word) {
        return at(Level::Token, None);
    }
    if let Some(group) = Group::from_name(word).filter(|_| here != Level::Groups) {
        return at(Level::Groups, Some(("groups", group.as_str())));
    }
    let id = EndpointId::from_name(word).filter(|_| here != Level::Endpoints)?;
    at(Level::Endpoints, Some(("endpoints", id.as_str())))
}

/// A key of some section, by its own name or with the section before it: `max_bytes`, `limits.max_bytes`.
fn in_section(word: &str) -> Option<(&'static str, &'static str)> {
    let pairs = KEYS.iter().filter_map(|decl| Some((decl.name, decl.name.split_once('.')?)));
    pairs.into_iter().find(|(dotted, (_, key))| word == *dotted || word == *key).map(|(_, pair)| pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_at_its_level_and_known_elsewhere() {
        for decl in &KEYS {
            match decl.name.split_once('.') {
                None => assert_eq!(rule_key(decl.name), Some(RuleKey::Value(decl.key))),
                Some((section, key)) => {
                    assert_eq!(rule_key(section), Some(RuleKey::Section(section)));
                    assert_eq!(section_key(section, key), Some(decl.key));
                    let known = misplaced(key, Level::Rule).unwrap();
                    assert_eq!(known.under, Some((section, key)));
                }
            }
        }
        assert_eq!(rule_key("limit"), None);
        assert_eq!(section_key("limits", "max_byte"), None);
        assert_eq!(rule_keys(), ["enabled", "scopes", "audit", "paths", "limits", "params"]);
    }

    #[test]
    fn a_word_is_sent_to_where_it_belongs() {
        let place = |word, here| misplaced(word, here).map(|known| known.place);
        assert_eq!(place("preset", Level::Rule).as_deref(), Some("at the top of the policy document"));
        assert_eq!(place("shell", Level::Document).as_deref(), Some("under `endpoints`"));
        assert_eq!(place("process", Level::Document).as_deref(), Some("under `groups`"));
        assert_eq!(place("overwrite", Level::Section("limits")).as_deref(), Some("under `params` of a rule"));
        assert_eq!(place("token_env", Level::Auth).as_deref(), Some("in an entry of `auth.tokens`"));
        assert_eq!(place("nonsense", Level::Document), None);
    }
}
