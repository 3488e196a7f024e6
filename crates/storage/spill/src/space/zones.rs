//! Which zones of a space are free. Threads share it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Zones are handed out from the front to the back, and then those that were freed, the oldest first.
#[derive(Debug)]
pub(crate) struct Zones {
    count: u64,
    clusters: u64,
    state: Mutex<State>,
}

/// A zone to which clusters are appended.
#[derive(Debug)]
pub(super) struct OpenZone {
    pub(super) zone: u64,
    /// The next cluster, counted in the zone.
    pub(super) next: u64,
}

#[derive(Debug, Default)]
struct State {
    /// How many holders each zone has that was ever taken: its clusters that are alive, and who appends to it.
    holders: Vec<u64>,
    free: VecDeque<u64>,
}

impl Zones {
    /// So many zones of so many clusters, all free.
    pub(super) fn new(zones: u64, clusters: u64) -> Self {
        debug_assert!(clusters > 0, "a zone has a cluster");
        Self { count: zones, clusters, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clusters in a zone.
    pub(super) fn clusters(&self) -> u64 {
        self.clusters
    }

    /// Zones that hold something.
    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        let state = self.lock();
        (state.holders.len() - state.free.len()) as u64
    }

    /// Takes a free zone, of which the caller is a holder. `None`: there is none.
    pub(super) fn take(&self) -> Option<u64> {
        let mut state = self.lock();
        let fresh = state.holders.len() as u64;
        if fresh < self.count {
            state.holders.push(1);
            return Some(fresh);
        }
        let zone = state.free.pop_front()?;
        *state.holder(zone) = 1;
        Some(zone)
    }

    /// A cluster of the zone is alive.
    pub(super) fn hold(&self, zone: u64) {
        *self.lock().holder(zone) += 1;
    }

    /// A cluster isn't needed any more. Returns its zone if that was the last of it.
    pub(super) fn release(&self, cluster: u64) -> Option<u64> {
        self.leave(cluster / self.clusters)
    }

    /// Nothing more is appended to the zone. Returns it if nothing in it is alive.
    pub(super) fn leave(&self, zone: u64) -> Option<u64> {
        let mut state = self.lock();
        let holders = state.holder(zone);
        debug_assert!(*holders > 0, "zone {zone} is held");
        *holders -= 1;
        (*holders == 0).then_some(zone)
    }

    /// A zone that nothing holds may be taken again.
    pub(super) fn free(&self, zone: u64) {
        let mut state = self.lock();
        debug_assert_eq!(*state.holder(zone), 0, "nothing in zone {zone} is alive");
        state.free.push_back(zone);
    }
}

impl State {
    fn holder(&mut self, zone: u64) -> &mut u64 {
        let holders = usize::try_from(zone).ok().and_then(|zone| self.holders.get_mut(zone));
        let Some(holders) = holders else { unreachable!("zone {zone} was taken") };
        holders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_free_when_its_last_cluster_is() {
        let zones = Zones::new(2, 4);
        assert_eq!((zones.take(), zones.take(), zones.take()), (Some(0), Some(1), None));
        zones.hold(1);
        zones.hold(1);
        assert_eq!(zones.release(5), None);
        assert_eq!(zones.leave(1), None);
        assert_eq!(zones.release(6), Some(1));
        assert_eq!((zones.used(), zones.take()), (2, None), "it is not free before that is said");
        zones.free(1);
        assert_eq!((zones.used(), zones.take()), (1, Some(1)));
    }
}
