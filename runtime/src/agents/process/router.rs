//! Which session a message belongs to, and what is kept for one that is not known yet.
//!
//! An agent may tell of a session before the answer that names it has been read. Such messages wait, bounded, until
//! whoever opened the session attaches; then they come first and in order.

use super::noise::Quota;
use crate::agents::acp::{Asked, Ended, Inbox, Noise, RpcFault};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Messages that may wait for sessions that nobody has attached to, and bytes of them.
const MAX_HELD: (usize, usize) = (4096, 16 << 20);

type Answer = BoxFuture<'static, Result<Value, RpcFault>>;

/// The listener of an agent process: hands each message to the session that it names.
#[derive(Default)]
pub(super) struct Router {
    process_id: String,
    state: Mutex<State>,
    attached: Notify,
}

#[derive(Default)]
struct State {
    sessions: HashMap<String, Slot>,
    held: (usize, usize),
    dropped: u64,
    noise: Quota,
}

#[derive(Default)]
struct Slot {
    inbox: Option<Arc<dyn Inbox>>,
    session_id: Option<String>,
    waiting: VecDeque<Held>,
}

enum Held {
    Told { method: String, params: Value, bytes: usize },
    Asked { asked: Asked, begun: oneshot::Sender<Answer> },
}

impl Router {
    /// The listener of this process.
    pub(super) fn of(process_id: &str) -> Self {
        Self { process_id: process_id.to_owned(), ..Self::default() }
    }

    /// A session listens under the agent's name for it. What has waited is handed to it by the task that reads, so this
    /// returns at once. What was printed before anybody listened is told to the first who does.
    pub(super) fn attach(&self, native: &str, session_id: &str, inbox: Arc<dyn Inbox>) {
        let mut state = self.state();
        let slot = state.sessions.entry(native.to_owned()).or_default();
        slot.inbox = Some(inbox);
        slot.session_id = Some(session_id.to_owned());
        self.tell_noise(&mut state);
        drop(state);
        self.attached.notify_one();
    }

    /// The session listens no more.
    pub(super) fn detach(&self, native: &str) {
        let mut state = self.state();
        if let Some(slot) = state.sessions.remove(native) {
            slot.waiting.iter().for_each(|held| state.release(held));
        }
    }

