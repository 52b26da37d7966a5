//! Why a compiled set is refused, and what to do about it.

use crate::diag::harmless_line;

/// Why a compiled set was not loaded. Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormError {
    /// The text does not begin as a compiled set does.
    NotCompiled,
    /// Another format version.
    Version {
        /// What the set says.
        found: String,
        /// What this tool reads.
        supported: u32,
    },
    /// It is a compiled set, but its first line is not as one is written.
    Header,
    /// The checksum on the first line is not that of the rest.
    Checksum,
    /// Its end could not be read when it was wanted, and why.
    Again(String),
    /// JSON that is broken, lacks a field or has one too many.
    Shape(String),
    /// Compiled for another endpoint table.
    Table {
        /// The fingerprint in the set.
        found: String,
        /// The fingerprint of this tool's table.
        expected: String,
    },
    /// Compiled for other custom routes.
    CustomRoutes,
    /// Compiled with other calls of `enable_group` and `disable_group`.
    CodeLayer,
    /// A value that the compiler would have refused.
    Value {
        /// Where: a rule and key, a token, `base_dir`.
        at: String,
        /// What is wrong.
        why: String,
    },
}

impl FormError {
    pub(super) fn too_large() -> Self {
        Self::Shape("it is larger than 4 GiB".to_owned())
    }

    /// What the reader of the message should do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotCompiled => "pass the file that `agent-sandbox-server compile -o` wrote",
            Self::Version { .. } | Self::Table { .. } => {
                "compile the policy again with the `agent-sandbox-server` that will serve it"
            }
            Self::CustomRoutes | Self::CodeLayer => {
                "compile the policy again with the `--commands` file that the server is started with"
            }
            Self::Again(_) => "leave the file as it is until the server has started",
            Self::Header | Self::Checksum | Self::Shape(_) | Self::Value { .. } => {
                "a compiled set is not edited by hand: change the policy document and compile it again"
            }
        }
    }
}

impl std::fmt::Display for FormError {
    /// On one line: parts of it are words of the set, which anyone may have written.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&harmless_line(&self.message()))
    }
}

impl FormError {
    fn message(&self) -> String {
        match self {
            Self::NotCompiled => "this is not a compiled policy".to_owned(),
            Self::Version { found, supported } => {
                format!("the compiled policy has format version {found}, this server reads version {supported}")
            }
            Self::Header => {
                "the compiled policy was changed after it was written: it does not begin as one does".to_owned()
            }
            Self::Checksum => {
                "the compiled policy was changed after it was written: its checksum does not match".to_owned()
            }
            Self::Again(why) => format!("the compiled policy cannot be read to its end: {why}"),
            Self::Shape(why) => format!("the compiled policy cannot be read: {why}"),
            Self::Table { found, expected } => {
                let short = |print: &str| print.chars().take(12).collect::<String>();
                let (found, expected) = (short(found), short(expected));
                format!("the compiled policy was made for endpoint table `{found}`, this server has `{expected}`")
            }
            Self::CustomRoutes => {
                "the compiled policy was made for other custom routes than this server has".to_owned()
            }
            Self::CodeLayer => "the compiled policy was made with other calls of `enable_group` and `disable_group` than the \
                                code makes"
                .to_owned(),
            Self::Value { at, why } => format!("the compiled policy has a bad value at `{at}`: {why}"),
        }
    }
}

impl std::error::Error for FormError {}
