//! What a row may hold: the one table that reading, the suggestions and the JSON Schema follow.

/// The shape of a field's value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// One line of text, not empty.
    Line,
    /// A name of some grammar.
    Name(Grammar),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of names of some grammar.
    Names(Grammar),
    /// A table of base values.
    Values,
    /// A list of rows.
    Rows(&'static RowShape),
}

/// The grammar of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// `files_list`
    Id,
    /// `files:read`, `commands:run:{name}`
    Scope,
    /// `enabled`, `limits.max_bytes`
    Key,
    /// `/process/{pid}/output`
    Path,
}

/// One field of a row.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) required: bool,
    /// For the JSON Schema.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "only the schema shows it, and a test writes the schema")
    )]
    pub(crate) doc: &'static str,
}

/// The fields of a kind of row.
#[derive(Debug)]
pub(crate) struct RowShape {
    /// As in a message: "an endpoint has no field `x`".
    pub(crate) noun: &'static str,
    pub(crate) fields: &'static [Field],
}

const fn must(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { name, shape, required: true, doc }
}

const fn may(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { name, shape, required: false, doc }
}

const SUMMARY: Field = must("summary", Shape::Line, "One line that says what it is");

/// The words that a key's `kind` may be, in the order of `KeyKind`.
pub(crate) const KINDS: &[&str] = &[
    "bool",
    "scopes",
    "audit",
    "paths",
    "paths-or-true",
    "symlinks",
    "size",
    "count",
    "duration",
    "extensions",
    "commands",
    "languages",
    "signals",
    "urls",
    "shells",
    "variables",
    "ports",
];

/// The words that a method may be, in the order of `Method`.
pub(crate) const METHODS: &[&str] = &["GET", "HEAD", "POST", "DELETE"];

const METHOD: Field = must("method", Shape::Word(METHODS), "HTTP method");
const PATH: Field =
    must("path", Shape::Name(Grammar::Path), "Path template; `{name}` is one segment of any text");
const BODY: Field = may(
    "body",
    Shape::Word(&["none", "json", "raw", "multipart"]),
    "What the door takes as its body; json for POST and DELETE unless said, none for the others",
);
const UPGRADE: Field = may("upgrade", Shape::Flag, "Whether the door becomes a WebSocket");
const ERRORS: Field =
    may("errors", Shape::Word(&["plain", "detail"]), "`detail` adds the member that data-plane clients read");
const LISTENER: Field =
    may("listener", Shape::Word(&["http", "pty"]), "Which port serves the door; http unless said");

const GROUP: RowShape = RowShape {
    noun: "a group",
    fields: &[
        must("name", Shape::Name(Grammar::Id), "The name as in a policy"),
        must("default", Shape::Word(&["on", "opt-in"]), "`opt-in` is closed until a rule opens it"),
        SUMMARY,
    ],
};

const SCOPE: RowShape = RowShape {
    noun: "a scope",
    fields: &[
        must("name", Shape::Name(Grammar::Scope), "The name as in a token; `{name}` is a path parameter"),
        SUMMARY,
    ],
};

const BUNDLE: RowShape = RowShape {
    noun: "a bundle",
    fields: &[
        must("name", Shape::Name(Grammar::Scope), "The name as in a token"),
        must("scopes", Shape::Names(Grammar::Scope), "The scopes that it stands for"),
        SUMMARY,
    ],
};

const LIMIT_CLASS: RowShape = RowShape {
    noun: "a limit class",
    fields: &[
        must("name", Shape::Name(Grammar::Id), "The name that an endpoint gives as `limit_class`"),
        must("limits", Shape::Values, "Base values by the name of the key without `limits.`"),
        SUMMARY,
    ],
};

const KEY: RowShape = RowShape {
    noun: "a key",
    fields: &[
        must("name", Shape::Name(Grammar::Key), "The dotted name of the rule key"),
        must("kind", Shape::Word(KINDS), "How its value is read"),
        must("law", Shape::Word(&["replace", "accumulate"]), "How the values of several rules become one"),
        may("everywhere", Shape::Flag, "Whether every endpoint accepts it"),
        SUMMARY,
    ],
};

const KEY_SET: RowShape = RowShape {
    noun: "a key set",
    fields: &[
        must("name", Shape::Name(Grammar::Id), "The name that `accepts` may hold in place of its keys"),
        must("keys", Shape::Names(Grammar::Key), "The keys that it stands for"),
        SUMMARY,
    ],
};

const ALSO: RowShape = RowShape { noun: "a door", fields: &[METHOD, PATH, BODY, UPGRADE, ERRORS, LISTENER] };

