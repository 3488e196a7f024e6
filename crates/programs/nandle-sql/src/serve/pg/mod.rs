//! PostgreSQL wire protocol, version 3 ("Frontend/Backend Protocol" of its manual), for read-only
//! clients.
//!
//! A connection (`connection`) has a session (`client`). The simple (`simple`) and the extended
//! (`extended`) query protocol share their implementation (`answers`).

mod answers;
mod client;
mod connection;
mod errors;
mod extended;
mod messages;
mod parsed;
mod rows;
mod settings;
mod simple;
mod startup;
mod statements;
mod types;
mod values;

use std::io::ErrorKind;
use std::sync::Arc;

use nandle_engine::Sessions;
use nandle_terminal::output;
use pgwire::api::ConnectionManager;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::limits::Limits;
use super::listening::Listener;
use client::Client;

/// Connections at once; PostgreSQL's default.
const CLIENTS_MOST: usize = 100;
/// Serves clients until dropped. Dropping it also ends their queries.
pub(super) async fn serve(listener: Listener, sessions: Arc<Sessions>, limits: Arc<Limits>) {
    let manager = Arc::new(ConnectionManager::new());
    let places = Arc::new(Semaphore::new(CLIENTS_MOST));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            socket = listener.accept() => {
                let place = Arc::clone(&places).try_acquire_owned().ok();
                let client = Client::new(sessions.open(), Arc::clone(&limits), place);
                connections.spawn(connect(socket, client, Arc::clone(&manager)));
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

async fn connect(socket: TcpStream, client: Client, manager: Arc<ConnectionManager>) {
    // Clients may disconnect at any time.
    let is_usual = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::NotConnected)
    };
    if let Err(error) = connection::run(socket, client, manager).await
        && !is_usual(&error)
    {
        output::note(&format!("a client's connection: {error}"));
    }
}
