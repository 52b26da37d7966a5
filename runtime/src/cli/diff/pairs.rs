//! What OLD and NEW name, file by file.

use super::git::Object;
use crate::cli::check_config::{Source, format};
use crate::cli::failure::Failure;
use crate::cli::files;
use std::collections::BTreeSet;
use std::path::Path;

/// Folders are searched so deep.
const DEEPEST: usize = 16;

/// A text to compare.
#[derive(Debug)]
pub(super) struct Text {
    /// As reports name it.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Texts that belong together, and those that stand alone.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) matched: Vec<(Text, Text)>,
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
}

impl Pairs {
    /// Every text, as it is asked about secrets.
    pub(super) fn sources(&self) -> Vec<Source> {
        let texts = self.matched.iter().flat_map(|(old, new)| [old, new]);
        let source = |text: &Text| Source {
            name: text.name.clone(),
            found: None,
            format: format(&text.name),
            bytes: Some(text.bytes.clone()),
        };
        texts.map(source).collect()
    }
}

/// One of the two arguments.
enum Named {
    Git(Object),
    Path(String),
}

impl Named {
    fn parse(name: &str) -> Result<Self, Failure> {
        Object::parse(name).map_or_else(|| Ok(Self::Path(name.to_owned())), |object| object.map(Self::Git))
    }

    /// The documents below, by name, if it is a folder.
    fn files(&self) -> Result<Option<BTreeSet<String>>, Failure> {
        let files = match self {
            Self::Git(object) => object.files()?,
            Self::Path(path) if path != "-" && Path::new(path).is_dir() => {
                let mut found = Vec::new();
                walk(Path::new(path), "", 0, &mut found)?;
                Some(found)
            }
            Self::Path(_) => None,
        };
        Ok(files.map(|files| files.into_iter().filter(|name| is_document(name)).collect()))
    }

    fn below(&self, file: &str) -> Self {
        match self {
            Self::Git(object) => Self::Git(object.join(file)),
            Self::Path(path) => Self::Path(format!("{}/{file}", path.trim_end_matches('/'))),
        }
    }

    fn read(&self) -> Result<Text, Failure> {
        match self {
            Self::Git(object) => Ok(Text { name: object.name(), bytes: object.read()? }),
            Self::Path(path) => {
                let (name, bytes) = files::document(path)?;
                Ok(Text { name: name.to_owned(), bytes })
            }
        }
    }
}

/// Reads what both arguments name. Two folders are matched by the names of their files.
pub(super) fn pairs(old: &str, new: &str) -> Result<Pairs, Failure> {
    if old == "-" && new == "-" {
        return Err(Failure::usage("only one side can be read from standard input"));
    }
    let (old, new) = (Named::parse(old)?, Named::parse(new)?);
    let mut pairs = Pairs::default();
    match (old.files()?, new.files()?) {
        (None, None) => pairs.matched.push((old.read()?, new.read()?)),
        (Some(one), Some(other)) => {
            for file in one.intersection(&other) {
                pairs.matched.push((old.below(file).read()?, new.below(file).read()?));
            }
            pairs.added = other.difference(&one).cloned().collect();
            pairs.removed = one.difference(&other).cloned().collect();
        }
        _ => {
            return Err(Failure::usage("a folder is compared with a folder, a file with a file"));
        }
    }
    Ok(pairs)
}

fn is_document(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}

fn walk(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) -> Result<(), Failure> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| unreadable(&folder.display().to_string(), &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(&folder.display().to_string(), &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // What links lead to and what begins with a dot is no part of the folder.
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), &format!("{prefix}{name}/"), depth + 1, found)?;
        } else if kind.is_file() {
            found.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::read(name, error)
}
