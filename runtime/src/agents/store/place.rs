//! The folder of the store: mode 0700, ours alone, outside the base directory, one server at a time.

use super::StoreError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Where the store is.
#[derive(Debug, Clone)]
pub struct Place {
    /// What the server keeps over its own end.
    pub state_dir: PathBuf,
    /// What callers and agents may reach: the store must not be in it.
    pub base_dir: PathBuf,
}

/// Held as long as the store is open.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "held, not read: the lock goes with it")] File);

impl Place {
    /// The folder of the agents group.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.state_dir.join("agents")
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.folder().join("agents.db")
    }

    /// Makes the folder where it is missing, and takes it for this process.
    pub(super) fn claim(&self) -> Result<Lock, StoreError> {
        self.check_outside()?;
        self.private(&self.state_dir)?;
        self.private(&self.folder())?;
        // A link that was there before may have led it into the base directory.
        self.check_outside()?;
        let path = self.folder().join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            StoreError::Place(format!("another server uses the state folder `{}`", self.state_dir.display()))
        })?;
        Ok(Lock(file))
    }

    /// Takes from the database what the file mode mask may have left to others.
    pub(super) fn seal(&self) -> Result<(), StoreError> {
        Ok(std::fs::set_permissions(self.database(), Permissions::from_mode(0o600))?)
    }

    fn check_outside(&self) -> Result<(), StoreError> {
        let (state, base) = (real(&self.state_dir), real(&self.base_dir));
        if state.starts_with(&base) {
            return Err(StoreError::Place(format!(
                "the state folder `{}` lies inside the base directory: name another with --state-dir",
                self.state_dir.display()
            )));
        }
        Ok(())
    }

    /// A folder that nobody else can look into.
    fn private(&self, folder: &Path) -> Result<(), StoreError> {
        let refused = |why: &str| {
            StoreError::Place(format!("cannot use the state folder `{}`: {why}", folder.display()))
        };
        match DirBuilder::new().mode(0o700).recursive(folder == self.state_dir).create(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refused(&error.to_string())),
        }
        let found = std::fs::symlink_metadata(folder).map_err(|error| refused(&error.to_string()))?;
        if !found.is_dir() {
            return Err(refused("it is no directory"));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused("it belongs to another user"));
        }
        if is_open(&found) {
            std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        }
        Ok(())
    }
}

fn is_open(found: &Metadata) -> bool {
    found.mode() & 0o077 != 0
}

/// Where a path leads, as far as it is there; what is yet to come follows as written.
fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(found) = std::fs::canonicalize(above) {
            return path.strip_prefix(above).map_or_else(|_| found.clone(), |rest| found.join(rest));
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(state_dir: PathBuf, base_dir: PathBuf) -> Place {
        Place { state_dir, base_dir }
    }

    #[test]
    fn the_folder_is_private_and_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path().join("a/state"), dir.path().join("base"));
        let lock = place.claim().unwrap();
        assert_eq!(std::fs::metadata(place.folder()).unwrap().mode() & 0o777, 0o700);
        let error = place.claim().unwrap_err().to_string();
        assert!(error.starts_with("another server uses the state folder"), "{error}");
        drop(lock);
        place.claim().unwrap();
    }

    #[test]
    fn a_folder_inside_the_base_directory_is_refused_whatever_leads_there() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("base");
        std::fs::create_dir(&base).unwrap();
        std::os::unix::fs::symlink(&base, dir.path().join("link")).unwrap();
        for state in [base.clone(), base.join("x/y"), dir.path().join("link/state")] {
            let error = place(state, base.clone()).claim().unwrap_err().to_string();
            assert!(error.contains("lies inside the base directory"), "{error}");
        }
        assert_eq!(std::fs::read_dir(&base).unwrap().count(), 0);
    }

    #[test]
    fn a_link_in_its_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (state, elsewhere) = (dir.path().join("state"), dir.path().join("elsewhere"));
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &state).unwrap();
        let error = place(state, dir.path().join("base")).claim().unwrap_err().to_string();
        assert!(error.ends_with("it is no directory"), "{error}");
    }
}
