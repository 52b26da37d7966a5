//! The raw calls that no safe crate offers: starting a child from a handle, and seeing which child has ended.
//!
//! This is the one file of the process engine with `unsafe` in it. [`start`] does what `posix_spawn` does (the child
//! borrows the parent's memory until it has executed, so the cost does not grow with the server), and what it cannot
//! do: execute an open handle, give back a pidfd, enter a directory handle, take a controlling terminal, and mark the
//! child's whole descent.
#![expect(
    unsafe_code,
    reason = "starting a child from a handle and peeking at its end have no safe interface"
)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::sync::Arc;

use tokio::io::unix::AsyncFd;

use super::apart::Apart;

/// What the child executes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Image<'a> {
    /// The file behind this handle, whatever stands at its name by now.
    Handle(BorrowedFd<'a>),
    /// The file of this name; for scripts, whose interpreter opens them by name.
    Path(&'a CStr),
}

/// Another user to run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// User id.
    pub uid: u32,
    /// Group id; the only group the child is in.
    pub gid: u32,
}

/// Everything about a child that must be ready before it exists: between its birth and its execution nothing may be
/// allocated and no lock taken.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// What to execute.
    pub(super) image: Image<'a>,
    /// Arguments, the program's own name first.
    pub(super) argv: &'a [CString],
    /// `NAME=value` entries.
    pub(super) env: &'a [CString],
    /// Standard input, output and error.
    pub(super) stdio: [BorrowedFd<'a>; 3],
    /// What it finds from descriptor 3 on. Neither these nor an [`Image::Handle`] may have a number that one of them
    /// takes in the child.
    pub(super) handles: &'a [OwnedFd],
    /// The working directory.
    pub(super) cwd: BorrowedFd<'a>,
    /// What it is in.
    pub(super) apart: Apart,
    /// A terminal that becomes the controlling one; only in a session.
    pub(super) terminal: Option<BorrowedFd<'a>>,
    /// The mark that all descendants inherit.
    pub(super) tag: Option<u64>,
    /// What to write into `oom_score_adj`.
    pub(super) oom_score: Option<&'a CStr>,
    /// Who to run as, if not as the server.
    pub(super) identity: Option<Identity>,
    /// This process, where the child is to be killed when the thread that starts it ends.
    pub(super) dies_with: Option<rustix::process::Pid>,
}

/// A child that has executed its program.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) pid: i32,
    pub(super) pidfd: OwnedFd,
}

/// Bytes of stack for the child until it executes; it calls a dozen thin wrappers and nothing deep.
const CHILD_STACK: usize = 64 * 1024;

/// What parent and child share while the child runs in the parent's memory.
struct Shared<'a> {
    plan: &'a Plan<'a>,
    argv: *const *const libc::c_char,
    env: *const *const libc::c_char,
    error: i32,
}

/// Starts the child and returns once it has executed.
///
/// # Errors
/// The error of the step that failed, the execution itself included. No child is left behind then.
pub(super) fn start(plan: &Plan<'_>) -> io::Result<Started> {
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, env) = (pointers(plan.argv), pointers(plan.env));
    let mut shared = Shared { plan, argv: argv.as_ptr(), env: env.as_ptr(), error: 0 };
    let mut stack: Vec<u128> = Vec::with_capacity(CHILD_STACK / size_of::<u128>());
    let mut pidfd: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;

    // SAFETY: with CLONE_VFORK this thread sleeps until the child has executed or ended, so everything the child
    // reads through `shared` stays alive and unchanged, and `stack` is used by the child alone; its top is 16-byte
    // aligned as `u128` is. All signals are blocked around the call, so no handler of ours runs in the child.
    let pid = unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        let mut before = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let top = stack.as_mut_ptr().add(stack.capacity()).cast::<libc::c_void>();
        let pid = libc::clone(child, top, flags, (&raw mut shared).cast(), &raw mut pidfd);
        let failed = if pid < 0 { io::Error::last_os_error().raw_os_error() } else { None };
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        if let Some(errno) = failed {
            return Err(io::Error::from_raw_os_error(errno));
        }
        pid
    };
    // SAFETY: the kernel has just made this descriptor for us, close-on-exec, and nobody else knows it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // The child wrote it through a pointer that the compiler does not see.
    // SAFETY: `shared` is alive and the child is past its last write.
    let error = unsafe { std::ptr::read_volatile(&raw const shared.error) };
    if error != 0 {
        let _ = rustix::process::waitid(
            rustix::process::WaitId::PidFd(pidfd.as_fd()),
            rustix::process::WaitIdOptions::EXITED,
        );
        return Err(io::Error::from_raw_os_error(error));
    }
    Ok(Started { pid, pidfd })
}

