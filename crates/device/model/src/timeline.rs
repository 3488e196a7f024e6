//! A resource that serves one user at a time: the time until which it is busy, and the idle gaps
//! before that.
//!
//! Reservations are made in the order of computation, not of time: a read may be reserved for now
//! after transfers far in the future. So every gap counts that a later user may fall into. Gaps in
//! the past are dropped once the owner permits it ([`Timeline::forget_before`]).

mod gaps;

use gaps::{Gap, Gaps};

/// Busy-until time of one resource, with the idle gaps before it.
#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    busy_until_ns: u64,
    /// Lower bound of later reservations.
    past_ns: u64,
    gaps: Gaps,
}

impl Default for Timeline {
    /// Resource whose reservations may have any length.
    fn default() -> Self {
        Self::new(0)
    }
}

impl Timeline {
    /// Resource whose reservations last at least `least_ns`, so shorter gaps are not stored.
    pub(crate) fn new(least_ns: u64) -> Self {
        Self { busy_until_ns: 0, past_ns: 0, gaps: Gaps::of_at_least(least_ns) }
    }

    /// Reserves `duration_ns` in the first fitting gap from `earliest_ns` on; returns the start.
    #[inline]
    pub(crate) fn reserve(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        self.gaps.take(earliest_ns, duration_ns).unwrap_or_else(|| self.append(earliest_ns, duration_ns))
    }

    /// Reserves after all earlier reservations; returns the start.
    #[inline]
    pub(crate) fn append(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        let idle_ns = self.busy_until_ns.max(self.past_ns);
        let start_ns = earliest_ns.max(self.busy_until_ns);
        if start_ns > idle_ns {
            self.gaps.push(Gap { start_ns: idle_ns, end_ns: start_ns }, self.past_ns);
        }
        self.busy_until_ns = start_ns + duration_ns;
        start_ns
    }

    /// Prolongs the last reservation if it ends at `from_ns`.
    #[inline]
    pub(crate) fn prolong(&mut self, from_ns: u64, to_ns: u64) {
        if self.busy_until_ns == from_ns {
            self.busy_until_ns = to_ns;
        }
    }

    /// End of the last reservation.
    pub(crate) fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    /// Promises that no later reservation starts before `past_ns`.
    #[inline]
    pub(crate) fn forget_before(&mut self, past_ns: u64) {
        self.past_ns = past_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(timeline: &Timeline) -> usize {
        timeline.gaps.len()
    }

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
    fn however_many_gaps_lie_between_the_first_is_still_there() {
        let mut timeline = Timeline::default();
        for user in 1..=1_000 {
            timeline.reserve(user * 100, 50);
        }
        assert_eq!(timeline.reserve(110, 50), 150);
        assert_eq!(timeline.reserve(110, 50), 250);
        assert_eq!(timeline.reserve(0, 40), 0, "what lies before a use of a gap stays");
    }

    #[test]
    fn gaps_that_are_too_short_for_any_use_are_not_remembered() {
        let mut timeline = Timeline::new(50);
        for user in 1..=1_000 {
            timeline.reserve(user * 100, 60);
        }
        assert_eq!(remembered(&timeline), 1, "the one before the first");
        assert_eq!(timeline.reserve(0, 60), 0);
        assert_eq!((remembered(&timeline), timeline.reserve(0, 50)), (0, 100_060));
    }

    #[test]
    fn both_ends_of_a_gap_stay() {
        let mut timeline = Timeline::default();
        timeline.reserve(100, 1);
        assert_eq!(timeline.reserve(40, 20), 40);
        assert_eq!([timeline.reserve(0, 40), timeline.reserve(0, 40)], [0, 60]);
        assert_eq!(timeline.reserve(0, 1), 101);
    }

    #[test]
    fn gaps_that_have_passed_are_given_up() {
        let mut timeline = Timeline::default();
        for user in 1..=1_000 {
            timeline.reserve(user * 100, 50);
        }
        timeline.forget_before(99_900);
        assert_eq!(timeline.reserve(99_900, 50), 99_950, "the one that has not is used");
        for user in 1_001..=100_000 {
            timeline.forget_before(user * 100 - 200);
            timeline.reserve(user * 100, 50);
        }
        assert!(remembered(&timeline) <= 64, "{}", remembered(&timeline));
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
