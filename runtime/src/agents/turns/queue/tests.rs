//! The queue against a list kept beside it, under any order of events.

use super::{NotTheQueue, Queue, QueueFull};
use proptest::prelude::*;

const MOST: usize = 5;

#[derive(Debug, Clone)]
enum Step {
    Push,
    Start,
    Finish,
    Remove(prop::sample::Index),
    Reverse,
    Pause(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Push),
        3 => Just(Step::Start),
        3 => Just(Step::Finish),
        1 => any::<prop::sample::Index>().prop_map(Step::Remove),
        1 => Just(Step::Reverse),
        1 => any::<bool>().prop_map(Step::Pause),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #[test]
    fn one_in_flight_and_the_order_kept(steps in steps()) {
        let mut queue = Queue::default();
        let mut model: Vec<String> = Vec::new();
        let (mut running, mut paused, mut next) = (None::<String>, false, 0);
        for step in steps {
            match step {
                Step::Push => {
                    let turn = format!("t{next}");
                    next += 1;
                    let pushed = queue.push(turn.clone(), MOST);
                    prop_assert_eq!(pushed, if model.len() < MOST { Ok(()) } else { Err(QueueFull) });
                    if pushed.is_ok() {
                        model.push(turn);
                    }
                }
                Step::Start => {
                    let may = running.is_none() && !paused && !model.is_empty();
                    prop_assert_eq!(queue.can_start(), may);
                    let started = queue.start().map(str::to_owned);
                    prop_assert_eq!(started.is_some(), may);
                    if may {
                        prop_assert_eq!(started.as_deref(), Some(model[0].as_str()));
                        running = Some(model.remove(0));
                    }
                }
                Step::Finish => {
                    prop_assert!(!queue.finish("another"));
                    if let Some(turn) = running.take() {
                        prop_assert!(queue.finish(&turn));
                    }
                }
                Step::Remove(at) if !model.is_empty() => {
                    let turn = model.remove(at.index(model.len()));
                    prop_assert!(queue.remove(&turn));
                    prop_assert!(!queue.remove(&turn));
                }
                Step::Remove(_) => prop_assert!(!queue.remove("nothing")),
                Step::Reverse => {
                    model.reverse();
                    prop_assert_eq!(queue.reorder(&model), Ok(()));
                }
                Step::Pause(pause) => {
                    paused = pause;
                    queue.pause(pause);
                }
            }
            prop_assert_eq!(queue.waiting().map(str::to_owned).collect::<Vec<_>>(), model.clone());
            prop_assert_eq!(queue.in_flight(), running.as_deref());
            for (at, turn) in model.iter().enumerate() {
                prop_assert_eq!(queue.position(turn), Some(at + 1));
            }
        }
    }
}

#[test]
fn an_order_names_every_waiting_turn_once() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut queue = Queue::of(names(&["a", "b", "c"]), true);
    for bad in [&["a", "b"][..], &["a", "b", "b"], &["a", "b", "d"], &["a", "b", "c", "c"]] {
        assert_eq!(queue.reorder(&names(bad)), Err(NotTheQueue), "{bad:?}");
    }
    assert_eq!(queue.reorder(&names(&["c", "a", "b"])), Ok(()));
    assert_eq!(queue.waiting().collect::<Vec<_>>(), ["c", "a", "b"]);
    assert_eq!(queue.start(), None);
    queue.pause(false);
    assert_eq!(queue.start(), Some("c"));
    queue.push_front("z".to_owned());
    assert_eq!(queue.clear(), ["z", "a", "b"]);
}
