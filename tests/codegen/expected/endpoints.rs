/// An endpoint of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum EndpointId {
    /// `health`: Liveness
    Health,
    /// `pages_list`: List pages
    PagesList,
    /// `pages_run`: Run a page
    PagesRun,
}
impl EndpointId {
    /// How many there are.
    pub const COUNT: usize = 3usize;
    /// All, in declaration order.
    pub const ALL: [Self; Self::COUNT] = [Self::Health, Self::PagesList, Self::PagesRun];
    /// The name as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::PagesList => "pages_list",
            Self::PagesRun => "pages_run",
        }
    }
    /// The one of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "health" => Some(Self::Health),
            "pages_list" => Some(Self::PagesList),
            "pages_run" => Some(Self::PagesRun),
            _ => None,
        }
    }
    /// Position in declaration order.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
/// A group of endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum Group {
    /// `core`: The server itself
    Core,
    /// `pages`: Pages
    Pages,
}
impl Group {
    /// How many there are.
    pub const COUNT: usize = 2usize;
    /// All, in declaration order.
    pub const ALL: [Self; Self::COUNT] = [Self::Core, Self::Pages];
    /// The name as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Pages => "pages",
        }
    }
    /// The one of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "core" => Some(Self::Core),
            "pages" => Some(Self::Pages),
            _ => None,
        }
    }
    /// Position in declaration order.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
/// A scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum Scope {
    /// `core:read`: Held by everyone
    CoreRead,
    /// `pages:read`: Read pages
    PagesRead,
    /// `pages:run:{name}`: Run one page
    PagesRunName,
}
impl Scope {
    /// How many there are.
    pub const COUNT: usize = 3usize;
    /// All, in declaration order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::CoreRead,
        Self::PagesRead,
        Self::PagesRunName,
    ];
    /// The name as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CoreRead => "core:read",
            Self::PagesRead => "pages:read",
            Self::PagesRunName => "pages:run:{name}",
        }
    }
    /// The one of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "core:read" => Some(Self::CoreRead),
            "pages:read" => Some(Self::PagesRead),
            "pages:run:{name}" => Some(Self::PagesRunName),
            _ => None,
        }
    }
    /// Position in declaration order.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
/// A rule key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum Key {
    /// `enabled`: Whether it answers
    Enabled,
    /// `limits.rate_per_minute`: Calls per minute
    LimitsRatePerMinute,
    /// `limits.max_bytes`: Largest answer
    LimitsMaxBytes,
    /// `params.languages`: Languages
    ParamsLanguages,
    /// `params.deny_ports`: Closed ports
    ParamsDenyPorts,
}
impl Key {
    /// How many there are.
    pub const COUNT: usize = 5usize;
    /// All, in declaration order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Enabled,
        Self::LimitsRatePerMinute,
        Self::LimitsMaxBytes,
        Self::ParamsLanguages,
        Self::ParamsDenyPorts,
    ];
    /// The name as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::LimitsRatePerMinute => "limits.rate_per_minute",
            Self::LimitsMaxBytes => "limits.max_bytes",
            Self::ParamsLanguages => "params.languages",
            Self::ParamsDenyPorts => "params.deny_ports",
        }
    }
    /// The one of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "enabled" => Some(Self::Enabled),
            "limits.rate_per_minute" => Some(Self::LimitsRatePerMinute),
            "limits.max_bytes" => Some(Self::LimitsMaxBytes),
            "params.languages" => Some(Self::ParamsLanguages),
            "params.deny_ports" => Some(Self::ParamsDenyPorts),
            _ => None,
        }
    }
    /// Position in declaration order.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
