//! The tokens of a policy as digests. A secret is hashed at start and forgotten; comparing touches every digest.

use super::Digest;
use super::Principal;
use policy_lang::resolved::ResolvedToken;
use policy_lang::scope::ScopeSet;
use std::sync::Arc;
use subtle::{ConditionallySelectable, ConstantTimeEq};

/// The id of a caller where no token is configured, and of callers of doors that ask for none.
pub(super) const ANONYMOUS: &str = "anonymous";
/// The id that `ABX_SERVER_TOKEN` stands for.
pub(super) const LEGACY: &str = "legacy";

/// Every principal of a policy.
#[derive(Debug)]
pub struct Tokens {
    digests: Vec<Digest>,
    /// By place: one for each digest, then `anonymous`.
    principals: Vec<Arc<Principal>>,
    anonymous: Arc<Principal>,
    open: bool,
}

/// Why the tokens of a policy cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TokenError {
    /// The variable that should hold the secret is unset or empty.
    #[error("token `{id}`: the environment variable `{variable}` is unset or empty")]
    Unset {
        /// The token.
        id: String,
        /// The variable.
        variable: String,
    },
    /// Two ids with one secret.
    #[error("tokens `{first}` and `{second}` have the same secret")]
    SameSecret {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// Not 64 lower-case hex digits.
    #[error("token `{id}`: `token_sha256` is not 64 lower-case hex digits")]
    Digest {
        /// The token.
        id: String,
    },
    /// A scope that is not known.
    #[error("token `{id}`: unknown scope `{scope}`")]
    Scope {
        /// The token.
        id: String,
        /// The scope.
        scope: String,
    },
    /// The id of `ABX_SERVER_TOKEN`, which is set too.
    #[error("token `legacy`: the id stands for `ABX_SERVER_TOKEN`, which is set too")]
    Legacy,
    /// The id of callers without a token.
    #[error("token `anonymous`: the id stands for callers without a token")]
    Anonymous,
}

impl Tokens {
    /// Reads the tokens of a policy and the old token. `secret` gives the digest of a non-empty environment variable.
    ///
    /// # Errors
    /// Any token that could not be used, or could be mistaken for another.
    pub fn read(
        declared: Option<&[ResolvedToken]>,
        legacy: Option<Digest>,
        secret: impl Fn(&str) -> Option<Digest>,
    ) -> Result<Self, TokenError> {
        let mut known: Vec<(Digest, String, ScopeSet)> = Vec::new();
        for token in declared.unwrap_or_default() {
            let digest = digest_of(token, &secret)?;
            let scopes = ScopeSet::parse(token.scopes.iter().map(String::as_str))
                .map_err(|scope| TokenError::Scope { id: token.id.clone(), scope: scope.to_owned() })?;
            match token.id.as_str() {
                ANONYMOUS => return Err(TokenError::Anonymous),
                LEGACY if legacy.is_some() => return Err(TokenError::Legacy),
                _ => {}
            }
            known.push((digest, token.id.clone(), scopes));
        }
        if let Some(legacy) = legacy {
            known.push((legacy, LEGACY.to_owned(), ScopeSet::all()));
        }
        for (at, (digest, second, _)) in known.iter().enumerate() {
            if let Some((_, first, _)) = known.iter().take(at).find(|(seen, ..)| seen == digest) {
                return Err(TokenError::SameSecret { first: first.clone(), second: second.clone() });
            }
        }
        let open = declared.is_none() && legacy.is_none();
        let everything = if open { ScopeSet::all() } else { ScopeSet::default() };
        let mut digests = Vec::with_capacity(known.len());
        let mut principals = Vec::with_capacity(known.len() + 1);
        for (index, (digest, id, scopes)) in known.into_iter().enumerate() {
            digests.push(digest);
            principals.push(Arc::new(Principal { id: id.into(), scopes, index }));
        }
        let anonymous =
            Arc::new(Principal { id: ANONYMOUS.into(), scopes: everything, index: principals.len() });
        principals.push(Arc::clone(&anonymous));
        Ok(Self { digests, principals, anonymous, open })
    }

    /// Whether no token at all is configured: everyone is `anonymous` and holds everything.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The principal of callers without a token.
    #[must_use]
    pub fn anonymous(&self) -> &Arc<Principal> {
        &self.anonymous
    }

    /// Every principal, `anonymous` last.
    #[must_use]
    pub fn principals(&self) -> &[Arc<Principal>] {
        &self.principals
    }

    /// Whether a principal of earlier tokens may still call: the same secret stands for the same id, or nobody needs one.
    #[must_use]
    pub fn still_know(&self, earlier: &Self, principal: &Principal) -> bool {
        match earlier.digests.get(principal.index) {
            Some(digest) => {
                let mut known = self.digests.iter().zip(&self.principals);
                known.any(|(own, who)| own == digest && who.id == principal.id)
            }
            None => self.open,
        }
    }

