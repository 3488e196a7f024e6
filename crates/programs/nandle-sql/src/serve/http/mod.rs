//! The dashboard over HTTP/1.1: the page, and its questions under `/api/v1/`.
//!
//! A request passes the guard (`guard`: from where, with which token), then a route (`routes`), which asks its question of the table as it is
//! (`current`). Equal statements run once and are kept (`once`); each is run within the limits (`query`), and played on other devices (`devices`).
//! `watch` looks for new versions of the table, of which `events` tell, and has `sums` of each made, which answer from then on.

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

/// A client says what it wants within this time, or goes.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// And takes each part of its answer within this time.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// Longer headers no browser sends.
const HEADERS_BYTES_MAX: usize = 16 << 10;

/// Serves clients until it is dropped, and with it all that they have begun.
pub(super) async fn serve(listener: Listener, dashboard: Arc<Dashboard>) {
    let routes = routes::routes(Arc::clone(&dashboard));
    let connected = Arc::new(Connected::default());
    let mut connections = JoinSet::new();
    connections.spawn(watch::watch(dashboard));
    loop {
        tokio::select! {
            socket = listener.accept() => {
                // One that is too many, or has gone already, is closed.
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

/// Speaks with a client until one of both ends it. When the client goes away, what it has asked for is dropped.
async fn connect(socket: TcpStream, routes: axum::Router) {
    let service = tower_service(routes);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(HEADERS_BYTES_MAX)
        .serve_connection(TokioIo::new(Patient::new(socket, TAKEN_WITHIN)), service);
    // Clients may go as they like, and send what isn't HTTP.
    let _ = connection.await;
}

/// Routes as the connection wants them.
fn tower_service(
    routes: axum::Router,
) -> impl hyper::service::Service<Request<Incoming>, Response = Response<Body>, Error = Infallible, Future: Send>
{
    TowerToHyperService::new(routes)
}
