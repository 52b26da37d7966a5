//! Links, resolved in user space: every hop is judged before it is followed, and the kernel then opens a path
//! that holds no link any more.

use super::foreign::check_device;
use super::held::Root;
use super::kind::{Kind, kind_of};
use super::open::Last;
use super::path::{join, parts};
use super::root::Guard;
use super::verdict::{Op, PathJudge, Refusal, RefusalKind, Symlinks};
use super::{GuardError, NormalPath, Resolver};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::collections::VecDeque;

/// As many links as the kernel would follow.
const MAX_LINKS: usize = 40;

/// A path without links, judged.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// Index of the root that it lies beneath.
    pub(crate) root: usize,
    /// The absolute path, as that root is spelled.
    pub(crate) path: Vec<u8>,
    /// Whether the last part of the path as asked was a link that was followed.
    pub(crate) followed_last: bool,
}

/// A resolution under way: what is behind it, held open, and what lies ahead.
struct Walk<'g> {
    guard: &'g Guard,
    at: usize,
    root: &'g Root,
    behind: Vec<(Vec<u8>, OwnedFd)>,
    ahead: VecDeque<Vec<u8>>,
}

impl Guard {
    /// Resolves the links of `path`. Parts that do not exist stay as they are.
    pub(crate) fn resolve(
        &self,
        judge: &dyn PathJudge,
        path: &NormalPath,
        op: Op,
        last: Last,
    ) -> Result<Resolved, GuardError> {
        let mut walk = Walk::start(self, parts(path.as_bytes()).map(<[u8]>::to_vec).collect())?;
        let mut links = 0;
        let mut followed_last = false;
        while let Some(name) = walk.ahead.pop_front() {
            if name == b".." {
                walk.up()?;
                continue;
            }
            let Some((found, kind)) = walk.look(&name)? else {
                walk.ahead.push_front(name);
                break;
            };
            let is_last = walk.ahead.is_empty();
            match kind {
                Kind::Symlink
                    if is_last && !followed_last && last == Last::Itself && !path.asks_directory() =>
                {
                    walk.behind.push((name, found));
                }
                Kind::Symlink => {
                    links += 1;
                    followed_last |= is_last;
                    walk.follow(judge, op, &found, links)?;
                }
                Kind::Directory => walk.behind.push((name, found)),
                _ if is_last => walk.behind.push((name, found)),
                _ => return Err(GuardError::NotFound),
            }
        }
        if walk.ahead.iter().any(|name| name == b"..") {
            return Err(GuardError::NotFound);
        }
        let resolved = Resolved { root: walk.at, path: walk.whole_path(), followed_last };
        // INVARIANT: what is handed out was judged in the very form in which it is opened.
        self.judge(judge, &resolved.path, op)?;
        if followed_last && last == Last::Itself {
            return Err(GuardError::NotADirectory);
        }
        Ok(resolved)
    }
}

impl<'g> Walk<'g> {
    /// Begins at the root that holds the absolute path of these parts.
    fn start(guard: &'g Guard, names: VecDeque<Vec<u8>>) -> Result<Self, GuardError> {
        // A root is matched by whole parts before the first `..`: what comes after may climb, and is then walked.
        let plain: Vec<u8> =
            names.iter().take_while(|name| *name != b"..").fold(Vec::new(), |path, name| join(&path, name));
        let plain = if plain.is_empty() { b"/".to_vec() } else { plain };
        let (at, rest) = guard.root_of(&plain).ok_or(GuardError::OUTSIDE)?;
        let root = guard.root(at).ok_or(GuardError::OUTSIDE)?;
        let climbing = names.iter().skip_while(|name| *name != b"..").cloned();
        let ahead = parts(rest).map(<[u8]>::to_vec).chain(climbing).collect();
        Ok(Self { guard, at, root, behind: Vec::new(), ahead })
    }

    /// Starts over from an absolute path, keeping what lies ahead.
    fn restart(&mut self, absolute: &[u8]) -> Result<(), GuardError> {
        let mut names: VecDeque<Vec<u8>> = parts(absolute).map(<[u8]>::to_vec).collect();
        names.append(&mut self.ahead);
        *self = Self::start(self.guard, names)?;
        Ok(())
    }

    fn up(&mut self) -> Result<(), GuardError> {
        if self.behind.pop().is_some() {
            return Ok(());
        }
        let root = self.root;
        self.restart(root.real_parent())
    }

    /// The entry `name` where the walk stands, without following it; `None` where there is none.
    fn look(&self, name: &[u8]) -> Result<Option<(OwnedFd, Kind)>, GuardError> {
        let here = self.behind.last().map_or(self.root.fd(), |(_, fd)| fd.as_fd());
        let fd = match Resolver::Walk.open(here, name, OFlags::PATH) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened.map_err(GuardError::from_open)?,
        };
        let stat = rustix::fs::fstat(&fd).map_err(GuardError::Io)?;
        self.guard.check_sealed(&stat)?;
        // Magic links live on foreign file systems: they are refused here, before their text is read.
        check_device(self.guard.device_of(self.at), stat.st_dev, fd.as_fd())?;
        Ok(Some((fd, kind_of(&stat))))
    }

    fn follow(
        &mut self,
        judge: &dyn PathJudge,
        op: Op,
        link: &OwnedFd,
        links: usize,
    ) -> Result<(), GuardError> {
        if judge.symlinks() == Symlinks::Deny {
            return Err(Refusal { kind: RefusalKind::Symlink, element: judge.symlinks_element() }.into());
        }
        if links > MAX_LINKS {
            return Err(GuardError::OUTSIDE);
        }
        let target = rustix::fs::readlinkat(link, "", Vec::new()).map_err(GuardError::from_open)?;
        let target = target.to_bytes();
        if target.first() == Some(&b'/') {
            self.restart(target)?;
        } else {
            for name in parts(target).rev() {
                self.ahead.push_front(name.to_vec());
            }
        }
        let hop = NormalPath::new(b"/", &self.whole_path())?;
        Ok(self.guard.judge(judge, hop.as_bytes(), op)?)
    }

    /// The absolute path: root, what is behind, what lies ahead.
    fn whole_path(&self) -> Vec<u8> {
        let behind = self.behind.iter().map(|(name, _)| name);
        behind.chain(&self.ahead).fold(self.root.path.clone(), |path, name| join(&path, name))
    }
}
