//! The zip form. Its names are text: bytes that are no UTF-8 are written as `%` and two hex digits.

use super::Packer;
use crate::files::FilesError;
use rustix::fs::Stat;
use std::fmt::Write as _;
use std::io::{Read, Write};
use time::OffsetDateTime;
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

pub(super) struct Zip<W: Write>(ZipWriter<StreamWriter<W>>);

impl<W: Write> Zip<W> {
    pub(super) fn new(out: W) -> Self {
        Self(ZipWriter::new_stream(out))
    }
}

/// From this size on a member needs the wide form of its header.
const WIDE: i64 = 0xffff_ffff - (1 << 20);

fn options(stat: &Stat) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .unix_permissions(stat.st_mode & 0o777)
        .last_modified_time(modified(stat).unwrap_or_default())
        .large_file(stat.st_size >= WIDE)
}

/// The time as zip keeps it, from 1980 to 2107.
fn modified(stat: &Stat) -> Option<DateTime> {
    let time = OffsetDateTime::from_unix_timestamp(stat.st_mtime).ok()?;
    let year = u16::try_from(time.year()).ok()?;
    DateTime::from_date_and_time(
        year,
        time.month().into(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
    )
    .ok()
}

fn failed(error: ZipError) -> FilesError {
    match error {
        ZipError::Io(error) => error.into(),
        _ => FilesError::Io(rustix::io::Errno::IO),
    }
}

fn text(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

impl<W: Write> Packer for Zip<W> {
    fn name(&self, name: &[u8]) -> Vec<u8> {
        text(name).into_bytes()
    }

    fn directory(&mut self, name: &[u8], stat: &Stat) -> Result<(), FilesError> {
        self.0.add_directory(text(name), options(stat)).map_err(failed)
    }

    fn file(&mut self, name: &[u8], stat: &Stat, content: &mut dyn Read) -> Result<(), FilesError> {
        self.0.start_file(text(name), options(stat)).map_err(failed)?;
        std::io::copy(content, &mut self.0)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), FilesError> {
        self.0.finish().map_err(failed)?;
        Ok(())
    }
}
