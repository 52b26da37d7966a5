//! Resolved → CompiledPolicy: patterns built, scopes as bits, base values filled in.
//!
//! Total: whatever a [`Resolved`] holds (also one that was edited by hand), the answer is a policy or a typed error.

mod params;
mod paths;
mod values;

use crate::endpoint::{AuditLevel, DefaultState, ENDPOINTS, EndpointDecl, EndpointId, GROUPS, Group, Key};
use crate::lower::base_dir;
use crate::matchers::command::Lookup;
use crate::paths::PathRulesError;
use crate::policy::{CompiledPolicy, EndpointPolicy, Limits, Listed, Principal, Ruled, SecretSource};
use crate::resolved::{EndpointIx, Resolved, ResolvedToken, RuleIx};
use crate::scope::{ScopeNeed, ScopeSet};
use values::Values;

/// What the process adds to a policy.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Where relative paths start: what [`base_dir::normalise`] makes of a directory.
    pub base_dir: &'a str,
    /// Digest of the resolved content, to be shown; may be empty.
    pub revision: &'a str,
    /// Finds the programs that bare names mean. Without it only names can be compared.
    pub lookup: Option<Lookup<'a>>,
    /// Base values that the process replaces (`ABX_MAX_UPLOAD_SIZE`); rules beat them as they beat the catalogue's.
    pub base_values: &'a [(EndpointId, Key, u64)],
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("base_dir", &self.base_dir).finish_non_exhaustive()
    }
}

