//! The walk that search, grep and recursive listing share: beneath directory handles, each entry judged, two threads
//! where a tree is large enough to be worth it.

use super::descent::{HELD, Near};
use super::{FilesError, Stop};
use crate::guard::{Dir, Guard, GuardError, Kind, Listed, ListingBuffer, NormalPath, Op, PathJudge, kind_of};
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What a service needs to reach files: the guard, the rules of the endpoint, and when to stop.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// The guard.
    pub guard: &'a Guard,
    /// The endpoint's path rules.
    pub judge: &'a dyn PathJudge,
    /// When to stop.
    pub stop: &'a Stop,
}

impl std::fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("guard", self.guard).finish_non_exhaustive()
    }
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    /// The time was up before everything was seen.
    pub timed_out: bool,
    /// Entries left out because the rules refuse them.
    pub skipped: u64,
}

/// One entry of a tree, handed to a visitor.
pub(crate) struct Found<'d> {
    /// The directory that holds it.
    pub(crate) dir: &'d Dir,
    /// Its name.
    pub(crate) name: &'d [u8],
    /// Its path below the top of the walk.
    pub(crate) relative: &'d [u8],
    /// What it is; a link stays a link here.
    pub(crate) kind: Kind,
}

/// Looks at entries. Each thread has its own.
pub(crate) trait Visitor: Send {
    fn visit(&mut self, found: &Found<'_>);
}

/// A directory that waits to be read.
struct Task {
    /// What holds it. Far down nothing is held for a task, and [`Near`] finds the way.
    parent: Option<Arc<Dir>>,
    /// Its path below the top.
    relative: Vec<u8>,
    depth: usize,
    narrows: bool,
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    busy: usize,
    /// Directories were left unread because the work had to stop.
    cut: bool,
}

struct Shared<'a> {
    access: Access<'a>,
    top: Arc<Dir>,
    op: Op,
    max_depth: usize,
    queue: Mutex<Queue>,
    more: Condvar,
}

/// A tree this wide is worth a second thread.
const WIDE: usize = 4;

/// Walks everything below `top`, links neither followed nor left out: what to do with one is the visitor's business.
/// Directories that cannot be opened are passed over.
pub(crate) fn walk<V: Visitor>(
    access: Access<'_>,
    op: Op,
    top: Dir,
    max_depth: usize,
    make: impl Fn() -> V + Sync,
) -> Result<(Vec<V>, End), FilesError> {
    let narrows = access.guard.narrows_below(access.judge, top.path(), op);
    let top = Arc::new(top);
    let shared = Shared {
        access,
        top: Arc::clone(&top),
        op,
        max_depth,
        queue: Mutex::default(),
        more: Condvar::new(),
    };
    let mut first = Worker::new(&shared, make());
    first.read(top, &[], 1, narrows);
    let helper = shared.lock().tasks.len() >= WIDE;
    let mut workers = vec![];
    std::thread::scope(|scope| {
        let second = helper.then(|| {
            scope.spawn(|| {
                let mut worker = Worker::new(&shared, make());
                worker.run();
                worker
            })
        });
        first.run();
        workers.push(first);
        // A worker does not panic; if one ever did, its half of the answer would be missing, so say so.
        match second.map(std::thread::ScopedJoinHandle::join) {
            Some(Ok(worker)) => workers.push(worker),
            Some(Err(_)) => return Err(FilesError::Io(rustix::io::Errno::IO)),
            None => {}
        }
        Ok(())
    })?;
    let mut end = End { timed_out: shared.lock().cut, skipped: 0 };
    for worker in &workers {
        end.timed_out |= worker.end.timed_out;
        end.skipped += worker.end.skipped;
    }
    if access.stop.check() == Err(FilesError::Cancelled) {
        return Err(FilesError::Cancelled);
    }
    Ok((workers.into_iter().map(|worker| worker.visitor).collect(), end))
}

struct Worker<'s, 'a, V> {
    shared: &'s Shared<'a>,
    visitor: V,
    buffer: ListingBuffer,
    end: End,
    near: Near,
}

impl<'s, 'a, V: Visitor> Worker<'s, 'a, V> {
    fn new(shared: &'s Shared<'a>, visitor: V) -> Self {
        Self { shared, visitor, buffer: ListingBuffer::default(), end: End::default(), near: Near::default() }
    }

