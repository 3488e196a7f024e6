//! Where something listens, as an argument.

use std::net::SocketAddr;

/// An address with a port.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("{text} is no address with a port; write one as 127.0.0.1:8642, [::1]:8642 or 127.0.0.1:0")
    })
}
