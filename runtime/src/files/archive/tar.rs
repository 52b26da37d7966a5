//! The tar.gz form. Names are bytes; owners are not kept and modes lose their set-id bits.

use super::Packer;
use crate::files::FilesError;
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::Stat;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use tar::{Builder, EntryType, Header};

pub(super) struct TarGz<W: Write>(Builder<GzEncoder<W>>);

impl<W: Write> TarGz<W> {
    pub(super) fn new(out: W) -> Self {
        let mut builder = Builder::new(GzEncoder::new(out, Compression::default()));
        // Entries come from handles, never from paths; this only says so twice.
        builder.follow_symlinks(false);
        Self(builder)
    }
}

fn header(kind: EntryType, stat: &Stat, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(stat.st_mode & 0o777);
    header.set_mtime(u64::try_from(stat.st_mtime).unwrap_or_default());
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header
}

fn as_path(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

impl<W: Write> Packer for TarGz<W> {
    fn directory(&mut self, name: &[u8], stat: &Stat) -> Result<(), FilesError> {
        let name = [name, b"/"].concat();
        let mut header = header(EntryType::Directory, stat, 0);
        Ok(self.0.append_data(&mut header, as_path(&name), std::io::empty())?)
    }

    fn file(&mut self, name: &[u8], stat: &Stat, content: &mut dyn Read) -> Result<(), FilesError> {
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        let mut header = header(EntryType::Regular, stat, size);
        Ok(self.0.append_data(&mut header, as_path(name), content)?)
    }

    fn finish(self: Box<Self>) -> Result<(), FilesError> {
        self.0.into_inner()?.finish()?;
        Ok(())
    }
}
