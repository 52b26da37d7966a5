//! What is to run, where, and by whose rules it is judged.

use super::StartError;
use crate::agents::acp::Wait;
use crate::app::{App, PolicyState, index};
use crate::error::ApiError;
use crate::guard::{EndpointRules, GuardError, NormalPath, Op};
use crate::pipeline::admit::Permit;
use crate::process::{Engine, FindError, Program, VariableError};
use policy_lang::decide::{CommandQuery, Decision, Query, VariableQuery, VariableUse, decide};
use policy_lang::endpoint::EndpointId;
use policy_lang::policy::EndpointPolicy;
use policy_lang::resolved::EndpointIx;
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::time::Duration;

/// How long a handshake may take where nobody says otherwise: the slowest known agent takes six seconds.
pub const HANDSHAKE_PATIENCE: Wait = Wait::total(Duration::from_secs(30));

/// How an agent is launched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recipe {
    /// The agent's name in the catalogue.
    pub agent_id: String,
    /// The program: a name that is looked up, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables beside those that every child gets; no secrets.
    pub env: BTreeMap<String, String>,
    /// Secrets by variable. They stand in no log and in no answer.
    pub secrets: BTreeMap<String, String>,
    /// The names of the credentials that `secrets` came from.
    pub credentials: Vec<String>,
    /// Whether the agent may ask us for files.
    pub client_fs: bool,
    /// Whether it may ask us for terminals.
    pub client_terminal: bool,
    /// Whether one process serves many sessions.
    pub share_process: bool,
}

/// The rules of one endpoint, of the policy in force when it was made.
#[derive(Debug, Clone)]
pub struct Judge {
    /// The policy.
    pub state: Arc<PolicyState>,
    /// For which endpoint.
    pub endpoint: EndpointIx,
}

/// A directory in which a process may run: open, and by name.
#[derive(Debug)]
pub struct Workplace {
    /// The open directory.
    pub handle: OwnedFd,
    /// Its path, links resolved.
    pub path: String,
}

/// What a start is for.
#[derive(Debug)]
pub struct StartFor {
    /// By whose rules.
    pub judge: Judge,
    /// Where it runs.
    pub place: Workplace,
    /// The session that it is for, where there is one.
    pub session_id: Option<String>,
    /// Whether every frame is written to its log.
    pub trace: bool,
    /// How long the handshake may take.
    pub patience: Wait,
}

impl Judge {
    /// The rules that admitted a call.
    #[must_use]
    pub fn of(permit: &Permit) -> Self {
        Self { state: Arc::clone(permit.state()), endpoint: permit.endpoint() }
    }

    /// The rules of an endpoint as they are now: for what happens later than the call that opened it.
    #[must_use]
    pub fn now(app: &App, endpoint: EndpointId) -> Self {
        Self { state: app.policy(), endpoint: index(endpoint) }
    }

    /// What the policy says of the endpoint.
    #[must_use]
    pub fn rules(&self) -> Option<&EndpointPolicy> {
        self.state.policy.endpoint(self.endpoint)
    }

    /// Asks the policy.
    ///
    /// # Errors
    /// The refusal of the first gate that refuses.
    pub fn ask(&self, query: &Query<'_>) -> Result<(), ApiError> {
        match decide(&self.state.policy, query) {
            Decision::Allow => Ok(()),
            Decision::Deny(denial) => Err(ApiError::denied(&self.state.policy, query.endpoint, &denial)),
        }
    }

    /// Opens a directory to run in; the base directory where none is named. An endpoint that takes no path runs there
    /// alone.
    ///
    /// # Errors
    /// It is not there, or the rules do not let a program start in it.
    pub fn place(&self, asked: Option<&str>) -> Result<Workplace, GuardError> {
        let guard = &self.state.guard;
        let Some(rules) = self.rules().and_then(EndpointRules::of) else {
            return if asked.is_none() { self.base() } else { Err(GuardError::OUTSIDE) };
        };
        let asked = asked.map_or(guard.base_dir(), str::as_bytes);
        let path = NormalPath::new(guard.base_dir(), asked)?;
        let opened = guard.directory(&rules, &path, Op::Run)?;
        Ok(Workplace { handle: opened.fd, path: String::from_utf8_lossy(&opened.path).into_owned() })
    }

