//! Errors as `application/problem+json` (RFC 9457).

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nandle_dashboard::{ParameterError, QuestionError};
use nandle_engine::{EngineError, ErrorKind};
use nandle_terminal::output;
use serde::Serialize;
use utoipa::ToSchema;

use crate::serve::limits::Ended;

/// Error response (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct Problem {
    /// Kind of problem, for programs: `urn:nandle:problem:…`.
    r#type: &'static str,
    /// Kind of problem, for people.
    title: &'static str,
    /// HTTP status.
    status: u16,
    /// Cause and remedy.
    detail: String,
    /// Invalid parameter; `null` for other problems.
    parameter: Option<String>,
    /// Seconds after which to retry; `null` if waiting doesn't help.
    retry_after_s: Option<u32>,
}

impl Problem {
    fn new(status: StatusCode, r#type: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        let (status, detail) = (status.as_u16(), detail.into());
        Self { r#type, title, status, detail, parameter: None, retry_after_s: None }
    }

    pub(super) fn forbidden(detail: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "urn:nandle:problem:forbidden", "Not from there", detail)
    }

    pub(super) fn no_token() -> Self {
        let detail = "send the token of --token-file: Authorization: Bearer TOKEN";
        Self::new(StatusCode::UNAUTHORIZED, "urn:nandle:problem:no-token", "A token is needed", detail)
    }

    pub(super) fn not_found() -> Self {
        let detail = "there is nothing under this path; /api/v1/openapi.json lists what there is";
        Self::new(StatusCode::NOT_FOUND, "urn:nandle:problem:not-found", "Not found", detail)
    }

    /// The session path only accepts tokens.
    pub(super) fn wrong_method(is_session: bool) -> Self {
        let (title, detail) = if is_session {
            ("Only signing in", "only POST is possible here: a form with the token")
        } else {
            ("Only reading", "only GET and HEAD are possible here")
        };
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "urn:nandle:problem:method", title, detail)
    }

    pub(super) fn too_slow(within: Duration) -> Self {
        let detail = format!("the rest of the request didn't come within {within:?}; send it again");
        Self::new(StatusCode::REQUEST_TIMEOUT, "urn:nandle:problem:too-slow", "It came too slowly", detail)
    }

    pub(super) fn of_parameter(error: &ParameterError) -> Self {
        let status = match error {
            ParameterError::QueryTooLong { .. } => StatusCode::URI_TOO_LONG,
            _ => StatusCode::BAD_REQUEST,
        };
        let problem = Self::new(
            status,
            "urn:nandle:problem:parameter",
            "A parameter isn't understood",
            error.to_string(),
        );
        Self { parameter: error.parameter().map(str::to_owned), ..problem }
    }

    pub(super) fn of_question(error: &QuestionError<Arc<Ended>>) -> Self {
        match error {
            QuestionError::Query(ended) => Self::of_ended(ended),
            QuestionError::NoFlights { .. } => Self::new(
                StatusCode::NOT_FOUND,
                "urn:nandle:problem:no-flights",
                "No such flights",
                error.to_string(),
            ),
            QuestionError::NoFact { .. } => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "urn:nandle:problem:not-known",
                "Not known of this airport",
                error.to_string(),
            ),
            _ => Self::failed(error.to_string()),
        }
    }

    fn of_ended(ended: &Ended) -> Self {
        match ended {
            Ended::Full { running, waiting } => {
                let detail = format!(
                    "{running} queries run and {waiting} wait already, which is the most; try again soon"
                );
                Self::later("urn:nandle:problem:full", "Too many queries", detail, 2)
            }
            Ended::TimedOut(limit) => {
                let detail = format!(
                    "the query took more than its time, {limit:?}, and was ended; choose fewer months"
                );
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self::new(status, "urn:nandle:problem:time-limit", "It takes too long", detail)
            }
            Ended::Failed(error) => Self::of_engine(error),
        }
    }

    fn of_engine(error: &EngineError) -> Self {
        // Statements name only this table, so it is the table's files that have changed.
        if matches!(error, EngineError::Source { .. }) {
            let (title, detail) = ("The data have just changed", error.to_string());
            return Self::later("urn:nandle:problem:changed", title, detail, 2);
        }
        match error.kind() {
            ErrorKind::OutOfMemory | ErrorKind::OutOfSpill => {
                Self::later("urn:nandle:problem:memory", "The memory is used up", error.to_string(), 5)
            }
            kind @ (ErrorKind::Io | ErrorKind::Damaged) => {
                // The paths of the server's files aren't for clients.
                output::note(&format!("a question of the dashboard: {error}"));
                let title = "The data can't be read";
                if kind == ErrorKind::Damaged {
                    let detail = "a file of the table is damaged; the server has said which one";
                    let status = StatusCode::INTERNAL_SERVER_ERROR;
                    return Self::new(status, "urn:nandle:problem:damaged", title, detail);
                }
                let detail = "a file of the table can't be read, as one that is being replaced; the server has said which one";
                Self::later("urn:nandle:problem:unreadable", title, detail.to_owned(), 5)
            }
            _ => Self::failed(error.to_string()),
        }
    }

    fn failed(detail: String) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "urn:nandle:problem:failed", "The query failed", detail)
    }

    fn later(r#type: &'static str, title: &'static str, detail: String, seconds: u32) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, r#type, title, detail);
        Self { retry_after_s: Some(seconds), ..problem }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after_s.map(HeaderValue::from);
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use nandle_reads::ReadsError;

    use super::*;

    #[test]
    fn data_that_have_changed_are_told_without_the_servers_paths() {
        let why = "its files have changed since they were opened; ask again".to_owned();
        let changed =
            Problem::of_ended(&Ended::Failed(EngineError::Source { name: "flights".to_owned(), why }));
        assert_eq!((changed.status, changed.retry_after_s), (503, Some(2)));
        let file = "/srv/secret/1.parquet".to_owned();
        let source = ReadsError::OwnerGone { why: "it ended".to_owned() };
        let unreadable = Problem::of_ended(&Ended::Failed(EngineError::Reads { file, source }));
        assert_eq!((unreadable.status, unreadable.retry_after_s), (503, Some(5)));
        assert!(!unreadable.detail.contains("secret"), "{}", unreadable.detail);
    }

    #[test]
    fn a_method_that_is_not_possible_is_met_with_the_one_that_is() {
        assert!(Problem::wrong_method(true).detail.contains("POST"));
        assert!(Problem::wrong_method(false).detail.contains("GET"));
    }
}
