//! Parses the address of a listener.

use std::net::SocketAddr;

/// Parses an address with a port; `port` appears in the error's example.
pub(crate) fn address(text: &str, port: u16) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!(
            "{text} is no address with a port; write one as 127.0.0.1:{port}, [::1]:{port} or 127.0.0.1:0"
        )
    })
}