    fn run(&mut self) {
        while let Some(task) = self.shared.next() {
            let busy = Busy(self.shared);
            if let Some(dir) = self.open(&task) {
                self.read(Arc::new(dir), &task.relative, task.depth, task.narrows);
            }
            drop(busy);
        }
    }

    /// The directory of a task; `None` where it cannot be opened.
    fn open(&mut self, task: &Task) -> Option<Dir> {
        let cut = memchr::memrchr(b'/', &task.relative);
        let (above, name) = cut.map_or((&[][..], task.relative.as_slice()), |cut| {
            let (above, name) = task.relative.split_at(cut);
            (above, name.get(1..).unwrap_or_default())
        });
        match &task.parent {
            Some(parent) => parent.open_dir(name).ok(),
            None => self.near.reach(&self.shared.top, above)?.open_dir(name).ok(),
        }
    }

    /// Reads one directory and queues those in it.
    fn read(&mut self, dir: Arc<Dir>, above: &[u8], depth: usize, narrows: bool) {
        let Self { shared, visitor, buffer, end, near } = self;
        let Access { guard, judge, stop } = shared.access;
        let mut path = dir.path().to_vec();
        path.push(b'/');
        let path_stem = path.len();
        let mut relative = above.to_vec();
        if !relative.is_empty() {
            relative.push(b'/');
        }
        let stem = relative.len();
        let mut below = Vec::new();
        let mut counter = 0_u32;
        // An error in the middle of a listing ends this directory: what was seen stays.
        let _ = dir.read(buffer, |Listed { name, kind, sealed }| {
            counter = counter.wrapping_add(1);
            if counter % 64 == 1 && stop.check().is_err() {
                end.timed_out = true;
                return ControlFlow::Break(());
            }
            path.truncate(path_stem);
            path.extend_from_slice(name);
            if sealed || (narrows && guard.judge(judge, &path, shared.op).is_err()) {
                end.skipped += 1;
                return ControlFlow::Continue(());
            }
            let Some(kind) = kind.or_else(|| dir.stat(name).ok().map(|stat| kind_of(&stat))) else {
                return ControlFlow::Continue(());
            };
            relative.truncate(stem);
            relative.extend_from_slice(name);
            visitor.visit(&Found { dir: &dir, name, relative: &relative, kind });
            if kind == Kind::Directory && depth < shared.max_depth {
                let narrows = narrows && guard.narrows_below(judge, &path, shared.op);
                below.push(Task {
                    parent: (depth < HELD).then(|| Arc::clone(&dir)),
                    relative: relative.clone(),
                    depth: depth + 1,
                    narrows,
                });
            }
            ControlFlow::Continue(())
        });
        if !below.is_empty() {
            if depth >= HELD {
                near.keep(above, dir);
            }
            shared.push(below);
        }
    }
}

impl Shared<'_> {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, mut tasks: Vec<Task>) {
        self.lock().tasks.append(&mut tasks);
        self.more.notify_one();
    }

    /// The next directory; waits while another worker may still find some, and is `None` once all is done.
    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        loop {
            if self.access.stop.check().is_err() {
                queue.cut |= !queue.tasks.is_empty();
                queue.tasks.clear();
            }
            if let Some(task) = queue.tasks.pop() {
                queue.busy += 1;
                return Some(task);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self) {
        let mut queue = self.lock();
        queue.busy -= 1;
        if queue.busy == 0 && queue.tasks.is_empty() {
            self.more.notify_all();
        }
    }
}

/// A worker that holds a directory and may find more; however it ends, the other must not wait for it.
struct Busy<'s, 'a>(&'s Shared<'a>);

impl Drop for Busy<'_, '_> {
    fn drop(&mut self) {
        self.0.done();
    }
}

/// Whether a link found in a walk may be shown: the rules follow links and what it names is allowed.
pub(crate) fn link_target(
    access: Access<'_>,
    found: &Found<'_>,
    op: Op,
) -> Result<crate::guard::Opened, GuardError> {
    let path = NormalPath::new(b"/", &[found.dir.path(), b"/", found.name].concat())?;
    access.guard.entry(access.judge, &path, op, crate::guard::Last::Follow)
}
