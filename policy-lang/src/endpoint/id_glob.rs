//! Globs over endpoint ids: `*`, `?`, `[..]` and `{a,b}`, where `*` spans any run of characters.
//!
//! The shapes that authors write (`*`, `files_*`, `*_stream`) are compared as text; only the rest builds a matcher.

use globset::{GlobBuilder, GlobMatcher};

/// A compiled glob over ids.
#[derive(Debug, Clone)]
pub struct IdGlob(Shape);

#[derive(Debug, Clone)]
enum Shape {
    /// A fixed beginning and a fixed end around one `*`.
    Around { prefix: String, suffix: String },
    /// Anything else.
    Other(GlobMatcher),
}

impl IdGlob {
    /// Whether a selector is a glob and not an id.
    #[must_use]
    pub fn is_glob(selector: &str) -> bool {
        selector.contains(['*', '?', '[', ']', '{', '}', '\\'])
    }

    /// Compiles a glob.
    ///
    /// # Errors
    /// What is wrong with its syntax.
    pub fn new(glob: &str) -> Result<Self, globset::Error> {
        if let Some((prefix, suffix)) = glob.split_once('*')
            && !Self::is_glob(prefix)
            && !Self::is_glob(suffix)
        {
            return Ok(Self(Shape::Around { prefix: prefix.to_owned(), suffix: suffix.to_owned() }));
        }
        let glob = GlobBuilder::new(glob).literal_separator(false).backslash_escape(true).build()?;
        Ok(Self(Shape::Other(glob.compile_matcher())))
    }

    /// Whether it matches the id.
    #[must_use]
    pub fn is_match(&self, id: &str) -> bool {
        match &self.0 {
            Shape::Around { prefix, suffix } => {
                id.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.ends_with(suffix.as_str()))
            }
            Shape::Other(matcher) => matcher.is_match(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::ENDPOINTS;

    fn ids(glob: &str) -> Vec<&'static str> {
        let glob = IdGlob::new(glob).unwrap();
        ENDPOINTS.iter().map(|decl| decl.name).filter(|name| glob.is_match(name)).collect()
    }

    #[test]
    fn globs_match_whole_ids() {
        assert_eq!(ids("files_*stream"), ["files_upload_stream", "files_download_stream"]);
        assert_eq!(ids("{upload,download}"), ["upload", "download"]);
        assert_eq!(ids("pty_?et"), ["pty_get"]);
        assert_eq!(ids("pty_[gl]*"), ["pty_list", "pty_get"]);
        assert_eq!(ids("*").len(), ENDPOINTS.len());
        assert!(ids("upload*load").is_empty());
    }

    #[test]
    fn the_short_way_agrees_with_the_matcher() {
        for glob in ["*", "files_*", "*_stream", "files_*_stream", "shell*", "*shell", "s*l"] {
            let matcher = GlobBuilder::new(glob).build().unwrap().compile_matcher();
            let slow: Vec<_> =
                ENDPOINTS.iter().map(|decl| decl.name).filter(|name| matcher.is_match(name)).collect();
            assert_eq!(ids(glob), slow, "{glob}");
        }
    }
}
