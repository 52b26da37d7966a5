//! A future whose parts wake one another, polled until they have nothing left to tell each other.
//!
//! Woken while it runs, a task of tokio goes to the end of the queue, and an idle thread is woken that may take it over. A
//! multiplexer and its streams do that for every frame.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;
use tokio::task::coop;

/// Not polled now, and not woken since it was.
const RESTING: u8 = 0;

/// Being polled, and not woken since that began.
const POLLED: u8 = 1;

/// To be polled again.
const WOKEN: u8 = 2;

/// What the parts wake.
#[derive(Debug, Default)]
struct Bell {
    state: AtomicU8,
    task: AtomicWaker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == RESTING {
            self.task.wake();
        }
    }
}

/// Runs `future` to its end. Between two rounds the task gives way where it has used up its share of the thread.
pub(super) async fn rounds<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    poll_fn(|context| {
        bell.task.register(context.waker());
        let mut inner = Context::from_waker(&waker);
        loop {
            bell.state.store(POLLED, Ordering::Release);
            if let Poll::Ready(end) = future.as_mut().poll(&mut inner) {
                return Poll::Ready(end);
            }
            let rests = bell.state.compare_exchange(POLLED, RESTING, Ordering::AcqRel, Ordering::Acquire);
            if rests.is_ok() {
                return Poll::Pending;
            }
            // Where the share is used up this has woken the task, for when it has been the others' turn.
            match coop::poll_proceed(context) {
                Poll::Ready(round) => round.made_progress(),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    /// A task's waker that counts.
    #[derive(Debug, Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_wakes_itself_is_polled_again_at_once() {
        let mut polls = 0;
        let ends_at_five = poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls == 5 { Poll::Ready(polls) } else { Poll::Pending }
        });
        assert_eq!(rounds(ends_at_five).now_or_never(), Some(5));
    }

    #[test]
    fn what_is_woken_from_elsewhere_wakes_the_task_once() {
        let (kept, woken) = (Mutex::new(None), Arc::new(Woken::default()));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut future = Box::pin(rounds(poll_fn(|context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::<()>::Pending
        })));
        for round in 0..2 {
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert_eq!(woken.0.load(Ordering::Relaxed), round);
            let inner: Waker = kept.lock().unwrap().take().unwrap();
            inner.wake_by_ref();
            inner.wake();
            assert_eq!(woken.0.load(Ordering::Relaxed), round + 1);
        }
    }

    #[tokio::test]
    async fn what_wakes_itself_for_ever_lets_others_run() {
        let restless = tokio::spawn(rounds(poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        })));
        tokio::task::yield_now().await;
        restless.abort();
        assert!(restless.await.unwrap_err().is_cancelled());
    }
}
