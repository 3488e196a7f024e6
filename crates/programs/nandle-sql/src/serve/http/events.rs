//! News of the table, as server-sent events (WHATWG HTML, §9.2): a `version` at the beginning and whenever there is a new one.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use super::routes::Dashboard;

/// A sign of life, by which a client that has gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Tells of versions until the client goes.
#[utoipa::path(
    get, path = "/api/v1/events", tag = "events",
    responses((status = 200, content_type = "text/event-stream", body = String, description = "Events `version`, whose data is a version of the table"))
)]
pub(super) async fn events(State(dashboard): State<Arc<Dashboard>>) -> Response {
    let mut versions = dashboard.versions();
    versions.mark_changed();
    let news = unfold(versions, |mut versions| async move {
        versions.changed().await.ok()?;
        let version = versions.borrow_and_update().clone();
        Some((Ok::<_, Infallible>(Event::default().event("version").data(version)), versions))
    });
    Sse::new(news).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}
