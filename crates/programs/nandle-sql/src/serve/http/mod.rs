//! Dashboard over HTTP/1.1: the page, and the API under `/api/v1/`.
//!
//! A request passes the guard (`guard`: origin and token) and then a route (`routes`), which
//! queries the current version of the table (`current`). Identical statements run once and are
//! cached (`single_flight`). Each is run within the limits (`query`) and replayed on other devices
//! (`devices`). `watch` detects new versions of the table, which `events` announces, and has `sums`
//! of each built, which then answer requests.

mod api;
mod connected;
mod current;
mod devices;
mod events;
mod guard;
mod openapi;
mod page;
mod patience;
mod problem;
mod query;
mod routes;
mod single_flight;
mod sums;
mod token;
mod watch;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::listening::Listener;
use connected::Connected;
pub(super) use devices::Devices;
use patience::Patient;
pub(super) use routes::Dashboard;
pub(super) use token::Token;

/// Timeout for a request's headers.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// Timeout for the client to take each part of a response.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// No browser sends longer headers.
const HEADERS_BYTES_MAX: usize = 16 << 10;

/// Serves clients until dropped. Dropping it also ends their work.
pub(super) async fn serve(listener: Listener, dashboard: Arc<Dashboard>) {
    let routes = routes::routes(Arc::clone(&dashboard));
    let connected = Arc::new(Connected::default());
    let mut connections = JoinSet::new();
    connections.spawn(watch::watch(dashboard));
    loop {
        tokio::select! {
            socket = listener.accept() => {
                // Closed: too many connections, or disconnected already.
                let address = socket.peer_addr().ok();
                if let Some(connection) = address.and_then(|address| connected.add(address.ip())) {
                    let routes = routes.clone();
                    connections.spawn(async move {
                        connect(socket, routes).await;
                        drop(connection);
                    });
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves a connection until either side closes it. A disconnect drops the client's requests.
async fn connect(socket: TcpStream, routes: axum::Router) {
    let service = tower_service(routes);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(HEADERS_BYTES_MAX)
        .serve_connection(TokioIo::new(Patient::new(socket, TAKEN_WITHIN)), service);
    // Clients may disconnect at any time, and may send anything.
    let _ = connection.await;
}

/// Adapts the routes to the connection.
fn tower_service(
    routes: axum::Router,
) -> impl hyper::service::Service<Request<Incoming>, Response = Response<Body>, Error = Infallible, Future: Send>
{
    TowerToHyperService::new(routes)
}
