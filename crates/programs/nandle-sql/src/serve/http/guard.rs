//! Request guard and response headers.
//!
//! Protects against pages of other sites. They can't read responses (no CORS) and can't send
//! requests on a user's behalf (`Origin`, `Sec-Fetch-Site`). DNS rebinding fails, since the `Host`
//! must be an address or `localhost`; with a token any host is accepted, because such a page lacks
//! the token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::page;
use super::problem::Problem;
use super::routes::Dashboard;
use super::token::Token;

/// Cookie with the token.
pub(super) const COOKIE: &str = "nandle_token";
/// Path that receives a token.
pub(super) const SESSION: &str = "/session";

/// Content-Security-Policy: everything from this server only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With `no-referrer` browsers send a form's `Origin` as `null`, which would prevent signing in.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Admits or refuses a request.
pub(super) async fn guard(State(dashboard): State<Arc<Dashboard>>, request: Request, next: Next) -> Response {
    let mut response = match check(&request, dashboard.token()) {
        Ok(()) => next.run(request).await,
        Err(Refusal::Problem(problem)) => problem.into_response(),
        Err(Refusal::NoToken) => page::sign_in(request.uri().query(), StatusCode::UNAUTHORIZED),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

enum Refusal {
    Problem(Problem),
    /// The page explains how to sign in.
    NoToken,
}

fn check(request: &Request, token: Option<&Token>) -> Result<(), Refusal> {
    let (headers, path) = (request.headers(), request.uri().path());
    check_place(request, token.is_some()).map_err(Refusal::Problem)?;
    let is_open = path == SESSION || path.starts_with("/assets/");
    match token {
        Some(token) if !is_open && !has_token(headers, token) => {
            Err(if path == "/" { Refusal::NoToken } else { Refusal::Problem(Problem::no_token()) })
        }
        _ => Ok(()),
    }
}

/// Checks that a request comes from a page of this server, or from no page.
fn check_place(request: &Request, has_token: bool) -> Result<(), Problem> {
    let headers = request.headers();
    let host = single(headers, header::HOST).filter(|host| is_host(host, has_token));
    let host = host.ok_or_else(|| {
        Problem::forbidden(
            "the Host isn't an address or localhost; open the page by the address that the server said",
        )
    })?;
    let is_own = |origin: &str| {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    };
    if headers.contains_key(header::ORIGIN) && !single(headers, header::ORIGIN).is_some_and(is_own) {
        return Err(Problem::forbidden("the Origin is another site's"));
    }
    let of = |name: &'static str| headers.get(name).map(HeaderValue::as_bytes);
    let is_link = request.method() == Method::GET
        && request.uri().path() == "/"
        && of("sec-fetch-mode") == Some(b"navigate");
    if matches!(of("sec-fetch-site"), Some(b"cross-site" | b"same-site")) && !is_link {
        return Err(Problem::forbidden("it was asked for by a page of another site"));
    }
    Ok(())
}

/// Value of a header that occurs exactly once.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Returns true for an address or `localhost` on any port, since it may be forwarded. With a token,
/// any host.
fn is_host(host: &str, has_token: bool) -> bool {
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok();
    if let Some(rest) = host.strip_prefix('[') {
        let parts = rest.split_once(']');
        return parts.is_some_and(|(address, port)| {
            matches!(address.parse::<IpAddr>(), Ok(IpAddr::V6(_)))
                && is_port(port.strip_prefix(':').unwrap_or(port))
        });
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"-.".contains(&letter))
    };
    let is_address = name.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost");
    is_port(port) && (is_address || has_token && is_name(name))
}

fn has_token(headers: &HeaderMap, token: &Token) -> bool {
    let bearer = single(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies =
        cookies.flat_map(|value| value.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    let mut tokens =
        bearer.into_iter().chain(cookies.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value));
    tokens.any(|given| token.is(given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_addresses_unless_there_is_a_token() {
        for host in
            ["127.0.0.1:8642", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8642", "[::1]", "10.0.0.7:80"]
        {
            assert!(is_host(host, false), "{host}");
        }
        for host in [
            "",
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "[::1",
            "[1.2.3.4]",
            "127.0.0.1:x",
            "a b",
        ] {
            assert!(!is_host(host, false), "{host}");
        }
        assert!(is_host("dash.example.org:443", true) && !is_host("a/b", true) && !is_host("", true));
    }
}
