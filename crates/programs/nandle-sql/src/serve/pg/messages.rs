//! Message loop of a connection.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt as _;
use pgwire::api::{ClientInfo as _, PgWireConnectionState, PgWireServerHandlers};
use pgwire::messages::PgWireFrontendMessage;
use pgwire::tokio::server::{negotiate_tls, process_error, process_message};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::errors;

/// Longest message. The protocol allows 1 GB, which no memory pool accounts for; a statement may
/// have 1 MiB, plus its parameters.
const BYTES_MAX: usize = 16 << 20;
/// Timeout for the startup message.
const STARTED_WITHIN: Duration = Duration::from_mins(1);

/// Reads and answers messages.
pub(super) async fn answer(socket: TcpStream, handlers: impl PgWireServerHandlers) -> io::Result<()> {
    let mut is_late = Box::pin(sleep(STARTED_WITHIN));
    let negotiated = tokio::select! {
        () = &mut is_late => return Ok(()),
        negotiated = negotiate_tls(socket, None) => negotiated?,
    };
    // Drops clients that start TLS without negotiation.
    let Some(mut socket) = negotiated else { return Ok(()) };
    loop {
        let state = socket.state();
        let is_starting = matches!(
            state,
            PgWireConnectionState::AwaitingStartup | PgWireConnectionState::AuthenticationInProgress
        );
        let next = poll_fn(|context| match socket.poll_next_unpin(context) {
            Poll::Pending if !is_starting && is_too_long(socket.read_buffer()) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(Some(None)),
            Poll::Ready(Some(message)) => Poll::Ready(Some(message.ok())),
        });
        let next = tokio::select! {
            () = &mut is_late, if is_starting => return Ok(()),
            next = next => next,
        };
        let Some(message) = next else {
            return process_error(&mut socket, errors::too_long_message(BYTES_MAX), false).await;
        };
        // A malformed message ends the connection, as Terminate does.
        let Some(message) = message.filter(|message| !matches!(message, PgWireFrontendMessage::Terminate(_)))
        else {
            return Ok(());
        };
        let is_extended = message.is_extended_query();
        let answered = process_message(
            message,
            &mut socket,
            handlers.startup_handler(),
            handlers.simple_query_handler(),
            handlers.extended_query_handler(),
            handlers.copy_handler(),
            handlers.cancel_handler(),
        );
        if let Err(error) = answered.await {
            process_error(&mut socket, error, is_extended).await?;
        }
    }
}

/// Returns true if a message's header announces more than the longest message.
fn is_too_long(begun: &[u8]) -> bool {
    let length = begun.get(1..5).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    length.is_some_and(|length| length as usize > BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_how_long_it_is() {
        assert!(!is_too_long(b"Q\x01\x00\x00") && !is_too_long(b"Q\x01\x00\x00\x00"));
        assert!(is_too_long(b"Q\x01\x00\x00\x01SELECT"));
    }
}