    /// The base directory, which the server itself runs in.
    fn base(&self) -> Result<Workplace, GuardError> {
        let path = OsStr::from_bytes(self.state.guard.base_dir());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(|_| GuardError::NotFound)?;
        Ok(Workplace { handle, path: path.to_string_lossy().into_owned() })
    }

    /// Finds a program and asks whether it may run.
    ///
    /// # Errors
    /// [`StartError::Refused`] and [`StartError::NotInstalled`].
    pub fn program(&self, engine: &Engine, command: &str, place: &Workplace) -> Result<Program, StartError> {
        let found = self.find(engine, command, place.handle.as_fd()).map_err(StartError::Refused)?;
        found.map_err(|error| match error {
            FindError::Unavailable => StartError::Busy,
            FindError::NotFound(_) | FindError::NotExecutable(_) => {
                StartError::NotInstalled(command.to_owned())
            }
        })
    }

    /// Asks whether a program may run, whether it is here or not.
    ///
    /// # Errors
    /// The refusal of the policy.
    pub fn find(
        &self,
        engine: &Engine,
        command: &str,
        directory: BorrowedFd<'_>,
    ) -> Result<Result<Program, FindError>, ApiError> {
        let found = engine.programs.find(command, directory);
        let (at, target) = match &found {
            Ok(program) => (Some(program.found().to_string_lossy()), Some(program.path().to_string_lossy())),
            Err(_) => (None, None),
        };
        let mut query = Query::of(self.endpoint);
        query.command =
            Some(CommandQuery { argv0: command, found: at.as_deref(), target: target.as_deref() });
        self.ask(&query)?;
        Ok(found)
    }

    /// Asks whether a child may be given variables of these names.
    ///
    /// # Errors
    /// 403 `variable_not_allowed`, naming the rule.
    pub fn variables<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<(), ApiError> {
        // A request carries it, and a child is given it: two lists, and either may refuse. What nobody may set for all
        // later children, `PATH` for one, an agent of its own may have.
        let set = self.rules().and_then(|rules| rules.params.variables.as_deref());
        let is_denied = |name: &str| set.is_some_and(|rules| rules.refuses(name).is_some());
        let mut named = Vec::new();
        for name in names {
            named.push(VariableQuery { name, usage: VariableUse::Carry });
            if is_denied(name) {
                named.push(VariableQuery { name, usage: VariableUse::Set });
            }
        }
        self.ask_variables(&named)
    }

    /// The same for variables of any use.
    ///
    /// # Errors
    /// 403 `variable_not_allowed`, naming the rule.
    pub fn ask_variables(&self, named: &[VariableQuery<'_>]) -> Result<(), ApiError> {
        let mut query = Query::of(self.endpoint);
        query.variables = named;
        self.ask(&query)
    }

    /// The variables of an agent: what every child gets, its own, and its secrets.
    ///
    /// # Errors
    /// A variable that is not allowed or cannot be passed on.
    pub fn environment(
        &self,
        engine: &Engine,
        recipe: &Recipe,
        place: &Workplace,
    ) -> Result<Vec<CString>, StartError> {
        self.variables(recipe.env.keys().chain(recipe.secrets.keys()).map(String::as_str))
            .map_err(StartError::Refused)?;
        let mut own = recipe.env.clone();
        own.extend(recipe.secrets.iter().map(|(name, value)| (name.clone(), value.clone())));
        own.insert("PWD".to_owned(), place.path.clone());
        if let Some(name) =
            own.keys().find(|name| self.state.secret_variables().any(|secret| secret == *name))
        {
            let why = crate::process::environment::Refused::Secret;
            return Err(StartError::Variable(VariableError::Refused { name: name.clone(), why }));
        }
        let denied = self.rules().and_then(|rules| rules.params.env.as_deref());
        let refused = |name: &str| denied.is_some_and(|rules| rules.refuses(name).is_some());
        engine.environment.block(&own, refused).map_err(StartError::Variable)
    }
}

impl Recipe {
    /// Command and arguments.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        std::iter::once(&self.command).chain(&self.args).cloned().collect()
    }
}
