//! `--explain`: the call that is asked about, as flags, and the answer.

mod given;
mod target;
mod view;

use super::load::Run;
use crate::cli::Exit;
use crate::cli::report::Report;
use crate::cli::report::human::View;
use clap::{Args, ValueEnum};
use policy_lang::decide::{CommandQuery, Op, PathQuery, Query};
use policy_lang::diag::suggest;
use policy_lang::endpoint::{BUNDLES, SCOPES};
use policy_lang::explain::{self, Question};
use policy_lang::matchers::url;
use policy_lang::paths::absolute;
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::EndpointIx;
use policy_lang::scope::ScopeSet;
use target::Target;

/// The call to explain.
#[derive(Debug, Args)]
#[command(next_help_heading = "Explain a call")]
pub(super) struct ExplainArgs {
    /// Endpoint id, or "METHOD /path?query"
    #[arg(long, value_name = "ENDPOINT")]
    explain: Option<String>,
    /// Path that the call names; `source=…` and `destination=…` where it takes two
    #[arg(long, value_name = "P", requires = "explain")]
    path: Vec<String>,
    /// What is done to the paths [default: what the endpoint does]
    #[arg(long, value_enum, requires = "explain")]
    op: Option<OpArg>,
    /// Scopes that the caller holds, separated by commas
    #[arg(
        long,
        value_name = "A,B",
        requires = "explain",
        value_delimiter = ',',
        conflicts_with = "identity"
    )]
    scopes: Option<Vec<String>>,
    /// Token of `auth.tokens` that the caller holds, by its id
    #[arg(long, value_name = "ID", requires = "explain")]
    identity: Option<String>,
    /// Program that the call runs, or a command line of which the first word counts
    #[arg(long, value_name = "COMMAND", requires = "explain")]
    command: Option<String>,
    /// URL that the call opens
    #[arg(long, value_name = "URL", requires = "explain")]
    url: Option<String>,
    /// Loopback port that the call connects to
    #[arg(long, value_name = "N", requires = "explain")]
    port: Option<u16>,
    /// Fail unless this is the verdict
    #[arg(long, value_enum, requires = "explain")]
    expect: Option<Expect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OpArg {
    Read,
    Write,
    Delete,
    List,
    Run,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Expect {
    Allow,
    Deny,
}

impl Expect {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

impl From<OpArg> for Op {
    fn from(op: OpArg) -> Self {
        match op {
            OpArg::Read => Self::Read,
            OpArg::Write => Self::Write,
            OpArg::Delete => Self::Delete,
            OpArg::List => Self::List,
            OpArg::Run => Self::Run,
        }
    }
}

/// The facts of the call, owned, so that a query can borrow them.
#[derive(Debug)]
struct Asked {
    endpoint: EndpointIx,
    scopes: Option<ScopeSet>,
    scope_param: Option<String>,
    paths: Vec<(String, Vec<u8>, Op)>,
    url: Option<url::Target>,
    program: Option<String>,
    port: Option<u16>,
}

impl ExplainArgs {
    pub(super) fn asked(&self) -> bool {
        self.explain.is_some()
    }

    /// Explains the call under a policy, and adds the answer to the report and to its view for people.
    pub(super) fn answer(&self, report: &mut Report, view: &mut View, run: &Run<'_>) {
        let Some(written) = &self.explain else { return };
        let Some(policy) = &run.outcome.policy else {
            return report.skip("explain", "the policy has errors; mend them first");
        };
        let asked = match self.read(written, policy, run) {
            Ok(asked) => asked,
            Err(message) => return report.fail(Exit::Usage, message),
        };
        given::remark(report, run.inputs.catalogue, &asked);
        let paths: Vec<PathQuery<'_>> =
            asked.paths.iter().map(|(role, path, op)| PathQuery { role, path, op: *op }).collect();
        let query = Query {
            scopes: asked.scopes.as_ref(),
            scope_param: asked.scope_param.as_deref(),
            paths: &paths,
            command: (asked.program.as_deref()).map(|argv0| CommandQuery {
                argv0,
                found: None,
                target: None,
            }),
            url: asked.url.as_ref(),
            port: asked.port,
            ..Query::of(asked.endpoint)
        };
        let explanation = explain::explain(policy, run.inputs.catalogue, &query);
        let question = Question { query, identity: self.identity.as_deref() };
        // A compiled set has no text to edit.
        let edits = (!run.compiled).then(|| explain::edits(run.document, run.inputs, &question));
        report.explain = Some(view::explanation(policy, &explanation, edits.as_deref().unwrap_or_default()));
        view.explain(explain::human::render(policy, &explanation, &query, edits.as_deref(), run.text()));
        if let Some(expected) = self.expect
            && (expected == Expect::Allow) != explanation.allowed
        {
            let verdict = if explanation.allowed { "allow" } else { "deny" };
            report
                .fail(Exit::Failure, format!("expected {}, but the verdict is {verdict}", expected.as_str()));
        }
    }

    fn read(&self, written: &str, policy: &CompiledPolicy, run: &Run<'_>) -> Result<Asked, String> {
        let target = Target::read(written, run.inputs.catalogue)?;
        let named = self.path.iter().map(|path| given::path(policy, target.endpoint, path));
        let named = named.collect::<Result<Vec<_>, String>>()?;
        let asked = target.paths.iter().map(|(role, path)| (role.as_str(), path.as_str())).chain(named);
        let paths = asked
            .map(|(role, path)| {
                let normal = absolute(policy.base_dir().as_bytes(), path.as_bytes());
                let normal =
                    normal.map_err(|error| format!("the path `{path}` cannot be judged: {error}"))?;
                let op = self.op.map_or_else(|| Op::usual(policy.decl(target.endpoint), role), Op::from);
                Ok((role.to_owned(), normal.into_owned(), op))
            })
            .collect::<Result<Vec<_>, String>>()?;
        let url = self.url.as_deref().map(|url| {
            url::Target::parse(url).ok_or_else(|| format!("`{url}` is no URL with a scheme and a host"))
        });
        Ok(Asked {
            endpoint: target.endpoint,
            scopes: self.held(policy)?,
            scope_param: target.command,
            paths,
            url: url.transpose()?,
            program: self.command.as_deref().map(program).transpose()?,
            port: self.port,
        })
    }

    /// What the caller holds; `None` where nobody said, and the scope gate is not asked.
    fn held(&self, policy: &CompiledPolicy) -> Result<Option<ScopeSet>, String> {
        if let Some(names) = &self.scopes {
            let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
            let set = ScopeSet::parse(names).map_err(unknown_scope)?;
            return Ok(Some(set));
        }
        let Some(id) = &self.identity else { return Ok(None) };
        let principals = policy.principals().unwrap_or_default();
        if let Some(principal) = principals.iter().find(|principal| &*principal.id == id) {
            return Ok(Some(principal.scopes.clone()));
        }
        let ids = principals.iter().map(|principal| &*principal.id);
        Err(match suggest::closest(id, ids).first() {
            Some(near) => format!("no token has the id `{id}`; did you mean `{near}`?"),
            None if principals.is_empty() => format!("no token has the id `{id}`: the policy declares none"),
            None => {
                let ids: Vec<_> = principals.iter().map(|principal| format!("`{}`", principal.id)).collect();
                format!("no token has the id `{id}`; the policy declares {}", ids.join(", "))
            }
        })
    }
}

fn unknown_scope(name: &str) -> String {
    let scopes = SCOPES.iter().map(|scope| scope.name).chain(BUNDLES.iter().map(|bundle| bundle.name));
    match suggest::closest(name, scopes).first() {
        Some(near) => format!("unknown scope `{name}`; did you mean `{near}`?"),
        None => format!("unknown scope `{name}`"),
    }
}

/// The first word of a command line, split as the server splits it.
fn program(line: &str) -> Result<String, String> {
    let words = crate::process::words::split(line).map_err(|error| format!("--command: {error}"))?;
    words.into_iter().next().ok_or_else(|| "--command names no program".to_owned())
}
