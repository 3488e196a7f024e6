//! A controller's write-back cache: occupancy, admission queue and read hits.

use std::collections::{BTreeMap, VecDeque};

use super::link::Link;
use super::parameters::CacheParameters;

/// Number of a request inside a controller.
pub(crate) type Ticket = usize;

/// Occupancy of the cache. Written data occupies it until the drives have completed the write.
#[derive(Debug)]
pub(crate) struct WriteBackCache {
    capacity_bytes: u64,
    access_ns: u64,
    memory: Link,
    used_bytes: u64,
    waiting: VecDeque<Extent>,
    /// End of each dirty extent, by start.
    dirty_ends: BTreeMap<(u64, Ticket), u64>,
}

/// Address range of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) ticket: Ticket,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
}

impl WriteBackCache {
    pub(crate) fn new(parameters: &CacheParameters) -> Self {
        Self {
            capacity_bytes: parameters.bytes,
            access_ns: parameters.access_ns,
            memory: Link::new(parameters.bytes_per_s),
            used_bytes: 0,
            waiting: VecDeque::new(),
            dirty_ends: BTreeMap::new(),
        }
    }

    pub(crate) fn access_ns(&self) -> u64 {
        self.access_ns
    }

    /// Returns the time at which the cache holds a write's data. The host sends it from `start_ns`
    /// to `sent_ns`.
    pub(crate) fn receive(&mut self, start_ns: u64, sent_ns: u64, bytes: u64) -> u64 {
        self.memory.send(start_ns, bytes).1.max(sent_ns)
    }

    /// Admits a request if there is room, else queues it. A request larger than the cache is
    /// admitted alone.
    pub(crate) fn admit(&mut self, extent: Extent) -> bool {
        if self.waiting.is_empty() && self.fits(extent.length_bytes) {
            self.take_in(extent);
            return true;
        }
        self.waiting.push_back(extent);
        false
    }

    /// Releases the room of a write that the drives have completed.
    pub(crate) fn release(&mut self, extent: Extent) {
        self.used_bytes = self.used_bytes.saturating_sub(extent.length_bytes);
        self.dirty_ends.remove(&(extent.offset_bytes, extent.ticket));
    }

    /// Returns true if a single dirty write covers the whole range.
    pub(crate) fn holds(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let nearest = self.dirty_ends.range(..=(offset_bytes, Ticket::MAX)).next_back();
        nearest.is_some_and(|(_, &end_bytes)| offset_bytes + length_bytes <= end_bytes)
    }

    /// Admits the request that has waited longest, if there is room for it now.
    pub(crate) fn next_admitted(&mut self) -> Option<Ticket> {
        let &extent = self.waiting.front()?;
        if !self.fits(extent.length_bytes) {
            return None;
        }
        self.waiting.pop_front();
        self.take_in(extent);
        Some(extent.ticket)
    }

    fn take_in(&mut self, extent: Extent) {
        self.used_bytes += extent.length_bytes;
        let end_bytes = extent.offset_bytes + extent.length_bytes;
        self.dirty_ends.insert((extent.offset_bytes, extent.ticket), end_bytes);
    }

    fn fits(&self, bytes: u64) -> bool {
        self.used_bytes == 0 || self.used_bytes + bytes <= self.capacity_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(ticket: Ticket, offset_bytes: u64, length_bytes: u64) -> Extent {
        Extent { ticket, offset_bytes, length_bytes }
    }

    #[test]
    fn room_is_given_in_order_of_asking() {
        let mut cache =
            WriteBackCache::new(&CacheParameters { bytes: 100, access_ns: 1, bytes_per_s: 1_000 });
        assert!(cache.admit(extent(1, 0, 80)));
        assert!(!cache.admit(extent(2, 100, 40)) && !cache.admit(extent(3, 200, 10)));
        assert_eq!(cache.next_admitted(), None);
        assert!(cache.holds(10, 70) && !cache.holds(10, 71) && !cache.holds(100, 40));
        cache.release(extent(1, 0, 80));
        assert!(!cache.holds(10, 70));
        assert_eq!((cache.next_admitted(), cache.next_admitted()), (Some(2), Some(3)));
    }
}
