//! Coding agents under supervision: the service behind the agents group.
//!
//! - [`acp`]: the wire to an agent, untyped JSON-RPC over lines
//! - [`process`]: agent processes on the engine of all children
//! - [`catalogue`]: which agents can run here
//! - `start`: an agent of the catalogue into a process
//! - [`install`]: agents installed for this server alone
//! - [`credentials`]: secrets by name, and taking them out of every text
//! - [`ids`]: names of everything that is kept, a prefix and a ULID
//! - [`store`]: one SQLite database, one writer, many readers
//! - [`sessions`], [`turns`]: conversations, and the prompts that make them up
//! - [`requests`], [`rules`]: what agents ask people, and what people have decided for good
//! - [`weight`]: what waits in memory, by about how much it takes
//! - [`once`]: calls that must not be done twice
//! - [`options`], [`plan`]: what agents let a caller choose, and what they mean to do
//! - [`workspace`]: what changed on disk, and how to go back
//! - [`log`]: numbered events, on disk before anybody sees them, and following them
//! - [`items`]: the transcript that the events are reduced to
//! - [`search`]: full text over all transcripts
//! - [`artifacts`]: what agents hand over
//! - [`usage`]: tokens, cost and context
//! - [`bundle`]: sessions on their way out and in
//! - [`mcp`], [`skills`]: tools and instructions that agents are given
//! - [`schedules`], [`webhooks`]: runs without a person at the keyboard, and telling others; [`automation`] runs both
//!
//! Everything that is to survive is in the store; memory holds only what is live. [`Agents`] touches no file when it is
//! made: the store opens when it is first asked for.

pub mod acp;
pub mod artifacts;
pub mod automation;
pub mod bundle;
pub mod catalogue;
pub mod credentials;
mod cut;
pub mod ids;
pub mod install;
pub mod items;
pub mod log;
pub mod mcp;
pub mod once;
pub mod options;
pub mod plan;
pub mod process;
pub mod requests;
pub mod rules;
pub mod schedules;
pub mod search;
pub mod sessions;
pub mod skills;
mod start;
pub mod store;
#[cfg(test)]
pub(crate) mod testing;
pub mod turns;
pub mod usage;
pub mod webhooks;
pub mod weight;
pub mod workspace;

use crate::env::Withheld;
use crate::guard::Seals;
use crate::process::Engine;
use credentials::{Credentials, Masks};
use install::Installs;
use log::{Bounds, Log};
use process::Processes;
use sessions::live::Live;
use std::path::PathBuf;
use std::sync::Arc;
use store::{Place, Store, StoreError};
use tokio::sync::OnceCell;

/// The service. One a server.
#[derive(Debug)]
pub struct Agents {
    /// Every agent process.
    pub processes: Processes,
    /// Secrets by name.
    pub credentials: Credentials,
    /// What is installed for this server alone.
    pub installs: Installs,
    /// Known secrets, for every text that leaves.
    pub masks: Arc<Masks>,
    /// The directories that sessions work in.
    pub workspaces: workspace::Workspaces,
    /// The engine of all children.
    pub engine: Arc<Engine>,
    /// What works without a call.
    pub automation: automation::Automation,
    /// Every session that is served.
    pub live: Arc<Live>,
    place: Place,
    seals: Arc<Seals>,
    opened: OnceCell<Opened>,
}

/// What is there once the store is open.
#[derive(Debug)]
pub struct Opened {
    /// The database.
    pub store: Store,
    /// The log of all sessions.
    pub log: Log,
}

impl Agents {
    /// A service that keeps its state beneath `state_dir`, which must lie outside `base_dir`, and starts its agents on
    /// `engine`. `withheld` is what the environment said and no child gets by itself; the state is sealed in `seals`. Touches
    /// no file.
    #[must_use]
    pub fn new(
        state_dir: PathBuf,
        base_dir: PathBuf,
        engine: Arc<Engine>,
        withheld: Arc<Withheld>,
        seals: Arc<Seals>,
    ) -> Self {
        let installs = Installs::new(&state_dir);
        let place = Place { state_dir, base_dir };
        let masks = Arc::<Masks>::default();
        let folder = place.folder();
        let processes = Processes::new(Arc::clone(&engine), folder.join("logs"), Arc::clone(&masks));
        let credentials = Credentials::new(folder.join("credentials.json"), withheld, Arc::clone(&masks));
        let workspaces = workspace::Workspaces::default();
        let automation = automation::Automation::default();
        Self {
            processes,
            credentials,
            installs,
            masks,
            engine,
            workspaces,
            automation,
            live: Arc::default(),
            place,
            seals,
            opened: OnceCell::new(),
        }
    }

    /// What the store holds, opening it where nobody has yet.
    ///
    /// # Errors
    /// That it cannot be opened; the next call tries again.
    pub async fn open(&self) -> Result<&Opened, StoreError> {
        let open = async || {
            let store = Store::open(self.place.clone()).await?;
            // It may have been made just now.
            self.seals.hold_state(&self.place.state_dir);
            let log = Log::new(store.clone(), Bounds::default());
            sessions::recover::recover(&store, &log).await?;
            Ok(Opened { store, log })
        };
        self.opened.get_or_try_init(open).await
    }

    /// The database.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn store(&self) -> Result<&Store, StoreError> {
        Ok(&self.open().await?.store)
    }

    /// The log of all sessions.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn log(&self) -> Result<&Log, StoreError> {
        Ok(&self.open().await?.log)
    }

    /// Whether an earlier server has left a database, so that there is something to go on with after a start.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.place.database().exists()
    }
}
