//! A resource that serves one user at a time, as the time until which it is busy.

/// How many idle gaps before the busy end are remembered. A gap appears when a user comes later than the
/// resource would have been free; a later call may still use it, as the real resource would have.
const GAPS: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
struct Gap {
    start_ns: u64,
    end_ns: u64,
}

/// Busy-until time of one resource, with the most recent idle gaps before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeline {
    busy_until_ns: u64,
    latest_gap_end_ns: u64,
    oldest_gap: usize,
    gaps: [Gap; GAPS],
}

impl Timeline {
    /// Takes the resource for `duration_ns`, not before `earliest_ns`; gives the start.
    #[inline]
    pub(crate) fn reserve(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        if earliest_ns < self.latest_gap_end_ns
            && let Some(start_ns) = self.fill_gap(earliest_ns, duration_ns)
        {
            return start_ns;
        }
        self.append(earliest_ns, duration_ns)
    }

    /// Takes the resource after everything that has been reserved so far; gives the start.
    #[inline]
    pub(crate) fn append(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        let start_ns = earliest_ns.max(self.busy_until_ns);
        if start_ns > self.busy_until_ns {
            self.remember_gap(Gap { start_ns: self.busy_until_ns, end_ns: start_ns });
        }
        self.busy_until_ns = start_ns + duration_ns;
        start_ns
    }

    /// Prolongs the last reservation, if it is the one that ends at `from_ns`.
    #[inline]
    pub(crate) fn prolong(&mut self, from_ns: u64, to_ns: u64) {
        if self.busy_until_ns == from_ns {
            self.busy_until_ns = to_ns;
        }
    }

    /// Moves the end of everything reserved so far: something else has come between.
    pub(crate) fn delay(&mut self, duration_ns: u64) {
        self.busy_until_ns += duration_ns;
    }

    /// When everything reserved so far will be done.
    pub(crate) fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    fn remember_gap(&mut self, gap: Gap) {
        if let Some(slot) = self.gaps.get_mut(self.oldest_gap) {
            *slot = gap;
        }
        self.oldest_gap = (self.oldest_gap + 1) % GAPS;
        self.latest_gap_end_ns = gap.end_ns;
    }

    /// Uses the oldest gap that is long enough. What lies before the use is given up.
    fn fill_gap(&mut self, earliest_ns: u64, duration_ns: u64) -> Option<u64> {
        let (newer, older) = self.gaps.split_at_mut(self.oldest_gap);
        for gap in older.iter_mut().chain(newer) {
            let start_ns = gap.start_ns.max(earliest_ns);
            if start_ns + duration_ns <= gap.end_ns {
                gap.start_ns = start_ns + duration_ns;
                return Some(start_ns);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Timeline;

    #[test]
    fn users_queue_up_in_order() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.reserve(10, 5), 10);
        assert_eq!(timeline.reserve(11, 5), 15);
        assert_eq!(timeline.busy_until_ns(), 20);
    }

    #[test]
    fn a_short_use_fits_into_a_gap_before_a_later_one() {
        let mut timeline = Timeline::default();
        timeline.reserve(100, 50);
        assert_eq!(timeline.reserve(20, 30), 20);
        assert_eq!(timeline.reserve(20, 30), 50);
        assert_eq!(timeline.reserve(20, 30), 150, "what is left of the gap is too short");
    }

    #[test]
    fn only_the_last_use_is_prolonged() {
        let mut timeline = Timeline::default();
        timeline.reserve(0, 10);
        timeline.prolong(10, 25);
        timeline.prolong(10, 99);
        assert_eq!(timeline.busy_until_ns(), 25);
    }
}
