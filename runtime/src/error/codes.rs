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
    AgentProtocolError = "agent_protocol_error", BAD_GATEWAY, "RuntimeError";
    AgentTimeout = "agent_timeout", GATEWAY_TIMEOUT, "TimeoutError";
    BrowserUnavailable = "browser_unavailable", SERVICE_UNAVAILABLE, "RuntimeError";
    AgentUnavailable = "agent_unavailable", SERVICE_UNAVAILABLE, "RuntimeError";
    AuditUnavailable = "audit_unavailable", SERVICE_UNAVAILABLE, "RuntimeError";
    Draining = "draining", SERVICE_UNAVAILABLE, "RuntimeError";
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
