//! How the failure of a file service becomes an answer.

use crate::error::{ApiError, ErrorCode};
use crate::files::FilesError;
use crate::guard::{GuardError, Refusal, RefusalKind};
use crate::pipeline::admit::Permit;
use policy_lang::decide::{Denial, Gate};
use policy_lang::policy::ElementRef;

/// The answer; `name` is the parameter that the failure is about.
pub(super) fn answer(permit: &Permit, name: &str, error: &FilesError) -> ApiError {
    match *error {
        FilesError::Guard(error) => of_guard(permit, name, error),
        FilesError::AlreadyExists => {
            ApiError::new(ErrorCode::AlreadyExists, "Something lies there already").with("parameter", name)
        }
        FilesError::Conflict(why) => ApiError::new(ErrorCode::Conflict, why).with("parameter", name),
        FilesError::FileTooLarge { limit } => {
            ApiError::new(ErrorCode::FileTooLarge, format!("File is larger than {limit} bytes"))
                .with("limit", limit)
        }
        FilesError::ArchiveTooLarge { limit, unit } => {
            ApiError::new(ErrorCode::ArchiveTooLarge, format!("Archive passes the limit of {limit} {unit}"))
                .with("limit", limit)
        }
        FilesError::TooManyEntries { limit } => {
            let message = format!("Directory holds more than {limit} entries");
            ApiError::new(ErrorCode::RequestTooLarge, message).with("limit", limit)
        }
        FilesError::NoSpace => ApiError::new(ErrorCode::NoSpace, "No space left on the file system"),
        FilesError::ReadOnlySystem => ApiError::new(ErrorCode::ReadOnly, "The file system is read-only")
            .with("endpoint", permit.state().policy.name(permit.endpoint()).unwrap_or_default()),
        FilesError::BadContent(why) => ApiError::invalid("content_base64", why),
        FilesError::BadPattern(why) => ApiError::invalid("pattern", why),
        FilesError::TimedOut => ApiError::new(ErrorCode::Timeout, "The time limit passed"),
        FilesError::Cancelled => ApiError::internal("The client has left"),
        FilesError::Incomplete { removed, .. } => {
            ApiError::internal(format!("{removed} entries were deleted, then one could not be"))
                .kind("OSError")
                .with("removed", removed)
        }
        FilesError::Io(_) => ApiError::internal("The file system refused").kind("OSError"),
    }
}

/// The answer to what the guard does not open.
pub(in super::super) fn of_guard(permit: &Permit, name: &str, error: GuardError) -> ApiError {
    match error {
        GuardError::Refused(refusal) => denied(permit, name, refusal),
        GuardError::InvalidPath(why) => ApiError::invalid(name, format!("Path is not valid: {why}")),
        GuardError::NotFound => {
            ApiError::not_found("FileNotFoundError", "No such file or directory").with("parameter", name)
        }
        GuardError::NotADirectory => ApiError::invalid(name, "Not a directory").kind("NotADirectoryError"),
        GuardError::NotARegularFile => {
            ApiError::new(ErrorCode::NotARegularFile, "Not a regular file").with("parameter", name)
        }
        GuardError::IsRoot => denied(permit, name, Refusal::own(RefusalKind::ReadOnly)),
        GuardError::Io(_) => ApiError::internal("The file system refused").kind("OSError"),
    }
}

/// The very answer that the decision function's refusal gets.
fn denied(permit: &Permit, name: &str, Refusal { kind, element }: Refusal) -> ApiError {
    let code = match kind {
        RefusalKind::NotAllowed => ErrorCode::PathNotAllowed,
        RefusalKind::Denied => ErrorCode::PathDenied,
        RefusalKind::ReadOnly => ErrorCode::ReadOnly,
        RefusalKind::Symlink => ErrorCode::SymlinkDenied,
        RefusalKind::Extension => ErrorCode::ExtensionNotAllowed,
    };
    let gate = if kind == RefusalKind::Extension { Gate::Extension } else { Gate::Path };
    let denial = Denial {
        gate,
        status: 403,
        code: code.as_str(),
        element: if element == ElementRef::BASE { of_policy(permit, kind) } else { element },
        parameter: Some(name),
        scope: None,
        limit: None,
    };
    ApiError::denied(&permit.state().policy, permit.endpoint(), &denial)
}

/// What the guard refuses by itself because it lies outside, nothing allows: the rule that says what is allowed.
fn of_policy(permit: &Permit, kind: RefusalKind) -> ElementRef {
    let paths = permit.rules().and_then(|rules| rules.paths.as_deref());
    match (kind, paths) {
        (RefusalKind::NotAllowed, Some(paths)) => ElementRef { rule: paths.allow_rule(), ..ElementRef::BASE },
        _ => ElementRef::BASE,
    }
}
