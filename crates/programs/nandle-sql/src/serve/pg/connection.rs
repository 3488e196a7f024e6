//! A client's connection, until one of both sides ends it.

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

/// Who answers which message.
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

/// Speaks with a client. When the client goes away, what it has begun is dropped.
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

/// Returns when the other side has closed the connection, which is seen while nothing is read from it, too.
async fn gone(socket: &TcpStream) -> io::Result<()> {
    loop {
        if socket.ready(Interest::READABLE).await?.is_read_closed() {
            return Ok(());
        }
        // What came is read elsewhere: this waits for what comes next.
        let _ = socket.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
    }
}
