//! A client's connection, until either side closes it.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use pgwire::api::auth::StartupHandler;
use pgwire::api::cancel::{CancelHandler, DefaultCancelHandler};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::{ConnectionManager, PgWireServerHandlers};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::client::Client;
use super::extended::Extended;
use super::messages;
use super::startup::Startup;

/// Message handlers.
struct Handlers {
    client: Arc<Client>,
    startup: Arc<Startup>,
    cancel: Arc<DefaultCancelHandler>,
}

impl PgWireServerHandlers for Handlers {
    fn simple_query_handler(&self) -> Arc<impl SimpleQueryHandler> {
        Arc::clone(&self.client)
    }

    fn extended_query_handler(&self) -> Arc<impl ExtendedQueryHandler> {
        Arc::new(Extended(Arc::clone(&self.client)))
    }

    fn startup_handler(&self) -> Arc<impl StartupHandler> {
        Arc::clone(&self.startup)
    }

    fn cancel_handler(&self) -> Arc<impl CancelHandler> {
        Arc::clone(&self.cancel)
    }
}

/// Serves a client. A disconnect drops its queries.
pub(super) async fn run(
    socket: TcpStream,
    client: Client,
    manager: Arc<ConnectionManager>,
) -> io::Result<()> {
    let client = Arc::new(client);
    let handlers = Handlers {
        startup: Arc::new(Startup { client: Arc::clone(&client), manager: Arc::clone(&manager) }),
        cancel: Arc::new(DefaultCancelHandler::new(manager)),
        client,
    };
    let watched = TcpStream::from_std(socket.as_fd().try_clone_to_owned()?.into())?;
    tokio::select! {
        ended = messages::answer(socket, handlers) => ended,
        ended = gone(&watched) => ended,
    }
}

/// Returns when the peer has closed the connection, even while nothing is read.
async fn gone(socket: &TcpStream) -> io::Result<()> {
    loop {
        if socket.ready(Interest::READABLE).await?.is_read_closed() {
            return Ok(());
        }
        // Clears the readiness: arrived data is read elsewhere, and this waits for the next event.
        let _ = socket.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    }
}
