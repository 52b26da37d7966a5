//! Everything that one policy brings with it; replaced as a whole on reload.

use crate::auth::Tokens;
use crate::engine::Engine;
use crate::guard::Guard;
use policy_lang::endpoint::{EndpointId, Group};
use policy_lang::form::FormError;
use policy_lang::policy::{CompiledPolicy, EndpointPolicy};
use policy_lang::resolved::EndpointIx;

/// A policy in force, and what counts by it.
#[derive(Debug)]
pub struct PolicyState {
    /// The rules.
    pub policy: CompiledPolicy,
    /// The door to the file system.
    pub guard: Guard,
    /// Who may call.
    pub tokens: Tokens,
    /// How messages call where it was read from.
    pub source: String,
    /// What was found about the policy and did not keep it from going into force, one sentence each.
    pub warnings: Vec<String>,
    /// How often and how many at once.
    pub(crate) engine: Engine,
}

/// Why a policy that could be loaded cannot go into force.
#[derive(Debug, thiserror::Error)]
pub enum Unprepared {
    /// A compiled set with a value that the compiler would have refused.
    #[error("{0}: {1}")]
    Policy(String, FormError),
    /// The system's error.
    #[error("cannot open the directories that the policy names: {0}")]
    Directories(std::io::Error),
}

/// What is said where the agents group is open and nobody needs a token.
const ANSWERS_ITSELF: &str = "the agents group is open and no token is set: every process that reaches the port, an agent \
     too, can call it and answer its own requests; set `ABX_SERVER_TOKEN` or `auth.tokens`";

impl PolicyState {
    /// Puts a policy together with its principals. Calls under way and rates that did not change are counted on.
    #[must_use]
    pub fn new(
        policy: CompiledPolicy,
        tokens: Tokens,
        guard: Guard,
        warnings: Vec<String>,
        earlier: Option<&Self>,
    ) -> Self {
        let engine = Engine::new(tokens.principals().len(), policy.endpoints().len());
        let mut state = Self { policy, guard, tokens, source: String::new(), warnings, engine };
        if state.tokens.is_open() && state.opens(Group::Agents) {
            state.warnings.push(ANSWERS_ITSELF.to_owned());
        }
        if let Some(earlier) = earlier {
            state.count_on(earlier);
        }
        state
    }

    /// Does what only a decision about a path needs: reads the path rules of a compiled set, sorts them into tables and opens
    /// the directories that they name, but for those that `earlier` holds. Until it is done, a call that needs it waits.
    ///
    /// # Errors
    /// An entry that the compiler does not accept, or a directory that cannot be opened for a reason that lies in the process.
    pub fn prepare(&self, earlier: Option<&Self>) -> Result<(), Unprepared> {
        self.policy.prepare().map_err(|error| Unprepared::Policy(self.source.clone(), error))?;
        let rules = self.policy.path_rules();
        let roots: Vec<&[u8]> = rules.iter().flat_map(|rules| rules.roots()).collect();
        let held = self.guard.hold(&roots, earlier.map(|earlier| &earlier.guard));
        held.map_err(|error| Unprepared::Directories(error.into()))
    }

    /// Whether `pty_connect` answers, so that its listener is worth opening.
    #[must_use]
    pub fn serves_terminals(&self) -> bool {
        self.policy.endpoint(index(EndpointId::PtyConnect)).is_some_and(|endpoint| endpoint.enabled.value)
    }

    /// Whether any declared endpoint of a group answers.
    #[must_use]
    pub fn opens(&self, group: Group) -> bool {
        let of_group = |ix| self.policy.decl(ix).is_some_and(|decl| decl.group == group);
        self.policy.endpoints().any(|(ix, endpoint)| endpoint.enabled.value && of_group(ix))
    }

    /// The variables that hold secrets of this policy's tokens: no child may inherit them.
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        let tokens = self.policy.resolved().tokens.iter().flatten();
        tokens.filter_map(|token| token.token_env.as_deref())
    }

    fn count_on(&self, earlier: &Self) {
        let rate = |endpoint: &EndpointPolicy| endpoint.limits.rate_per_minute.map(|rate| rate.value);
        for (ix, endpoint) in self.policy.endpoints() {
            // Custom routes are numbered anew by each process, never by a reload: the index names the same endpoint.
            let same_rate = earlier.policy.endpoint(ix).map(rate) == Some(rate(endpoint));
            for who in self.tokens.principals() {
                let Some(before) = earlier.tokens.principals().iter().find(|before| before.id == who.id)
                else {
                    continue;
                };
                let at = usize::from(ix.0);
                self.engine.adopt((who.index, at), &earlier.engine, (before.index, at), same_rate);
            }
        }
    }
}

/// The index of a declared endpoint.
#[must_use]
pub fn index(id: EndpointId) -> EndpointIx {
    EndpointIx(id as u16)
}
