//! How a refusal of the policy becomes an answer.

use super::{ApiError, ErrorCode};
use policy_lang::decide::Denial;
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::EndpointIx;

impl ApiError {
    /// The answer to a call that the policy refuses: its code, the endpoint and the rule, and never whether a path exists.
    #[must_use]
    pub fn denied(policy: &CompiledPolicy, endpoint: EndpointIx, denial: &Denial<'_>) -> Self {
        // A code without a row here would be a new gate without its answer; refuse all the same.
        let code = ErrorCode::from_name(denial.code).unwrap_or(ErrorCode::Internal);
        let name = policy.name(endpoint).unwrap_or_default();
        let mut error = Self::new(code, message(code, name, denial)).with("endpoint", name);
        if let Some(scope) = &denial.scope {
            error = error.with("scope", scope.as_ref());
        }
        if let Some(limit) = denial.limit {
            error = error.with("limit", limit);
        }
        if let Some(parameter) = denial.parameter {
            error = error.with("parameter", parameter);
        }
        error.rule(policy.rule_name(denial.rule()))
    }
}

fn message(code: ErrorCode, endpoint: &str, denial: &Denial<'_>) -> String {
    match code {
        ErrorCode::EndpointDisabled => format!("Endpoint is disabled: {endpoint}"),
        ErrorCode::MissingScope => {
            format!("Missing scope for {endpoint}: {}", denial.scope.as_deref().unwrap_or("*"))
        }
        ErrorCode::PathNotAllowed => "Path is outside the allowed directories".to_owned(),
        ErrorCode::PathDenied => "Path is denied by policy".to_owned(),
        ErrorCode::ReadOnly => "Path is read-only by policy".to_owned(),
        ErrorCode::SymlinkDenied => "Symbolic links are denied by policy".to_owned(),
        ErrorCode::RequestTooLarge | ErrorCode::FileTooLarge => {
            format!("Larger than the limit of {} bytes", denial.limit.unwrap_or_default())
        }
        other => format!("Refused by policy: {}", other.as_str()),
    }
}
