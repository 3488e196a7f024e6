//! Ports that are listened to, whatever is spoken there.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use nandle_terminal::{Failure, output};
use tokio::net::{TcpListener, TcpStream};

/// Without descriptors left, none can be accepted until one is free.
const TRIED_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A port that is listened to.
#[derive(Debug)]
pub(super) struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Begins to listen where an option says.
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

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next client.
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
