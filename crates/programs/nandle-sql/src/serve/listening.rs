//! Listeners, independent of the protocol.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use nandle_terminal::{Failure, output};
use tokio::net::{TcpListener, TcpStream};

/// Pause after running out of file descriptors.
const TRIED_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A listening port.
#[derive(Debug)]
pub(super) struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens on the address of a command-line option.
    pub(super) async fn bind(address: SocketAddr, option: &str) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::failed(match error.kind() {
                ErrorKind::AddrInUse => format!(
                    "listening on {address}: another program does already; take another port ({option} {}:0 has the system choose one), or \
                     end that program (`ss -ltnp` names it)",
                    address.ip()
                ),
                ErrorKind::PermissionDenied => {
                    format!(
                        "listening on {address}: {error}; ports below 1024 are for root, take another one"
                    )
                }
                _ => format!("listening on {address}: {error}"),
            })
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Bound address.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts the next client.
    pub(super) async fn accept(&self) -> TcpStream {
        loop {
            match self.listener.accept().await {
                Ok((socket, _)) => return socket,
                Err(error) => {
                    output::note(&format!("accepting a client: {error}"));
                    tokio::time::sleep(TRIED_AGAIN_AFTER).await;
                }
            }
        }
    }
}