    /// The sessions that listen, by our ids.
    pub(super) fn session_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> =
            self.state().sessions.values().filter_map(|slot| slot.session_id.clone()).collect();
        ids.sort_unstable();
        ids
    }

    /// The agent's own name for one of our sessions that listens.
    pub(super) fn native(&self, session_id: &str) -> Option<String> {
        let state = self.state();
        let found = state.sessions.iter().find(|(_, slot)| slot.session_id.as_deref() == Some(session_id));
        found.map(|(native, _)| native.clone())
    }

    /// Messages that were dropped since nobody attached.
    pub(super) fn dropped(&self) -> u64 {
        self.state().dropped
    }

    /// Returns when somebody has attached.
    pub(super) async fn somebody_attached(&self) {
        self.attached.notified().await;
    }

    /// A line that is no message, what is kept of it, its bytes, and whether that is all.
    pub(super) fn noise(&self, text: &str, bytes: u64, whole: bool) {
        let mut state = self.state();
        state.noise.push(text, bytes, whole);
        self.tell_noise(&mut state);
    }

    /// Returns when there is noise that may be told.
    pub(super) async fn noise_is_due(&self) {
        let due = {
            let state = self.state();
            state.noise.due().filter(|_| state.listening().next().is_some())
        };
        match due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Tells every session what may be told of noise: no line of it says whose it is.
    fn tell_noise(&self, state: &mut State) {
        if state.listening().next().is_some() {
            let noise: Vec<Noise> = state.noise.take().collect();
            self.hand_out(state, noise);
        }
    }

    fn hand_out(&self, state: &State, noise: Vec<Noise>) {
        for noise in noise {
            state.listening().for_each(|inbox| inbox.noise(&self.process_id, &noise));
        }
    }

    /// Hands over what has waited for sessions that listen by now. To be called by the one task that reads.
    pub(super) async fn settle(&self) {
        self.tell_noise(&mut self.state());
        loop {
            let next = {
                let mut state = self.state();
                let ready = state
                    .sessions
                    .values_mut()
                    .find_map(|slot| Some((slot.inbox.clone()?, slot.waiting.pop_front()?)));
                if let Some((_, held)) = &ready {
                    state.release(held);
                }
                ready
            };
            match next {
                None => return,
                Some((inbox, Held::Told { method, params, .. })) => inbox.notification(&method, params).await,
                // Whoever waits for it is gone where the request was cancelled.
                Some((inbox, Held::Asked { asked, begun })) => drop(begun.send(inbox.request(asked))),
            }
        }
    }

    /// Those whom a message concerns: the session that it names, or all where it names none.
    fn concerned(&self, params: &Value) -> Vec<Arc<dyn Inbox>> {
        let state = self.state();
        match params.get("sessionId").and_then(Value::as_str) {
            Some(native) => {
                state.sessions.get(native).and_then(|slot| slot.inbox.clone()).into_iter().collect()
            }
            None => state.listening().cloned().collect(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Keeps a message for a session that nobody listens for. False where there is no room.
    fn hold(&mut self, native: &str, held: Held) -> bool {
        let bytes = held.bytes();
        if self.held.0 >= MAX_HELD.0 || self.held.1 + bytes > MAX_HELD.1 {
            self.dropped += 1;
            return false;
        }
        self.held.0 += 1;
        self.held.1 += bytes;
        self.sessions.entry(native.to_owned()).or_default().waiting.push_back(held);
        true
    }

    fn listening(&self) -> impl Iterator<Item = &Arc<dyn Inbox>> {
        self.sessions.values().filter_map(|slot| slot.inbox.as_ref())
    }

    fn release(&mut self, held: &Held) {
        self.held.0 = self.held.0.saturating_sub(1);
        self.held.1 = self.held.1.saturating_sub(held.bytes());
    }
}

impl Held {
    fn bytes(&self) -> usize {
        match self {
            Self::Told { bytes, .. } => *bytes,
            // A request is held with its whole task: counted as a kilobyte.
            Self::Asked { .. } => 1024,
        }
    }
}

impl Inbox for Router {
    fn notification<'a>(&'a self, method: &'a str, params: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.settle().await;
            let concerned = self.concerned(&params);
            if concerned.is_empty()
                && let Some(native) = params.get("sessionId").and_then(Value::as_str)
            {
                let native = native.to_owned();
                let bytes = params.to_string().len();
                self.state().hold(&native, Held::Told { method: method.to_owned(), params, bytes });
                return;
            }
            let Some((last, others)) = concerned.split_last() else { return };
            for inbox in others {
                inbox.notification(method, params.clone()).await;
            }
            last.notification(method, params).await;
        })
    }

    fn request(&self, asked: Asked) -> Answer {
        let native = asked.params.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let concerned = self.concerned(&asked.params);
        let waits = native.as_ref().is_some_and(|native| {
            self.state().sessions.get(native).is_some_and(|slot| !slot.waiting.is_empty())
        });
        match (native, concerned.as_slice()) {
            // Without a name it is for the only session there is.
            (None, [only]) => only.request(asked),
            (None, _) => Box::pin(std::future::ready(Err(RpcFault::invalid_params("sessionId is missing")))),
            (Some(_), [session]) if !waits => session.request(asked),
            (Some(native), _) => {
                let (begun, answer) = oneshot::channel::<Answer>();
                let kept = self.state().hold(&native, Held::Asked { asked, begun });
                Box::pin(async move {
                    match answer.await {
                        Ok(answer) if kept => answer.await,
                        _ => Err(RpcFault::invalid_params("Nobody listens for this session")),
                    }
                })
            }
        }
    }

    fn closed<'a>(&'a self, ended: &'a Ended) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.settle().await;
            let slots: Vec<Slot> = {
                let mut state = self.state();
                let noise: Vec<Noise> = state.noise.finish().collect();
                self.hand_out(&state, noise);
                state.sessions.drain().map(|(_, slot)| slot).collect()
            };
            for inbox in slots.into_iter().filter_map(|slot| slot.inbox) {
                inbox.closed(ended).await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, Asked, BoxFuture, Ended, Inbox, Mutex, Router, RpcFault, Value};
    use serde_json::json;

    #[derive(Default)]
    struct Session(Mutex<Vec<String>>);

    impl Session {
        fn taken(&self) -> Vec<String> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }
    }

    impl Inbox for Session {
        fn notification<'a>(&'a self, method: &'a str, params: Value) -> BoxFuture<'a, ()> {
            self.0.lock().unwrap().push(format!("{method} {}", params["n"]));
            Box::pin(std::future::ready(()))
        }

        fn request(&self, asked: Asked) -> BoxFuture<'static, Result<Value, RpcFault>> {
            self.0.lock().unwrap().push(format!("{}?", asked.method));
            Box::pin(std::future::ready(Ok(asked.params)))
        }

        fn closed<'a>(&'a self, _ended: &'a Ended) -> BoxFuture<'a, ()> {
            self.0.lock().unwrap().push("closed".to_owned());
            Box::pin(std::future::ready(()))
        }
    }

    fn asked(native: &str) -> Asked {
        Asked { id: json!(1), method: "ask".to_owned(), params: json!({"sessionId": native}) }
    }

    #[tokio::test]
    async fn what_came_early_comes_first_and_in_order() {
        let router = Router::default();
        for n in 1..=2 {
            router.notification("update", json!({"sessionId": "a", "n": n})).await;
        }
        let early = router.request(asked("a"));
        let (a, b) = (Arc::new(Session::default()), Arc::new(Session::default()));
        router.attach("b", "ses_b", b.clone());
        router.attach("a", "ses_a", a.clone());
        // Attached and not settled yet: nothing may overtake.
        let late = router.request(asked("a"));
        router.notification("update", json!({"sessionId": "a", "n": 3})).await;
        assert_eq!(early.await, Ok(json!({"sessionId": "a"})));
        assert_eq!(late.await, Ok(json!({"sessionId": "a"})));
        assert_eq!(a.taken(), ["update 1", "update 2", "ask?", "ask?", "update 3"]);
        router.notification("told", json!({"n": 4})).await;
        router.closed(&Ended::default()).await;
        assert_eq!(
            (a.taken(), b.taken()),
            (vec!["told 4".into(), "closed".into()], vec!["told 4".into(), "closed".into()])
        );
        assert_eq!(router.session_ids(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn what_nobody_attaches_to_is_bounded() {
        let router = Router::default();
        for n in 0..5000 {
            router.notification("update", json!({"sessionId": "a", "n": n})).await;
        }
        assert_eq!(router.dropped(), 5000 - 4096);
        let refused = router.request(asked("a")).await;
        assert_eq!(refused, Err(RpcFault::invalid_params("Nobody listens for this session")));
        router.detach("a");
        router.notification("update", json!({"sessionId": "b", "n": 1})).await;
        assert_eq!(router.dropped(), 5001 - 4096);
    }

    #[tokio::test]
    async fn a_request_without_a_session_is_for_the_only_one() {
        let router = Router::default();
        let ask = || Asked { id: json!(1), method: "ask".to_owned(), params: Value::Null };
        assert!(router.request(ask()).await.is_err());
        router.attach("a", "ses_a", Arc::new(Session::default()));
        assert_eq!(router.request(ask()).await, Ok(Value::Null));
        router.attach("b", "ses_b", Arc::new(Session::default()));
        assert!(router.request(ask()).await.is_err());
        assert_eq!(router.session_ids(), ["ses_a", "ses_b"]);
    }
}
