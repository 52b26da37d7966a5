//! `allow_vars`, `deny_vars` and `env_deny`: names of environment variables, with globs.
//!
//! `*` stands for any characters and `?` for one; nothing else is special. Some names no rule can give: variables that
//! make a loader or an interpreter run other code, and the server's own.

use super::{Allow, Deny, denied, not_allowed};
use crate::decide::VariableUse;
use crate::policy::ElementRef;

/// Names that change which code a later program runs. Never set, never carried by a request.
pub const LOADERS: [&str; 29] = [
    "LD_*",
    "DYLD_*",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "BASH_ENV",
    "BASH_FUNC_*",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "GIT_CONFIG*",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH*",
    "GIT_PROXY_COMMAND",
    "GIT_ASKPASS",
];

/// The server's own settings and secrets. Never set, shown, carried or inherited.
pub const OWN: [&str; 1] = ["ABX_*"];

/// Names that `env_set` never replaces.
pub const PROTECTED: [&str; 4] = ["PATH", "HOME", "USER", "SHELL"];

/// Words that mark a name as secret, wherever in the name they stand.
pub const SECRET_WORDS: [&str; 5] = ["TOKEN", "SECRET", "KEY", "PASSWORD", "CREDENTIAL"];

/// A glob over a variable's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameGlob(Box<str>);

impl NameGlob {
    /// Reads a name or glob. None where it is empty or holds `=` or NUL, which no name can.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_name(text).then(|| Self(text.into()))
    }

    /// As written.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    fn exactly(&self, name: &str) -> bool {
        glob(self.0.as_bytes(), name.as_bytes(), |one, other| one == other)
    }

    fn any_case(&self, name: &str) -> bool {
        glob_any_case(&self.0, name)
    }
}

/// Whether a variable can have this name.
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Whether a name looks like that of a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.as_bytes();
    SECRET_WORDS
        .iter()
        .any(|word| name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes())))
}

/// Variable rules: of `allow_vars` and `deny_vars`, or of `env_deny`, which has no allow-list.
#[derive(Debug, Clone, Default)]
pub struct VariableRules {
    /// `allow_vars`
    pub allow: Option<Allow<NameGlob>>,
    /// `deny_vars`, `env_deny`
    pub deny: Deny<NameGlob>,
}

impl VariableRules {
    /// What refuses `name`; none where the rules let it through. The refusals of [`never()`] stand apart.
    #[must_use]
    pub fn refuses(&self, name: &str) -> Option<ElementRef> {
        denied(&self.deny, |entry| entry.any_case(name))
            .or_else(|| not_allowed(self.allow.as_ref(), |entry| entry.exactly(name)))
    }
}

/// Whether no rule can let `name` through for this use.
#[must_use]
pub fn never(name: &str, usage: VariableUse) -> bool {
    let among = |globs: &[&str]| globs.iter().any(|glob| glob_any_case(glob, name));
    match usage {
        VariableUse::Set => !is_name(name) || among(&OWN) || among(&LOADERS) || among(&PROTECTED),
        VariableUse::Carry => !is_name(name) || among(&OWN) || among(&LOADERS),
        VariableUse::Show => is_secret(name) || among(&OWN),
    }
}

fn glob_any_case(pattern: &str, name: &str) -> bool {
    glob(pattern.as_bytes(), name.as_bytes(), |one, other| one.eq_ignore_ascii_case(&other))
}

/// Whether `pattern` matches the whole of `text`. Goes back to the last star only, so the time is bounded by the product
/// of the two lengths.
fn glob(pattern: &[u8], text: &[u8], same: impl Fn(u8, u8) -> bool) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut star = None;
    loop {
        match (pattern.get(next), text.get(at)) {
            (Some(b'*'), _) => {
                next += 1;
                star = Some((next, at));
            }
            (Some(b'?'), Some(_)) => (at, next) = (at + 1, next + 1),
            (Some(one), Some(other)) if same(*one, *other) => (at, next) = (at + 1, next + 1),
            (None, None) => return true,
            (_, None) => return false,
            _ => {
                let Some((after, from)) = star else { return false };
                (next, at) = (after, from + 1);
                star = Some((after, from + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: Option<&[&str]>, deny: &[&str]) -> VariableRules {
        let read = |text: &&str| NameGlob::parse(text).unwrap();
        VariableRules {
            allow: allow
                .map(|list| Allow { entries: list.iter().map(read).collect(), origin: ElementRef::BASE }),
            deny: deny.iter().map(read).map(|glob| (glob, ElementRef::BASE)).collect(),
        }
    }

    #[test]
    fn globs_match_whole_names() {
        for (pattern, name, wanted) in [
            ("APP_*", "APP_MODE", true),
            ("APP_*", "APP_", true),
            ("APP_*", "XAPP_MODE", false),
            ("*_URL", "DB_URL", true),
            ("*_URL", "DB_URLS", false),
            ("A*B*C", "AxBxxC", true),
            ("A*B*C", "AxCxB", false),
            ("V?", "V1", true),
            ("V?", "V", false),
            ("*", "ANY", true),
            ("[A]", "A", false),
        ] {
            assert_eq!(NameGlob::parse(pattern).unwrap().exactly(name), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn deny_ignores_case_and_allow_does_not() {
        assert!(rules(None, &["db_*"]).refuses("DB_URL").is_some());
        assert!(rules(Some(&["db_*"]), &[]).refuses("DB_URL").is_some());
        assert!(rules(Some(&["DB_*"]), &[]).refuses("DB_URL").is_none());
        assert!(rules(Some(&["DB_*"]), &["DB_PASS*"]).refuses("DB_PASSWORD").is_some());
        assert!(rules(Some(&[]), &[]).refuses("A").is_some());
    }

    #[test]
    fn some_names_no_rule_gives() {
        use VariableUse::{Carry, Set, Show};
        for name in [
            "LD_PRELOAD",
            "ld_preload",
            "BASH_ENV",
            "PYTHONSTARTUP",
            "NODE_OPTIONS",
            "ABX_SERVER_TOKEN",
            "A=B",
            "",
            "\0",
        ] {
            assert!(never(name, Set) && never(name, Carry), "{name:?}");
        }
        for name in ["PATH", "Path", "HOME"] {
            assert!(never(name, Set) && !never(name, Carry) && !never(name, Show), "{name}");
        }
        for name in ["GITHUB_TOKEN", "api_key", "MONKEY", "ABX_SERVER_BASE_DIR"] {
            assert!(never(name, Show), "{name}");
        }
        assert!(!never("LANG", Set) && !never("LANG", Carry) && !never("LANG", Show));
    }
}
