use rustc_hash::FxHashMap;

/// Maximum number of requests tracked in flight; devices have fewer.
const IN_FLIGHT_MAX: usize = 1 << 17;

/// Identity of a request in a trace: device, letters, address.
pub(crate) type Key = (String, String, u64);

/// Tracks requests that were requeued and issued again, so that each counts once, at its first
/// issue.
#[derive(Default)]
pub(crate) struct Requeues {
    in_flight: FxHashMap<Key, u32>,
    requeued: FxHashMap<Key, u32>,
    /// True if more requests were in flight than are tracked, for example because the trace has no
    /// completions.
    is_overfull: bool,
}

impl Requeues {
    /// Records an issue. Returns false if the request was issued before.
    pub(crate) fn issue(&mut self, key: Key) -> bool {
        if take(&mut self.requeued, &key) {
            add(&mut self.in_flight, key);
            return false;
        }
        if self.in_flight.len() >= IN_FLIGHT_MAX {
            self.in_flight.clear();
            self.is_overfull = true;
        }
        add(&mut self.in_flight, key);
        true
    }

    /// Records a requeue. A request issued before the trace began counts at its next issue.
    pub(crate) fn requeue(&mut self, key: Key) {
        let was_issued = take(&mut self.in_flight, &key) || self.is_overfull;
        if was_issued && self.requeued.len() < IN_FLIGHT_MAX {
            add(&mut self.requeued, key);
        }
    }

    /// Records a completion.
    pub(crate) fn complete(&mut self, key: &Key) {
        take(&mut self.in_flight, key);
    }
}

fn add(counts: &mut FxHashMap<Key, u32>, key: Key) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
}

/// Decrements a count. Returns true if it was above zero.
fn take(counts: &mut FxHashMap<Key, u32>, key: &Key) -> bool {
    let Some(count) = counts.get_mut(key) else { return false };
    *count -= 1;
    if *count == 0 {
        counts.remove(key);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(sector: u64) -> Key {
        ("8,0".to_owned(), "R".to_owned(), sector)
    }

    #[test]
    fn request_requeued_repeatedly_counts_once() {
        let mut requeues = Requeues::default();
        assert!(requeues.issue(key(8)));
        for _ in 0..3 {
            requeues.requeue(key(8));
            assert!(!requeues.issue(key(8)));
        }
        requeues.complete(&key(8));
        assert!(requeues.issue(key(8)), "it is another request");
    }

    #[test]
    fn request_issued_before_the_trace_counts_when_reissued() {
        let mut requeues = Requeues::default();
        requeues.requeue(key(8));
        assert!(requeues.issue(key(8)));
    }

    #[test]
    fn memory_is_bounded_without_completions() {
        let mut requeues = Requeues::default();
        for sector in 0..=IN_FLIGHT_MAX as u64 {
            assert!(requeues.issue(key(sector)));
        }
        assert!(requeues.in_flight.len() <= IN_FLIGHT_MAX);
        requeues.requeue(key(0));
        assert!(!requeues.issue(key(0)), "it may have been forgotten");
    }
}
