//! A decision that allows an ASCII request allocates nothing.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets something odd should stop"
)]

#[path = "../../policy-lang/benches/decide/workload.rs"]
mod workload;

mod said;

use policy_lang::decide::{Decision, Op, PathQuery, Query, decide};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system allocator unchanged; counting touches a thread-local cell only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn allowing_allocates_nothing() {
    for count in [10, 1_000] {
        let (policy, holders, requests) =
            (workload::policy(count), workload::holders(), workload::requests(4096));
        // As a server does at its start.
        policy.prepare().unwrap();
        let mut allowed = 0;
        for request in &requests {
            let path = [PathQuery { role: "path", path: request.path.as_bytes(), op: Op::Write }];
            let takes_paths =
                policy.endpoint(request.endpoint).is_some_and(|endpoint| endpoint.paths.is_some());
            let query = Query {
                scopes: Some(&holders[request.holder]),
                paths: if takes_paths { &path } else { &[] },
                request_bytes: Some(10),
                bytes: Some(10),
                ..Query::of(request.endpoint)
            };
            let before = COUNT.with(Cell::get);
            let decision = decide(&policy, &query);
            let made = COUNT.with(Cell::get) - before;
            if decision == Decision::Allow {
                allowed += 1;
                assert_eq!(made, 0, "{}", request.path);
            }
        }
        assert!(allowed > 1000, "the mix allows {allowed}");
    }
}