/// Why a resolved policy cannot be compiled. A document that passed its checks gives none of these but the last.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The base directory cannot be one.
    #[error("`{0}` cannot be the base directory")]
    BaseDir(String),
    /// An index leads nowhere.
    #[error("the resolved policy refers to {0} that it does not hold")]
    Dangling(&'static str),
    /// A statement stands under an endpoint's key that is not its own.
    #[error("a statement about `{found}` stands under `{key}`")]
    KeyMismatch {
        /// Where it stands.
        key: &'static str,
        /// What it is about.
        found: &'static str,
    },
    /// A value of the wrong kind, or one that the key does not take.
    #[error("`{value}` is no value of `{key}`")]
    Value {
        /// The key.
        key: &'static str,
        /// What it was given.
        value: String,
    },
    /// A core endpoint is closed.
    #[error("`{0}` belongs to the core group and cannot be closed")]
    CoreDisabled(&'static str),
    /// More endpoints than can be counted.
    #[error("there are too many endpoints")]
    TooManyEndpoints,
    /// A token without a secret, with two, or with one of the wrong form.
    #[error("the token `{0}` has no usable secret or scope")]
    Token(String),
    /// Path rules that cannot be compiled.
    #[error("the path rules of `{endpoint}` cannot be compiled: {error}")]
    Paths {
        /// The endpoint.
        endpoint: String,
        /// Why.
        #[source]
        error: PathRulesError,
    },
}

/// Compiles.
///
/// # Errors
/// See [`CompileError`].
pub fn compile(resolved: Resolved, options: &Options<'_>) -> Result<CompiledPolicy, CompileError> {
    check_base_dir(options.base_dir)?;
    let count = ENDPOINTS.len() + resolved.custom.len();
    if u16::try_from(count).is_err() {
        return Err(CompileError::TooManyEndpoints);
    }
    if resolved.endpoints.len() > count {
        return Err(CompileError::Dangling("an endpoint"));
    }
    let mut interned = paths::Interned::default();
    let mut endpoints = Vec::with_capacity(count);
    for at in 0..count {
        let ix = EndpointIx(u16::try_from(at).map_err(|_| CompileError::TooManyEndpoints)?);
        endpoints.push(endpoint(&resolved, ix, options, &mut interned)?);
    }
    let principals =
        resolved.tokens.as_ref().map(|tokens| tokens.iter().map(principal).collect()).transpose()?;
    Ok(CompiledPolicy {
        endpoints: endpoints.into(),
        principals,
        base_dir: options.base_dir.into(),
        base_values: options.base_values.into(),
        revision: options.revision.into(),
        resolved,
    })
}

/// Whoever names one is told why not before it comes to this.
fn check_base_dir(base_dir: &str) -> Result<(), CompileError> {
    let usable = base_dir::normalise(base_dir).is_ok_and(|plain| plain == base_dir);
    usable.then_some(()).ok_or_else(|| CompileError::BaseDir(base_dir.to_owned()))
}

fn endpoint(
    resolved: &Resolved,
    ix: EndpointIx,
    options: &Options<'_>,
    interned: &mut paths::Interned,
) -> Result<EndpointPolicy, CompileError> {
    let decl = ENDPOINTS.get(usize::from(ix.0));
    let values = Values::of(resolved, ix, decl, options)?;
    Ok(EndpointPolicy {
        enabled: enabled(&values, decl)?,
        scopes: scopes(&values, resolved, ix, decl)?,
        audit: audit(&values, decl)?,
        limits: limits(&values)?,
        paths: interned.rules(&values, decl, options)?,
        params: params::params(&values, decl, options)?,
    })
}

fn enabled(values: &Values<'_>, decl: Option<&EndpointDecl>) -> Result<Ruled<bool>, CompileError> {
    let said = values.bool(Key::Enabled)?;
    match decl {
        Some(decl) if decl.group == Group::Core => match said {
            Some(said) if !said.value => Err(CompileError::CoreDisabled(decl.name)),
            _ => Ok(Ruled { value: true, rule: RuleIx::CORE }),
        },
        // Opt-in groups are closed by a rule of the default layer; where it is missing, they are closed all the same.
        Some(decl) => {
            let open = GROUPS.get(decl.group.index()).is_some_and(|group| group.default == DefaultState::On);
            let rule = if open { RuleIx::ON } else { RuleIx::BASE };
            Ok(said.unwrap_or(Ruled { value: open, rule }))
        }
        None => Ok(said.unwrap_or(Ruled { value: true, rule: RuleIx::ON })),
    }
}

fn scopes(
    values: &Values<'_>,
    resolved: &Resolved,
    ix: EndpointIx,
    decl: Option<&EndpointDecl>,
) -> Result<Ruled<ScopeNeed>, CompileError> {
    let wrong = |name: &str| CompileError::Value { key: Key::Scopes.as_str(), value: name.to_owned() };
    if let Some(Listed { list, origin }) = values.list(Key::Scopes)? {
        if list.is_empty() {
            return Err(wrong("[]"));
        }
        let value = ScopeNeed::parse(list.values()).map_err(wrong)?;
        return Ok(Ruled { value, rule: origin.rule });
    }
    let custom = usize::from(ix.0).checked_sub(ENDPOINTS.len()).and_then(|at| resolved.custom.get(at));
    let value = match (decl, custom) {
        (Some(decl), _) => ScopeNeed::parse(decl.scopes.iter().copied()),
        (None, Some(custom)) => ScopeNeed::parse(custom.scopes.iter().map(String::as_str)),
        (None, None) => return Err(CompileError::Dangling("a custom endpoint")),
    };
    Ok(Ruled { value: value.map_err(wrong)?, rule: RuleIx::BASE })
}

fn audit(values: &Values<'_>, decl: Option<&EndpointDecl>) -> Result<Ruled<AuditLevel>, CompileError> {
    let Some(said) = values.word(Key::Audit)? else {
        return Ok(Ruled { value: decl.map_or(AuditLevel::All, |decl| decl.audit), rule: RuleIx::BASE });
    };
    let value = match said.value {
        "off" => AuditLevel::Off,
        "deny" => AuditLevel::Deny,
        "all" => AuditLevel::All,
        other => return Err(CompileError::Value { key: Key::Audit.as_str(), value: other.to_owned() }),
    };
    Ok(Ruled { value, rule: said.rule })
}

fn limits(values: &Values<'_>) -> Result<Limits, CompileError> {
    Ok(Limits {
        max_bytes: values.number(Key::LimitsMaxBytes)?,
        max_request_bytes: values.number(Key::LimitsMaxRequestBytes)?,
        max_entries: values.number(Key::LimitsMaxEntries)?,
        max_duration_seconds: values.number(Key::LimitsMaxDurationSeconds)?,
        max_output_bytes: values.number(Key::LimitsMaxOutputBytes)?,
        timeout_seconds: values.number(Key::LimitsTimeoutSeconds)?,
        rate_per_minute: values.number(Key::LimitsRatePerMinute)?,
        max_concurrency: values.number(Key::LimitsMaxConcurrency)?,
    })
}

fn principal(token: &ResolvedToken) -> Result<Principal, CompileError> {
    let wrong = || CompileError::Token(token.id.clone());
    let secret = match (&token.token_env, &token.token_sha256) {
        (Some(name), None) if crate::matchers::variable::is_name(name) => {
            SecretSource::Env(name.as_str().into())
        }
        (None, Some(digest)) => SecretSource::Sha256(sha256(digest).ok_or_else(wrong)?),
        _ => return Err(wrong()),
    };
    let scopes = ScopeSet::parse(token.scopes.iter().map(String::as_str)).map_err(|_| wrong())?;
    Ok(Principal { id: token.id.as_str().into(), scopes, secret, at: token.at })
}

/// 64 lower-case hex digits.
fn sha256(hex: &str) -> Option<[u8; 32]> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes?.try_into().ok() } else { None }
}

#[cfg(test)]
mod tests;
