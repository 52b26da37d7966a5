//! Every code that an error body can carry, with its status and the `type` it has unless a handler names another.

use axum::http::StatusCode;

macro_rules! codes {
    ($( $variant:ident = $name:literal, $status:ident, $kind:literal; )*) => {
        /// The `code` member of an error body.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $( #[doc = concat!("`", $name, "`")] $variant, )* }

        impl ErrorCode {
            /// All, in the order of the table.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )* ];

            /// The code as written in a body.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// The status that it comes with.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $( Self::$variant => StatusCode::$status, )* }
            }

            /// The `type` member unless a handler names another.
            #[must_use]
            pub const fn kind(self) -> &'static str {
                match self { $( Self::$variant => $kind, )* }
            }
        }
    };
}

codes! {
    InvalidJson = "invalid_json", BAD_REQUEST, "ValueError";
    InvalidParameter = "invalid_parameter", BAD_REQUEST, "ValueError";
    MissingParameter = "missing_parameter", BAD_REQUEST, "ValueError";
    InvalidPath = "invalid_path", BAD_REQUEST, "ValueError";
    NotARegularFile = "not_a_regular_file", BAD_REQUEST, "ValueError";
    CommandNotFound = "command_not_found", BAD_REQUEST, "FileNotFoundError";
    BodyNotAllowed = "body_not_allowed", BAD_REQUEST, "ValueError";
    DuplicateParameter = "duplicate_parameter", BAD_REQUEST, "ValueError";
    AmbiguousCredentials = "ambiguous_credentials", BAD_REQUEST, "AuthError";
    Unauthorized = "unauthorized", UNAUTHORIZED, "AuthError";
    MissingScope = "missing_scope", FORBIDDEN, "PermissionError";
    PathNotAllowed = "path_not_allowed", FORBIDDEN, "PermissionError";
    PathDenied = "path_denied", FORBIDDEN, "PermissionError";
    ReadOnly = "read_only", FORBIDDEN, "PermissionError";
    SymlinkDenied = "symlink_denied", FORBIDDEN, "PermissionError";
    CommandNotAllowed = "command_not_allowed", FORBIDDEN, "PermissionError";
    LanguageNotAllowed = "language_not_allowed", FORBIDDEN, "PermissionError";
    SignalNotAllowed = "signal_not_allowed", FORBIDDEN, "PermissionError";
    ShellNotAllowed = "shell_not_allowed", FORBIDDEN, "PermissionError";
    UrlNotAllowed = "url_not_allowed", FORBIDDEN, "PermissionError";
    PortNotAllowed = "port_not_allowed", FORBIDDEN, "PermissionError";
    VariableNotAllowed = "variable_not_allowed", FORBIDDEN, "PermissionError";
    ExtensionNotAllowed = "extension_not_allowed", FORBIDDEN, "PermissionError";
    UserNotAllowed = "user_not_allowed", FORBIDDEN, "PermissionError";
    RepoConfigDenied = "repo_config_denied", FORBIDDEN, "PermissionError";
    OriginNotAllowed = "origin_not_allowed", FORBIDDEN, "PermissionError";
    NotFound = "not_found", NOT_FOUND, "NotFoundError";
    EndpointDisabled = "endpoint_disabled", NOT_FOUND, "ValueError";
    Timeout = "timeout", REQUEST_TIMEOUT, "TimeoutError";
    Conflict = "conflict", CONFLICT, "ConflictError";
    AlreadyExists = "already_exists", CONFLICT, "FileExistsError";
    OffsetExpired = "offset_expired", GONE, "ValueError";
    LengthRequired = "length_required", LENGTH_REQUIRED, "ValueError";
    RequestTooLarge = "request_too_large", PAYLOAD_TOO_LARGE, "ValueError";
    FileTooLarge = "file_too_large", PAYLOAD_TOO_LARGE, "ValueError";
    ArchiveTooLarge = "archive_too_large", PAYLOAD_TOO_LARGE, "ValueError";
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "ValueError";
    RangeNotSatisfiable = "range_not_satisfiable", RANGE_NOT_SATISFIABLE, "ValueError";
    HostNotAllowed = "host_not_allowed", MISDIRECTED_REQUEST, "PermissionError";
    RateLimited = "rate_limited", TOO_MANY_REQUESTS, "ResourceError";
    TooManyConcurrent = "too_many_concurrent", TOO_MANY_REQUESTS, "ResourceError";
    TooManyProcesses = "too_many_processes", TOO_MANY_REQUESTS, "ResourceError";
    TooManySessions = "too_many_sessions", TOO_MANY_REQUESTS, "RuntimeError";
    AuthRateLimited = "auth_rate_limited", TOO_MANY_REQUESTS, "AuthError";
    HeadersTooLarge = "headers_too_large", REQUEST_HEADER_FIELDS_TOO_LARGE, "ValueError";
    Internal = "internal", INTERNAL_SERVER_ERROR, "InternalError";
    SpawnFailed = "spawn_failed", INTERNAL_SERVER_ERROR, "OSError";
    MethodNotImplemented = "method_not_implemented", NOT_IMPLEMENTED, "ValueError";
    NavigationFailed = "navigation_failed", BAD_GATEWAY, "NavigationError";
    AgentProtocolError = "agent_protocol_error", BAD_GATEWAY, "RuntimeError";
    AgentTimeout = "agent_timeout", GATEWAY_TIMEOUT, "TimeoutError";
    BrowserUnavailable = "browser_unavailable", SERVICE_UNAVAILABLE, "RuntimeError";
    AgentUnavailable = "agent_unavailable", SERVICE_UNAVAILABLE, "RuntimeError";
    AuditUnavailable = "audit_unavailable", SERVICE_UNAVAILABLE, "RuntimeError";
    Draining = "draining", SERVICE_UNAVAILABLE, "RuntimeError";
    InvalidCursor = "invalid_cursor", BAD_REQUEST, "ValueError";
    InvalidRequest = "invalid_request", BAD_REQUEST, "ValueError";
    InvalidAgent = "invalid_agent", BAD_REQUEST, "ValueError";
    UnknownMethod = "unknown_method", BAD_REQUEST, "ValueError";
    InvalidName = "invalid_name", BAD_REQUEST, "ValueError";
    InvalidQueueOrder = "invalid_queue_order", BAD_REQUEST, "ValueError";
    MethodNotAllowed = "method_not_allowed", BAD_REQUEST, "ValueError";
    InvalidPrompt = "invalid_prompt", BAD_REQUEST, "ValueError";
    InvalidOption = "invalid_option", BAD_REQUEST, "ValueError";
    InvalidAnswer = "invalid_answer", BAD_REQUEST, "ValueError";
    InvalidRule = "invalid_rule", BAD_REQUEST, "ValueError";
    InvalidValue = "invalid_value", BAD_REQUEST, "ValueError";
    InvalidServer = "invalid_server", BAD_REQUEST, "ValueError";
    InvalidSkill = "invalid_skill", BAD_REQUEST, "ValueError";
    InvalidSchedule = "invalid_schedule", BAD_REQUEST, "ValueError";
    InvalidWebhook = "invalid_webhook", BAD_REQUEST, "ValueError";
    InvalidRange = "invalid_range", BAD_REQUEST, "ValueError";
    InvalidQuery = "invalid_query", BAD_REQUEST, "ValueError";
    ImportInvalid = "import_invalid", BAD_REQUEST, "ValueError";
    ModeDenied = "mode_denied", FORBIDDEN, "PermissionError";
    AgentNotFound = "agent_not_found", NOT_FOUND, "NotFoundError";
    ProcessNotFound = "process_not_found", NOT_FOUND, "NotFoundError";
    CredentialNotFound = "credential_not_found", NOT_FOUND, "NotFoundError";
    SessionNotFound = "session_not_found", NOT_FOUND, "NotFoundError";
    NativeSessionNotFound = "native_session_not_found", NOT_FOUND, "NotFoundError";
    TurnNotFound = "turn_not_found", NOT_FOUND, "NotFoundError";
    ItemNotFound = "item_not_found", NOT_FOUND, "NotFoundError";
    RequestNotFound = "request_not_found", NOT_FOUND, "NotFoundError";
    RuleNotFound = "rule_not_found", NOT_FOUND, "NotFoundError";
    OptionNotFound = "option_not_found", NOT_FOUND, "NotFoundError";
    CheckpointNotFound = "checkpoint_not_found", NOT_FOUND, "NotFoundError";
    ArtifactNotFound = "artifact_not_found", NOT_FOUND, "NotFoundError";
    ServerNotFound = "server_not_found", NOT_FOUND, "NotFoundError";
    SkillNotFound = "skill_not_found", NOT_FOUND, "NotFoundError";
    ScheduleNotFound = "schedule_not_found", NOT_FOUND, "NotFoundError";
    WebhookNotFound = "webhook_not_found", NOT_FOUND, "NotFoundError";
    BuiltinAgent = "builtin_agent", CONFLICT, "ConflictError";
    AgentInUse = "agent_in_use", CONFLICT, "ConflictError";
    InstallRunning = "install_running", CONFLICT, "ConflictError";
    RuntimeMissing = "runtime_missing", CONFLICT, "ConflictError";
    AgentNotInstalled = "agent_not_installed", CONFLICT, "ConflictError";
    AgentAuthRequired = "agent_auth_required", CONFLICT, "ConflictError";
    CapabilityMissing = "capability_missing", CONFLICT, "ConflictError";
    VersionConflict = "version_conflict", CONFLICT, "ConflictError";
    IdempotencyConflict = "idempotency_conflict", CONFLICT, "ConflictError";
    SessionBusy = "session_busy", CONFLICT, "ConflictError";
    SessionClosed = "session_closed", CONFLICT, "ConflictError";
    SessionDisconnected = "session_disconnected", CONFLICT, "ConflictError";
    SessionExists = "session_exists", CONFLICT, "ConflictError";
    NotResumable = "not_resumable", CONFLICT, "ConflictError";
    AlreadyAdopted = "already_adopted", CONFLICT, "ConflictError";
    TurnFinished = "turn_finished", CONFLICT, "ConflictError";
    NotSteerable = "not_steerable", CONFLICT, "ConflictError";
    RequestResolved = "request_resolved", CONFLICT, "ConflictError";
    WrongKind = "wrong_kind", CONFLICT, "ConflictError";
    WorkspaceTooLarge = "workspace_too_large", CONFLICT, "ConflictError";
    RestoreConflict = "restore_conflict", CONFLICT, "ConflictError";
    Overlap = "overlap", CONFLICT, "ConflictError";
    TooLarge = "too_large", PAYLOAD_TOO_LARGE, "ValueError";
    SessionLimit = "session_limit", TOO_MANY_REQUESTS, "ResourceError";
    QueueFull = "queue_full", TOO_MANY_REQUESTS, "ResourceError";
    BudgetExceeded = "budget_exceeded", TOO_MANY_REQUESTS, "ResourceError";
    ScheduleLimit = "schedule_limit", TOO_MANY_REQUESTS, "ResourceError";
    WebhookLimit = "webhook_limit", TOO_MANY_REQUESTS, "ResourceError";
    McpCheckFailed = "mcp_check_failed", BAD_GATEWAY, "RuntimeError";
    McpTimeout = "mcp_timeout", GATEWAY_TIMEOUT, "TimeoutError";
    TurnTimeout = "turn_timeout", GATEWAY_TIMEOUT, "TimeoutError";
    GitMissing = "git_missing", SERVICE_UNAVAILABLE, "RuntimeError";
    EndpointNotBuilt = "endpoint_not_built", SERVICE_UNAVAILABLE, "RuntimeError";
    NoSpace = "no_space", INSUFFICIENT_STORAGE, "OSError";
}

impl ErrorCode {
    /// The code of this name: how a refusal of the policy becomes an answer.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn names_are_unique_and_lead_back() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_name(code.as_str()), Some(*code));
        }
    }
}
