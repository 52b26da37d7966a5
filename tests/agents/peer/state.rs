//! What the scripted agent was told at start, and what it remembers of its conversations.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub struct Setup {
    pub can: Vec<String>,
    pub offer: Vec<String>,
    pub auth: Vec<String>,
    pub require_auth: bool,
    pub store: Option<PathBuf>,
    pub early: bool,
    pub sleepy: bool,
    pub name: String,
    pub noise: bool,
    pub ignore_term: bool,
    pub ignore_eof: bool,
    pub escape: bool,
    pub login: bool,
    pub die: Option<i32>,
}

impl Setup {
    pub fn read(mut args: impl Iterator<Item = String>) -> Self {
        let mut setup = Self { name: "scripted".to_owned(), ..Self::default() };
        let list = |text: Option<String>| text.unwrap().split(',').map(str::to_owned).collect();
        while let Some(flag) = args.next() {
            match flag.as_str() {
                "--can" => setup.can = list(args.next()),
                "--offer" => setup.offer = list(args.next()),
                "--auth" => setup.auth = list(args.next()),
                "--require-auth" => setup.require_auth = true,
                "--store" => setup.store = args.next().map(PathBuf::from),
                "--early" => setup.early = true,
                "--sleepy" => setup.sleepy = true,
                "--name" => setup.name = args.next().unwrap(),
                "--noise" => setup.noise = true,
                "--ignore-term" => setup.ignore_term = true,
                "--ignore-eof" => setup.ignore_eof = true,
                "--escape" => setup.escape = true,
                "--login" => setup.login = true,
                "--die" => setup.die = Some(args.next().unwrap().parse().unwrap()),
                other => panic!("unknown flag {other}"),
            }
        }
        setup
    }

    pub fn can(&self, what: &str) -> bool {
        self.can.iter().any(|can| can == what)
    }

    pub fn offers(&self, what: &str) -> bool {
        self.offer.iter().any(|offer| offer == what)
    }
}

/// A conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Conversation {
    pub cwd: String,
    /// Every update of it, for a replay.
    pub history: Vec<Value>,
    pub mcp: Value,
    pub directories: Value,
    pub mode: String,
    pub model: String,
    pub verbose: bool,
}

#[derive(Debug, Default)]
pub struct Live {
    /// Cancelled by `session/cancel` of the running prompt.
    pub prompt: Option<CancellationToken>,
    /// What it was steered with.
    pub steered: Vec<String>,
}

#[derive(Debug)]
pub struct Peer {
    pub setup: Setup,
    conversations: Mutex<BTreeMap<String, Conversation>>,
    live: Mutex<HashMap<String, Live>>,
    pub signed_in: Mutex<bool>,
}

impl Peer {
    pub fn new(setup: Setup) -> Self {
        let stored = setup.store.as_ref().and_then(|path| std::fs::read(path).ok());
        let conversations = stored.map(|text| serde_json::from_slice(&text).unwrap()).unwrap_or_default();
        Self {
            setup,
            conversations: Mutex::new(conversations),
            live: Mutex::default(),
            signed_in: Mutex::new(false),
        }
    }

    pub fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.live.lock().unwrap()
    }

    /// A name that no conversation has, in this process or an earlier one.
    pub fn fresh(&self) -> String {
        let count = self.conversations.lock().unwrap().len();
        format!("native-{}-{count}", std::process::id())
    }

    pub fn get(&self, id: &str) -> Option<Conversation> {
        self.conversations.lock().unwrap().get(id).cloned()
    }

    pub fn all(&self) -> BTreeMap<String, Conversation> {
        self.conversations.lock().unwrap().clone()
    }

    pub fn change(&self, id: &str, change: impl FnOnce(&mut Conversation)) {
        let mut all = self.conversations.lock().unwrap();
        change(all.entry(id.to_owned()).or_default());
        self.keep(&all);
    }

    pub fn remove(&self, id: &str) -> bool {
        let mut all = self.conversations.lock().unwrap();
        let there = all.remove(id).is_some();
        self.keep(&all);
        there
    }

    fn keep(&self, all: &BTreeMap<String, Conversation>) {
        if let Some(path) = &self.setup.store {
            let next = path.with_extension("next");
            std::fs::write(&next, serde_json::to_vec(all).unwrap()).unwrap();
            std::fs::rename(next, path).unwrap();
        }
    }
}

/// A handle to both, as tasks hold it.
pub type Shared = Arc<Peer>;
