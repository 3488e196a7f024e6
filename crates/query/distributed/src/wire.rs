//! Requests to a worker besides parts of queries: liveness and description. Plain HTTP requests
//! with the sender's version and secret.

use std::num::NonZeroUsize;

use http::{HeaderMap, HeaderValue, StatusCode};
use nandle_reads::ReadCosts;
use serde::{Deserialize, Serialize};

use crate::Secret;

/// Answered at once, whatever is being computed.
pub(crate) const ALIVE: &str = "/nandle.Worker/Alive";
/// Status of a worker whose reads hang; the text states for how long.
pub(crate) const HUNG: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
/// Answered by a [`Description`].
pub(crate) const DESCRIBE: &str = "/nandle.Worker/Describe";
/// Answered by the bytes of memory that queries hold, in decimal digits.
pub(crate) const HELD: &str = "/nandle.Worker/Held";
/// Header with the sender's version.
const VERSION: &str = "nandle-version";
/// Header with the secret, as in RFC 6750.
const AUTHORIZATION: &str = "authorization";

/// Description of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Description {
    /// Computing threads.
    pub(crate) threads: NonZeroUsize,
    /// Memory of its queries; `None` if unlimited.
    pub(crate) memory_bytes: Option<u64>,
    /// Read costs of its device.
    pub(crate) costs: ReadCosts,
}

/// Credentials of each request.
#[derive(Debug, Clone)]
pub(crate) struct Pass {
    pub(crate) version: String,
    pub(crate) secret: Option<Secret>,
}

impl Pass {
    /// Adds them to the headers of a request.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        let values = [
            (VERSION, Some(self.version.clone())),
            (AUTHORIZATION, self.secret.as_ref().map(Secret::to_header)),
        ];
        for (name, value) in values {
            // Both are visible ASCII.
            if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
                headers.insert(name, value);
            }
        }
    }

    /// Returns the reason to reject a request with these headers, or `None`.
    pub(crate) fn objection(&self, headers: &HeaderMap) -> Option<Objection> {
        let header = |name: &str| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
        if self.secret.as_ref().is_some_and(|secret| !secret.is_in(header(AUTHORIZATION))) {
            return Some(Objection::Secret);
        }
        let theirs = header(VERSION);
        let is_other = theirs != self.version.as_bytes();
        is_other.then(|| Objection::Version {
            ours: self.version.clone(),
            theirs: String::from_utf8_lossy(theirs).into_owned(),
        })
    }
}

/// Reason to reject a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Objection {
    #[error(
        "the request lacks its secret, or has another one; name the same file on both sides: --secret-file FILE"
    )]
    Secret,
    #[error(
        "it is version {ours} of the program, and the request is of version {theirs}; run the same on all machines"
    )]
    Version { ours: String, theirs: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_others_are_told_apart() {
        let pass = |version: &str, secret: Option<&str>| Pass {
            version: version.to_owned(),
            secret: secret.map(|text| Secret::new(text).unwrap()),
        };
        let objection = |own: &Pass, other: &Pass| {
            let mut headers = HeaderMap::new();
            other.add_to(&mut headers);
            own.objection(&headers)
        };
        let own = pass("1.2.3", Some("0123456789abcdef"));
        assert_eq!(objection(&own, &own), None);
        assert_eq!(objection(&own, &pass("1.2.3", None)), Some(Objection::Secret));
        assert_eq!(objection(&own, &pass("1.2.3", Some("0123456789abcdeF"))), Some(Objection::Secret));
        let other = objection(&own, &pass("1.2.4", Some("0123456789abcdef"))).unwrap().to_string();
        assert!(other.contains("1.2.3") && other.contains("1.2.4"), "{other}");
        assert_eq!(objection(&pass("1", None), &pass("1", Some("0123456789abcdef"))), None);
    }
}
