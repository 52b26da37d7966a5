//! How a URL that was not opened becomes an answer.

use super::{ApiError, ErrorCode};
use crate::egress::{EgressError, Judge};
use policy_lang::decide::{Denial, Gate};

impl ApiError {
    /// The answer to the URL in `parameter` where a rule refuses it (403 `url_not_allowed`, naming the rule) or where it is
    /// none (400 `invalid_parameter`).
    ///
    /// # Errors
    /// Gives the error back where the URL was good: what went wrong on the way there is the handler's to tell.
    pub fn url(judge: &Judge, parameter: &str, error: EgressError) -> Result<Self, EgressError> {
        match error {
            EgressError::Malformed | EgressError::User => {
                Ok(Self::invalid(parameter, format!("{parameter}: {error}")))
            }
            EgressError::Refused(element) => {
                let denial = Denial {
                    gate: Gate::Url,
                    status: ErrorCode::UrlNotAllowed.status().as_u16(),
                    code: ErrorCode::UrlNotAllowed.as_str(),
                    element,
                    parameter: Some(parameter),
                    scope: None,
                    limit: None,
                };
                Ok(Self::denied(&judge.state().policy, judge.endpoint(), &denial))
            }
            error => Err(error),
        }
    }
}
