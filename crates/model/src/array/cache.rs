//! A controller's write-back cache: how much of it is taken, and who waits for room.

use std::collections::VecDeque;

use super::parameters::CacheParameters;

/// Number of a request inside a controller.
pub(crate) type Ticket = usize;

/// Occupancy of the cache. Written data keeps its room until the drives have it.
#[derive(Debug)]
pub(crate) struct WriteBackCache {
    capacity_bytes: u64,
    access_ns: u64,
    used_bytes: u64,
    waiting: VecDeque<(Ticket, u64)>,
}

impl WriteBackCache {
    pub(crate) fn new(parameters: &CacheParameters) -> Self {
        Self {
            capacity_bytes: parameters.bytes,
            access_ns: parameters.access_ns,
            used_bytes: 0,
            waiting: VecDeque::new(),
        }
    }

    pub(crate) fn access_ns(&self) -> u64 {
        self.access_ns
    }

    /// Asks for room; without it the request waits its turn. A request larger than the cache gets in alone.
    pub(crate) fn admit(&mut self, ticket: Ticket, bytes: u64) -> bool {
        if self.waiting.is_empty() && self.fits(bytes) {
            self.used_bytes += bytes;
            return true;
        }
        self.waiting.push_back((ticket, bytes));
        false
    }

    /// The drives have `bytes`.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.used_bytes = self.used_bytes.saturating_sub(bytes);
    }

    /// The request that has waited longest, if there is room for it now.
    pub(crate) fn next_admitted(&mut self) -> Option<Ticket> {
        let &(ticket, bytes) = self.waiting.front()?;
        if !self.fits(bytes) {
            return None;
        }
        self.waiting.pop_front();
        self.used_bytes += bytes;
        Some(ticket)
    }

    fn fits(&self, bytes: u64) -> bool {
        self.used_bytes == 0 || self.used_bytes + bytes <= self.capacity_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_in_order_of_asking() {
        let mut cache = WriteBackCache::new(&CacheParameters { bytes: 100, access_ns: 1 });
        assert!(cache.admit(1, 80));
        assert!(!cache.admit(2, 40) && !cache.admit(3, 10));
        assert_eq!(cache.next_admitted(), None);
        cache.release(80);
        assert_eq!((cache.next_admitted(), cache.next_admitted()), (Some(2), Some(3)));
    }
}