const ENDPOINT: RowShape = RowShape {
    noun: "an endpoint",
    fields: &[
        must("id", Shape::Name(Grammar::Id), "The id as in a policy, and the name of the handler's file"),
        METHOD,
        PATH,
        BODY,
        UPGRADE,
        ERRORS,
        LISTENER,
        may("also", Shape::Rows(&ALSO), "Further doors of the same endpoint"),
        must("group", Shape::Name(Grammar::Id), "Its group"),
        must("scopes", Shape::Names(Grammar::Scope), "What a caller must hold, all of it"),
        may("auth_required", Shape::Flag, "False where no token is asked"),
        may("streaming", Shape::Flag, "Whether the answer is a stream of events"),
        may("named", Shape::Flag, "False where the source document counts the endpoint without naming it"),
        may(
            "limit_class",
            Shape::Name(Grammar::Id),
            "The class whose limits it accepts and has as base values",
        ),
        may(
            "accepts",
            Shape::Names(Grammar::Key),
            "Rule keys and key sets that it accepts beyond those of every endpoint",
        ),
        may(
            "audit",
            Shape::Word(&["off", "deny", "all"]),
            "What is written to the audit log; all unless said",
        ),
        may("limits", Shape::Values, "Base values by the name of the key without `limits.`"),
        may("params", Shape::Values, "Base values by the name of the key without `params.`"),
        must(
            "summary",
            Shape::Line,
            "One line that says what it does, and the first line of the handler's file",
        ),
    ],
};

/// The file itself.
pub(crate) const FILE: RowShape = RowShape {
    noun: "the declaration",
    fields: &[
        must("group", Shape::Rows(&GROUP), "The groups of endpoints"),
        must("scope", Shape::Rows(&SCOPE), "What a token may hold"),
        may("bundle", Shape::Rows(&BUNDLE), "One name for several scopes"),
        may("limit_class", Shape::Rows(&LIMIT_CLASS), "Base limits shared by several endpoints"),
        must("key", Shape::Rows(&KEY), "The rule keys"),
        may("key_set", Shape::Rows(&KEY_SET), "One name for several keys"),
        must("endpoint", Shape::Rows(&ENDPOINT), "The endpoints"),
    ],
};

impl Grammar {
    /// Whether `name` is of this grammar, and if not, the text of it that is wrong and why.
    pub(crate) fn fault(self, name: &str) -> Option<&'static str> {
        match self {
            Self::Id => (!is_word(name))
                .then_some("a name is of lower-case letters, digits and `_`, and begins with a letter"),
            Self::Key => (!name.split('.').all(is_word) || name.split('.').count() > 2)
                .then_some("a key is a name, or two names with a `.` between them"),
            Self::Scope => (!is_scope(name))
                .then_some("a scope is of names with `:` between them, and may end in `:{parameter}`"),
            Self::Path => path_fault(name),
        }
    }

    /// The same as a regular expression, for the JSON Schema.
    #[cfg(test)]
    pub(crate) const fn pattern(self) -> &'static str {
        match self {
            Self::Id => "^[a-z][a-z0-9_]*$",
            Self::Key => r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$",
            Self::Scope => r"^[a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)+(:\{[a-z][a-z0-9_]*\})?$",
            Self::Path => r"^(/([a-z0-9._-]+|\{[a-z][a-z0-9_]*\}))+$",
        }
    }
}

/// `[a-z][a-z0-9_]*`
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|each| each.is_ascii_lowercase() || each.is_ascii_digit() || each == '_')
}

/// The name of `{name}`.
pub(crate) fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

fn is_scope(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let last = parts.len() - 1;
    let part = |(at, part): (usize, &&str)| {
        is_word(part) || (at == last && at > 1 && parameter(part).is_some_and(is_word))
    };
    parts.len() > 1 && parts.iter().enumerate().all(part)
}

fn path_fault(path: &str) -> Option<&'static str> {
    let Some(rest) = path.strip_prefix('/') else {
        return Some("a path begins with `/`");
    };
    rest.split('/').find_map(|segment| {
        if segment.is_empty() {
            Some("a path has no empty segment and does not end in `/`")
        } else if segment.contains(['{', '}']) {
            (!parameter(segment).is_some_and(is_word)).then_some("a parameter is one whole segment, `{name}`")
        } else if segment.chars().any(|each| each.is_ascii_uppercase()) {
            Some("a path is in lower case")
        } else {
            let plain =
                |each: char| each.is_ascii_lowercase() || each.is_ascii_digit() || "._-".contains(each);
            (!segment.chars().all(plain))
                .then_some("a segment is of lower-case letters, digits, `.`, `_` and `-`")
        }
    })
}