/// The group table: `GROUPS[group.index()]`.
pub static GROUPS: [GroupDecl; 2usize] = [
    GroupDecl {
        group: Group::Core,
        name: "core",
        default: DefaultState::On,
        summary: "The server itself",
        members: &[EndpointId::Health],
    },
    GroupDecl {
        group: Group::Pages,
        name: "pages",
        default: DefaultState::OptIn,
        summary: "Pages",
        members: &[EndpointId::PagesList, EndpointId::PagesRun],
    },
];
/// The scope table: `SCOPES[scope.index()]`.
pub static SCOPES: [ScopeDecl; 3usize] = [
    ScopeDecl {
        scope: Scope::CoreRead,
        name: "core:read",
        summary: "Held by everyone",
    },
    ScopeDecl {
        scope: Scope::PagesRead,
        name: "pages:read",
        summary: "Read pages",
    },
    ScopeDecl {
        scope: Scope::PagesRunName,
        name: "pages:run:{name}",
        summary: "Run one page",
    },
];
/// The bundles.
pub static BUNDLES: &[BundleDecl] = &[
    BundleDecl {
        name: "pages:all",
        scopes: &[Scope::PagesRead, Scope::CoreRead],
        summary: "What a reader needs",
    },
];
/// The key table: `KEYS[key.index()]`.
pub static KEYS: [KeyDecl; 5usize] = [
    KeyDecl {
        key: Key::Enabled,
        name: "enabled",
        kind: KeyKind::Bool,
        law: MergeLaw::Replace,
        summary: "Whether it answers",
    },
    KeyDecl {
        key: Key::LimitsRatePerMinute,
        name: "limits.rate_per_minute",
        kind: KeyKind::Count,
        law: MergeLaw::Replace,
        summary: "Calls per minute",
    },
    KeyDecl {
        key: Key::LimitsMaxBytes,
        name: "limits.max_bytes",
        kind: KeyKind::Size,
        law: MergeLaw::Replace,
        summary: "Largest answer",
    },
    KeyDecl {
        key: Key::ParamsLanguages,
        name: "params.languages",
        kind: KeyKind::Languages,
        law: MergeLaw::Replace,
        summary: "Languages",
    },
    KeyDecl {
        key: Key::ParamsDenyPorts,
        name: "params.deny_ports",
        kind: KeyKind::Ports,
        law: MergeLaw::Accumulate,
        summary: "Closed ports",
    },
];
/// The endpoint table, in declaration order: `ENDPOINTS[id.index()]`.
pub static ENDPOINTS: [EndpointDecl; 3usize] = [
    EndpointDecl {
        id: EndpointId::Health,
        name: "health",
        summary: "Liveness",
        group: Group::Core,
        scopes: &[],
        auth_required: false,
        streaming: false,
        named: true,
        limit_class: None,
        doors: &[
            Door {
                method: Method::Get,
                path: "/health",
                body: BodyKind::None,
                upgrade: false,
                errors: ErrorStyle::Plain,
                listener: Listener::Http,
            },
        ],
        accepts: KeySet::of(&[Key::Enabled, Key::LimitsRatePerMinute]),
        base: &[(Key::LimitsRatePerMinute, BaseValue::Number(6000u64))],
        audit: AuditLevel::Off,
    },
    EndpointDecl {
        id: EndpointId::PagesList,
        name: "pages_list",
        summary: "List pages",
        group: Group::Pages,
        scopes: &["pages:read"],
        auth_required: true,
        streaming: false,
        named: true,
        limit_class: Some("read"),
        doors: &[
            Door {
                method: Method::Get,
                path: "/pages",
                body: BodyKind::None,
                upgrade: false,
                errors: ErrorStyle::Plain,
                listener: Listener::Http,
            },
            Door {
                method: Method::Get,
                path: "/v2/{site}/pages",
                body: BodyKind::None,
                upgrade: false,
                errors: ErrorStyle::Detail,
                listener: Listener::Http,
            },
            Door {
                method: Method::Head,
                path: "/v2/{site}/pages",
                body: BodyKind::None,
                upgrade: false,
                errors: ErrorStyle::Detail,
                listener: Listener::Http,
            },
            Door {
                method: Method::Get,
                path: "/v2/own/pages/{at}",
                body: BodyKind::None,
                upgrade: false,
                errors: ErrorStyle::Plain,
                listener: Listener::Http,
            },
        ],
        accepts: KeySet::of(
            &[Key::Enabled, Key::LimitsRatePerMinute, Key::LimitsMaxBytes],
        ),
        base: &[
            (Key::LimitsRatePerMinute, BaseValue::Number(600u64)),
            (Key::LimitsMaxBytes, BaseValue::Number(4000000u64)),
        ],
        audit: AuditLevel::All,
    },
    EndpointDecl {
        id: EndpointId::PagesRun,
        name: "pages_run",
        summary: "Run a page",
        group: Group::Pages,
        scopes: &["pages:run:{name}", "pages:read"],
        auth_required: true,
        streaming: true,
        named: false,
        limit_class: None,
        doors: &[
            Door {
                method: Method::Post,
                path: "/pages/{name}/run",
                body: BodyKind::Json,
                upgrade: false,
                errors: ErrorStyle::Plain,
                listener: Listener::Http,
            },
            Door {
                method: Method::Get,
                path: "/pages/{name}/socket",
                body: BodyKind::None,
                upgrade: true,
                errors: ErrorStyle::Plain,
                listener: Listener::Pty,
            },
        ],
        accepts: KeySet::of(
            &[
                Key::Enabled,
                Key::LimitsRatePerMinute,
                Key::ParamsLanguages,
                Key::ParamsDenyPorts,
            ],
        ),
        base: &[
            (Key::ParamsLanguages, BaseValue::Words(&["python", "bash"])),
            (Key::ParamsDenyPorts, BaseValue::Numbers(&[22u64, 9000u64])),
        ],
        audit: AuditLevel::All,
    },
];
/// SHA-256 of what the declaration says, in lower-case hex: what a compiled policy was made for.
pub const TABLE_FINGERPRINT: &str = "25fa3e57eb32ff3929054f2b4222d53335f99436f91db2bc4d659cffd3150b24";
