//! Limits the number of connections, in total and per network, so that no client locks out all
//! others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Connections at once; a browser opens up to six.
const ALL_MOST: usize = 256;
/// Connections at once from one network.
const NETWORK_MOST: usize = 64;

/// Connection counts.
#[derive(Debug, Default)]
pub(super) struct Connected(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    networks: HashMap<IpAddr, usize>,
}

/// A counted connection, until dropped.
#[derive(Debug)]
pub(super) struct Connection {
    connected: Arc<Connected>,
    network: Option<IpAddr>,
}

impl Connected {
    /// Counts a connection; `None` if there are too many.
    pub(super) fn add(self: &Arc<Self>, address: IpAddr) -> Option<Connection> {
        let network = network(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = network.and_then(|network| counts.networks.get(&network).copied()).unwrap_or_default();
        if counts.all >= ALL_MOST || before >= NETWORK_MOST {
            return None;
        }
        counts.all += 1;
        if let Some(network) = network {
            counts.networks.insert(network, before + 1);
        }
        Some(Connection { connected: Arc::clone(self), network })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut counts = self.connected.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        let Some(network) = self.network else { return };
        if let Some(count) = counts.networks.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                counts.networks.remove(&network);
            }
        }
    }
}

/// Network of an address; for IPv6 its first half, since a client may own all addresses in it.
/// `None` for loopback, which proxies and SSH tunnels use.
fn network(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    match address {
        address if address.is_loopback() => None,
        IpAddr::V4(_) => Some(address),
        IpAddr::V6(address) => Some(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_does_not_take_all() {
        let connected = Arc::new(Connected::default());
        let add = |address: &str| connected.add(address.parse().unwrap());
        let mut one: Vec<_> = (0..NETWORK_MOST).map(|_| add("192.0.2.1").unwrap()).collect();
        assert!(add("192.0.2.1").is_none() && add("::ffff:192.0.2.1").is_none());
        let other = add("192.0.2.2").unwrap();
        let half: Vec<_> =
            (0..NETWORK_MOST).map(|host| add(&format!("2001:db8::{host:x}")).unwrap()).collect();
        assert!(add("2001:db8::ffff:1").is_none() && add("2001:db8:1::1").is_some());
        one.pop();
        assert!(add("192.0.2.1").is_some());
        drop((one, other, half));
        let own: Vec<_> = (0..ALL_MOST).map(|_| add("127.0.0.1").unwrap()).collect();
        assert!(add("127.0.0.1").is_none() && add("192.0.2.1").is_none());
        drop(own);
        let counts = connected.0.lock().unwrap();
        assert!(counts.all == 0 && counts.networks.is_empty(), "{counts:?}");
    }
}
