//! Allocator of zones, shared by threads.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Allocates fresh zones from front to back, then freed zones, oldest first.
#[derive(Debug)]
pub(crate) struct ZoneAllocator {
    count: u64,
    clusters: u64,
    state: Mutex<State>,
}

/// A zone that an appender writes to.
#[derive(Debug)]
pub(super) struct OpenZone {
    pub(super) zone: u64,
    /// Index in the zone of the next cluster.
    pub(super) next: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Number of holders of each zone taken so far: its live clusters and its appender.
    holders: Vec<u64>,
    free: VecDeque<u64>,
}

impl ZoneAllocator {
    /// Creates `zones` free zones of `clusters` clusters each.
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

    /// Number of zones in use.
    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        let state = self.lock();
        (state.holders.len() - state.free.len()) as u64
    }

    /// Takes a free zone, held by the caller. Returns none if there is none.
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

    /// Adds a live cluster to the zone.
    pub(super) fn hold(&self, zone: u64) {
        *self.lock().holder(zone) += 1;
    }

    /// Releases a cluster. Returns its zone if that was the last holder.
    pub(super) fn release(&self, cluster: u64) -> Option<u64> {
        self.leave(cluster / self.clusters)
    }

    /// Releases the appender's hold. Returns the zone if that was the last holder.
    pub(super) fn leave(&self, zone: u64) -> Option<u64> {
        let mut state = self.lock();
        let holders = state.holder(zone);
        debug_assert!(*holders > 0, "zone {zone} is held");
        *holders -= 1;
        (*holders == 0).then_some(zone)
    }

    /// Makes a zone without holders available again.
    pub(super) fn free(&self, zone: u64) {
        let mut state = self.lock();
        debug_assert_eq!(*state.holder(zone), 0, "zone {zone} has live clusters");
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
    fn zone_is_freed_with_its_last_cluster() {
        let zones = ZoneAllocator::new(2, 4);
        assert_eq!((zones.take(), zones.take(), zones.take()), (Some(0), Some(1), None));
        zones.hold(1);
        zones.hold(1);
        assert_eq!(zones.release(5), None);
        assert_eq!(zones.leave(1), None);
        assert_eq!(zones.release(6), Some(1));
        assert_eq!((zones.used(), zones.take()), (2, None), "`release` alone does not free the zone");
        zones.free(1);
        assert_eq!((zones.used(), zones.take()), (1, Some(1)));
    }
}
