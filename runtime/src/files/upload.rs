//! An upload as it arrives: a JSON body read piece by piece, its base64 decoded on the way to the disk.
//!
//! Where `path` comes before the content, the content goes straight to its temporary file; where it comes behind,
//! the content waits in a [`Spool`].

mod json;

pub use json::JsonFault;

use super::encode::{CHUNK, Decoder};
use super::write::{WriteOptions, Writer, Written};
use super::{Access, FilesError, Spool};
use crate::guard::NormalPath;
use base64::Engine as _;
use json::{Reader, Sink};
use serde_json::Value;
use std::io::{Read as _, Write as _};

/// The member that holds the content.
const CONTENT: &str = "content_base64";

/// Why an upload failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// The body is no JSON object, or says a thing twice.
    #[error(transparent)]
    Json(#[from] JsonFault),
    /// A member is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// The path was given twice.
    #[error("path and path_base64 were both given")]
    Both,
    /// A member has the wrong type.
    #[error("{0} must be {1}")]
    Wrong(&'static str, &'static str),
    /// The content, or where it should go.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// An upload under way.
#[derive(Debug)]
pub struct Upload<'a> {
    reader: Reader,
    intake: Intake<'a>,
}

#[derive(Debug)]
struct Intake<'a> {
    access: Access<'a>,
    options: WriteOptions<'a>,
    path: Option<NormalPath>,
    decoder: Decoder,
    target: Target<'a>,
}

#[derive(Debug)]
enum Target<'a> {
    /// No content yet.
    Nothing,
    /// The path is known.
    File(Box<Writer<'a>>),
    /// The path is still to come.
    Spool(Spool<'a>),
}

impl<'a> Upload<'a> {
    /// An upload by these rules; the body may only narrow `options.overwrite`.
    #[must_use]
    pub fn new(access: Access<'a>, options: WriteOptions<'a>) -> Self {
        let intake =
            Intake { access, options, path: None, decoder: Decoder::default(), target: Target::Nothing };
        Self { reader: Reader::new(CONTENT), intake }
    }

    /// The path, once the body has named it.
    #[must_use]
    pub fn path(&self) -> Option<&NormalPath> {
        self.intake.path.as_ref()
    }

    /// Takes the next piece of the body.
    ///
    /// # Errors
    ///
    /// What is wrong with the body, the content or the path.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), UploadError> {
        self.intake.access.stop.check()?;
        self.reader.feed(piece, &mut self.intake)
    }

    /// The body has ended: puts the file in place.
    ///
    /// # Errors
    ///
    /// A body that is not complete, a member that is missing, or why the file could not be put in place.
    pub fn finish(self) -> Result<Written, UploadError> {
        self.reader.finish()?;
        let Intake { access, options, path, mut decoder, target } = self.intake;
        let path = path.ok_or(UploadError::Missing("path"))?;
        decoder.finish()?;
        let mut writer = match target {
            Target::Nothing => return Err(UploadError::Missing(CONTENT)),
            Target::File(writer) => *writer,
            Target::Spool(spool) => {
                let mut writer = Writer::begin(access, &path, options)?;
                let mut content = spool.into_reader()?;
                let mut buffer = vec![0; CHUNK];
                loop {
                    match content.read(&mut buffer).map_err(FilesError::from)? {
                        0 => break writer,
                        read => writer.write(buffer.get(..read).unwrap_or_default())?,
                    }
                }
            }
        };
        writer.set_overwrite(options.overwrite);
        Ok(writer.finish()?)
    }
}

impl Sink for Intake<'_> {
    fn content_begins(&mut self) -> Result<(), UploadError> {
        self.target = match &self.path {
            Some(path) => Target::File(Box::new(Writer::begin(self.access, path, self.options)?)),
            None => Target::Spool(Spool::new(self.access.guard)),
        };
        Ok(())
    }

    fn content(&mut self, text: &[u8]) -> Result<(), UploadError> {
        let Self { decoder, target, options, .. } = self;
        let decoded = decoder.feed(text, |bytes| match target {
            Target::File(writer) => writer.write(bytes),
            Target::Spool(spool) => match options.limit {
                Some(limit) if spool.size() + bytes.len() as u64 > limit => {
                    Err(FilesError::FileTooLarge { limit })
                }
                _ => Ok(spool.write_all(bytes)?),
            },
            Target::Nothing => Ok(()),
        });
        Ok(decoded?)
    }

    fn member(&mut self, name: &str, value: Value) -> Result<(), UploadError> {
        let asked = match (name, value) {
            (_, Value::Null) => return Ok(()),
            ("path", Value::String(path)) => path.into_bytes(),
            ("path_base64", Value::String(path)) => base64::engine::general_purpose::STANDARD
                .decode(path)
                .map_err(|_| UploadError::Wrong("path_base64", "standard base64"))?,
            ("overwrite", Value::Bool(overwrite)) => {
                self.options.overwrite &= overwrite;
                return Ok(());
            }
            ("path", _) => return Err(UploadError::Wrong("path", "a string")),
            ("path_base64", _) => return Err(UploadError::Wrong("path_base64", "a string")),
            ("overwrite", _) => return Err(UploadError::Wrong("overwrite", "a boolean")),
            (CONTENT, _) => return Err(UploadError::Wrong(CONTENT, "a string")),
            _ => return Ok(()),
        };
        if self.path.is_some() {
            return Err(UploadError::Both);
        }
        let path = NormalPath::new(self.access.guard.base_dir(), &asked).map_err(FilesError::from)?;
        self.path = Some(path);
        Ok(())
    }
}
