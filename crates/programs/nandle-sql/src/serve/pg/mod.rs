//! The wire protocol of PostgreSQL, version 3 ("Frontend/Backend Protocol" of its manual), for clients that read.
//!
//! A connection (`connection`) has a client's session (`client`); what comes in a message of its own (`simple`) or is parsed, bound and executed one
//! by one (`extended`) is answered by the same functions (`answers`).

mod answers;
mod client;
mod connection;
mod errors;
mod extended;
mod parsed;
mod rows;
mod settings;
mod simple;
mod startup;
mod types;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use nandle_engine::Sessions;
use nandle_terminal::{Failure, output};
use pgwire::api::ConnectionManager;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::limits::Limits;
use client::Client;

/// Clients that are connected at once; as many as PostgreSQL has unless told otherwise.
const CLIENTS_MOST: usize = 100;
/// Without descriptors left, none can be accepted until one is free.
const TRIED_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A port that is listened to.
#[derive(Debug)]
pub(super) struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

/// Begins to listen.
pub(super) async fn listen(address: SocketAddr) -> Result<Listener, Failure> {
    let failed = |error: std::io::Error| {
        Failure::failed(match error.kind() {
            ErrorKind::AddrInUse => format!(
                "listening on {address}: another program does already; take another port (--pg {}:0 has the system choose one), or end that \
                 program (`ss -ltnp` names it)",
                address.ip()
            ),
            ErrorKind::PermissionDenied => {
                format!("listening on {address}: {error}; ports below 1024 are for root, take another one")
            }
            _ => format!("listening on {address}: {error}"),
        })
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok(Listener { listener, address })
}

impl Listener {
    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves clients until it is dropped, and with it all that they have begun.
    pub(super) async fn serve(self, sessions: Arc<Sessions>, limits: Arc<Limits>) {
        let manager = Arc::new(ConnectionManager::new());
        let places = Arc::new(Semaphore::new(CLIENTS_MOST));
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((socket, _)) => {
                        let place = Arc::clone(&places).try_acquire_owned().ok();
                        let client = Client::new(sessions.open(), Arc::clone(&limits), place);
                        connections.spawn(connect(socket, client, Arc::clone(&manager)));
                    }
                    Err(error) => {
                        output::note(&format!("accepting a client: {error}"));
                        tokio::time::sleep(TRIED_AGAIN_AFTER).await;
                    }
                },
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
            }
        }
    }
}

async fn connect(socket: TcpStream, client: Client, manager: Arc<ConnectionManager>) {
    // Clients may go as they like.
    let is_usual = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::NotConnected)
    };
    if let Err(error) = connection::run(socket, client, manager).await
        && !is_usual(&error)
    {
        output::note(&format!("a client's connection: {error}"));
    }
}