/// The child's few steps. Returns only when one failed.
extern "C" fn child(shared: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the pointer is the parent's `Shared`, which outlives the child's use of it (see `start`).
    let shared = unsafe { &mut *shared.cast::<Shared<'_>>() };
    // SAFETY: only async-signal-safe calls on descriptors and strings that the plan keeps alive.
    let done = unsafe { prepare(shared.plan) };
    if done {
        // SAFETY: both arrays end in a null pointer; on success the call does not return.
        unsafe { execute(&shared.plan.image, shared.argv, shared.env) };
    }
    shared.error = match errno() {
        0 => libc::EINVAL,
        number => number,
    };
    // SAFETY: ends the child alone, running no exit handlers.
    unsafe { libc::_exit(127) }
}

/// The last error number of this thread.
fn errno() -> i32 {
    // SAFETY: the location is valid for as long as the thread lives.
    unsafe { *libc::__errno_location() }
}

/// Signals, session, terminal, descriptors, directory, mark, user. False at the first step that failed.
///
/// # Safety
/// Only between `clone` and `exec`, in the child.
unsafe fn prepare(plan: &Plan<'_>) -> bool {
    // SAFETY: thin system call wrappers on values that the plan keeps alive; see each line.
    unsafe {
        let mut default = std::mem::zeroed::<libc::sigaction>();
        default.sa_sigaction = libc::SIG_DFL;
        for signal in 1..32 {
            // KILL and STOP refuse, which does not matter.
            libc::sigaction(signal, &raw const default, std::ptr::null_mut());
        }
        let left = match plan.apart {
            Apart::Session => libc::setsid(),
            Apart::Group => libc::setpgid(0, 0),
        };
        if left < 0 {
            return false;
        }
        if let Some(terminal) = plan.terminal
            && libc::ioctl(terminal.as_raw_fd(), libc::TIOCSCTTY as _, 0) < 0
        {
            return false;
        }
        for (fd, wanted) in plan.stdio.iter().zip(0..) {
            // Handles of the server are never 0, 1 or 2, so one copy cannot overwrite the source of the next.
            if libc::dup2(fd.as_raw_fd(), wanted) < 0 {
                return false;
            }
        }
        if libc::fchdir(plan.cwd.as_raw_fd()) < 0 {
            return false;
        }
        if let Some(tag) = plan.tag {
            let limit = libc::rlimit { rlim_cur: tag, rlim_max: tag };
            // Where a kernel refuses, the session is still known: see `tree`.
            libc::setrlimit(libc::RLIMIT_LOCKS, &raw const limit);
        }
        if let Some(score) = plan.oom_score {
            let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if file >= 0 {
                libc::write(file, score.as_ptr().cast(), score.count_bytes());
                libc::close(file);
            }
        }
        if let Some(identity) = plan.identity {
            // The raw calls: the library's own would change all threads of the server.
            if libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) < 0
                || libc::syscall(libc::SYS_setresgid, identity.gid, identity.gid, identity.gid) < 0
                || libc::syscall(libc::SYS_setresuid, identity.uid, identity.uid, identity.uid) < 0
            {
                return false;
            }
            // A kernel that lets programs of changed users dump would open the memory that is still the server's.
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
        }
        if let Some(server) = plan.dies_with {
            // After the change of user, which would take it back.
            let killed = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) >= 0;
            // The server may be gone already, and then the signal never comes.
            if !killed || libc::getppid() != server.as_raw_nonzero().get() {
                return false;
            }
        }
        // Even a descriptor that another thread opened a moment ago without the flag does not get through.
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        for (fd, wanted) in plan.handles.iter().zip(3..) {
            // A copy has no flags, so these alone do get through.
            if libc::dup2(fd.as_raw_fd(), wanted) < 0 {
                return false;
            }
        }
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
    true
}

/// Executes the image; returns only on failure.
///
/// # Safety
/// `argv` and `env` are null-terminated arrays of C strings.
unsafe fn execute(image: &Image<'_>, argv: *const *const libc::c_char, env: *const *const libc::c_char) {
    // SAFETY: the caller's promise, and handles and paths that live in the plan.
    unsafe {
        match image {
            Image::Handle(file) => {
                let nothing = c"".as_ptr();
                libc::syscall(libc::SYS_execveat, file.as_raw_fd(), nothing, argv, env, libc::AT_EMPTY_PATH);
            }
            Image::Path(path) => {
                libc::execve(path.as_ptr(), argv, env);
            }
        }
    }
}

/// The process id of some child of ours that has ended and is not yet waited for.
pub(super) fn ended_child() -> Option<i32> {
    // SAFETY: a plain out structure; WNOWAIT leaves the child as it is.
    let info = unsafe {
        let mut info = std::mem::zeroed::<libc::siginfo_t>();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        if libc::waitid(libc::P_ALL, 0, &raw mut info, flags) < 0 {
            return None;
        }
        info
    };
    // SAFETY: `waitid` filled the structure, or left it zero when nobody has ended.
    let pid = unsafe { info.si_pid() };
    (pid > 0).then_some(pid)
}

/// Watches a process for its end.
pub(super) fn watch(pidfd: Arc<OwnedFd>) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the descriptor is owned by the `Arc` that the watch holds, and never closed or replaced while it does.
    unsafe { AsyncFd::register_with_interest(pidfd, tokio::io::Interest::READABLE) }.map_err(io::Error::from)
}

/// Watches a terminal for bytes and for room.
pub(super) fn watch_terminal(terminal: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the watch owns the descriptor, and it is never replaced.
    unsafe { AsyncFd::register(terminal) }.map_err(io::Error::from)
}

/// Bytes that wait in a pipe or terminal.
pub(super) fn pending(fd: BorrowedFd<'_>) -> usize {
    rustix::io::ioctl_fionread(fd).map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX))
}
