//! Static files, and the sign-in page.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use nandle_dashboard::{Parameters, asset};
use tokio::time::timeout;

use super::api::matches;
use super::guard::{COOKIE, SESSION};
use super::problem::Problem;
use super::routes::Dashboard;

/// Longest form; it has one field.
const FORM_BYTES_MAX: usize = 1 << 10;
/// Timeout for a form's body.
const FORM_WITHIN: Duration = Duration::from_secs(10);

/// Serves a static file.
pub(super) async fn file(uri: Uri, headers: HeaderMap) -> Response {
    let Some(asset) = asset(uri.path()) else { return Problem::not_found().into_response() };
    let mut hasher = DefaultHasher::new();
    asset.text.hash(&mut hasher);
    let etag = format!("W/\"{:016x}\"", hasher.finish());
    let known = matches(&headers, &etag);
    let head = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::ETAG, HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("W/\"\""))),
    ];
    if known { (StatusCode::NOT_MODIFIED, head).into_response() } else { (head, asset.text).into_response() }
}

/// Sign-in page; `query` is restored afterwards.
pub(super) fn sign_in(query: Option<&str>, status: StatusCode) -> Response {
    let page = SIGN_IN.replace("{SESSION}", &format!("{SESSION}{}", shown(query).replace('&', "&amp;")));
    let wrong =
        if status == StatusCode::FORBIDDEN { "<p role=\"alert\">That isn't the token.</p>" } else { "" };
    let head = [(header::CACHE_CONTROL, "no-store")];
    (status, head, Html(page.replace("{WRONG}", wrong))).into_response()
}

/// Accepts a token and stores it in an HTTP-only cookie.
pub(super) async fn session(
    State(dashboard): State<Arc<Dashboard>>,
    RawQuery(query): RawQuery,
    body: Body,
) -> Response {
    let Some(token) = dashboard.token() else { return Problem::not_found().into_response() };
    let Ok(form) = timeout(FORM_WITHIN, to_bytes(body, FORM_BYTES_MAX)).await else {
        return Problem::too_slow(FORM_WITHIN).into_response();
    };
    let form = form.ok();
    let form = form.as_deref().and_then(|form| std::str::from_utf8(form).ok());
    let given = form.and_then(|form| Parameters::parse(form).ok()?.token());
    match given {
        Some(given) if token.is(&given) => {
            let cookie = format!("{COOKIE}={given}; Path=/; HttpOnly; SameSite=Lax");
            ([(header::SET_COOKIE, cookie)], Redirect::to(&format!("/{}", shown(query.as_deref()))))
                .into_response()
        }
        _ => sign_in(query.as_deref(), StatusCode::FORBIDDEN),
    }
}

/// The query with its question mark, if it has only the characters of the page's own queries.
fn shown(query: Option<&str>) -> String {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"=&-_,%+.".contains(&letter);
    let plain = query.filter(|query| query.bytes().all(is_plain));
    plain.map(|query| format!("?{query}")).unwrap_or_default()
}

const SIGN_IN: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
<meta name=\"color-scheme\" content=\"light dark\"><title>Sign in: flights</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/assets/dashboard.css\"></head>\
<body><main class=\"sign-in\"><h1>Sign in</h1>{WRONG}<form method=\"post\" action=\"{SESSION}\"><label for=\"token\">Token</label> \
<input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" required> <button>Sign in</button></form>\
<p>It is in the file that the server was started with (--token-file).</p></main></body></html>";