    /// Whose token this is. Takes the same time whichever token it is, or none.
    #[must_use]
    pub fn verify(&self, token: &[u8]) -> Option<&Arc<Principal>> {
        let presented = Digest::of(token);
        let mut place = u64::MAX;
        for (index, digest) in (0_u64..).zip(&self.digests) {
            place.conditional_assign(&index, digest.0.ct_eq(&presented.0));
        }
        // `u64::MAX` is the place of no principal.
        self.principals.get(usize::try_from(place).ok()?)
    }
}

fn digest_of(token: &ResolvedToken, secret: impl Fn(&str) -> Option<Digest>) -> Result<Digest, TokenError> {
    if let Some(variable) = &token.token_env {
        let name = policy_lang::secret::variable(variable);
        let unset = || TokenError::Unset { id: token.id.clone(), variable: name.to_owned() };
        return secret(variable).ok_or_else(unset);
    }
    let hex = token.token_sha256.as_deref().unwrap_or_default();
    read_hex(hex).ok_or_else(|| TokenError::Digest { id: token.id.clone() })
}

fn read_hex(hex: &str) -> Option<Digest> {
    let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if hex.len() != 64 || !hex.as_bytes().iter().all(lower) {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(Digest(digest))
}

#[cfg(test)]
mod tests {
    use super::super::Digest;
    use super::{ResolvedToken, TokenError, Tokens};

    // SHA-256 of `secret-a`.
    const DIGEST: &str = "ff66f7b8a0a3d47d5e46d5d4d2a1e6c9a7d0d5a6fd1b2f7d0f2f0f8c0f0d0f0a";

    fn token(id: &str, env: Option<&str>, sha256: Option<&str>) -> ResolvedToken {
        ResolvedToken {
            id: id.to_owned(),
            scopes: vec!["files:read".to_owned()],
            token_env: env.map(str::to_owned),
            token_sha256: sha256.map(str::to_owned),
            at: None,
        }
    }

    fn env(name: &str) -> Option<Digest> {
        matches!(name, "A" | "ALSO_A").then(|| Digest::of(b"secret-a"))
    }

    fn old() -> Option<Digest> {
        Some(Digest::of(b"old"))
    }

    #[test]
    fn each_token_leads_to_its_own_principal() {
        let tokens = Tokens::read(Some(&[token("a", Some("A"), None)]), old(), env).unwrap();
        assert_eq!(tokens.verify(b"secret-a").map(|who| &*who.id), Some("a"));
        assert_eq!(tokens.verify(b"old").map(|who| &*who.id), Some("legacy"));
        for wrong in [b"".as_slice(), b"secret-", b"secret-a ", b"\xff"] {
            assert_eq!(tokens.verify(wrong), None);
        }
        assert!(!tokens.is_open());
        assert!(!tokens.anonymous().scopes.is_all());
    }

    #[test]
    fn a_principal_stays_while_its_secret_stands_for_its_id() {
        let read = |id: &str, variable: &str| {
            Tokens::read(Some(&[token(id, Some(variable), None)]), None, |name| {
                Some(Digest::of(name.as_bytes()))
            })
        };
        let (before, open) = (read("a", "A").unwrap(), Tokens::read(None, None, env).unwrap());
        let who = &before.principals()[0];
        assert!(read("a", "A").unwrap().still_know(&before, who));
        for after in [read("a", "B"), read("b", "A"), Tokens::read(Some(&[]), old(), env)] {
            assert!(!after.unwrap().still_know(&before, who));
        }
        assert!(open.still_know(&open, open.anonymous()) && !before.still_know(&open, open.anonymous()));
    }

    #[test]
    fn only_the_absence_of_every_token_opens() {
        assert!(Tokens::read(None, None, env).unwrap().is_open());
        assert!(!Tokens::read(Some(&[]), None, env).unwrap().is_open());
        assert!(!Tokens::read(None, old(), env).unwrap().is_open());
    }

    #[test]
    fn tokens_that_cannot_be_told_apart_or_read_are_refused() {
        let unset = |variable: &str| TokenError::Unset { id: "a".to_owned(), variable: variable.to_owned() };
        let same = TokenError::SameSecret { first: "a".to_owned(), second: "b".to_owned() };
        let digest = || TokenError::Digest { id: "a".to_owned() };
        let upper = DIGEST.to_uppercase();
        for (declared, right) in [
            (vec![token("a", Some("NONE"), None)], unset("NONE")),
            (vec![token("a", Some("A"), None), token("b", Some("ALSO_A"), None)], same),
            (vec![token("a", None, Some(&upper))], digest()),
            (vec![token("a", None, DIGEST.get(1..))], digest()),
            (vec![token("a", None, Some(&format!("sha256:{DIGEST}")))], digest()),
            (vec![token("a", None, Some(""))], digest()),
            (vec![token("legacy", Some("A"), None)], TokenError::Legacy),
            (vec![token("anonymous", Some("A"), None)], TokenError::Anonymous),
        ] {
            assert_eq!(Tokens::read(Some(&declared), old(), env).unwrap_err(), right);
        }
    }
}
