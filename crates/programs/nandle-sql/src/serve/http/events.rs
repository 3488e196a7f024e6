//! Server-sent events (WHATWG HTML, §9.2), sent initially and on each change: `version` of the
//! table, and `devices`, the number of devices whose probe has ended.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, select, unfold};
use tokio::sync::watch::Receiver;

use super::routes::Dashboard;

/// Keep-alive that detects disconnected clients.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Stream of table versions and counts of measured devices
#[utoipa::path(
    get, path = "/api/v1/events", tag = "events",
    responses((status = 200, content_type = "text/event-stream", body = String, description = "Events `version`, with the version of the table, and `devices`, with the number of devices in /api/v1/devices whose measurement has ended"))
)]
pub(super) async fn events(State(dashboard): State<Arc<Dashboard>>) -> Response {
    let news = select(told("version", dashboard.versions()), told("devices", dashboard.devices().known()));
    Sse::new(news).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// Sends an event for the current value and one for each change.
fn told<T: ToString + Clone + Send + Sync + 'static>(
    name: &'static str,
    mut state: Receiver<T>,
) -> impl Stream<Item = Result<Event, Infallible>> + Send + use<T> {
    state.mark_changed();
    unfold(state, move |mut state| async move {
        state.changed().await.ok()?;
        let data = state.borrow_and_update().to_string();
        Some((Ok(Event::default().event(name).data(data)), state))
    })
}
