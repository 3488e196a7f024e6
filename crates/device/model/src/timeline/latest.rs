//! The latest idle gaps of a resource whose owner looks back no further.

use super::gaps::Gap;

/// So many gaps; a later one takes the place of the oldest.
#[derive(Debug, Clone)]
pub(super) struct LatestGaps {
    latest_end_ns: u64,
    oldest: usize,
    gaps: Vec<Gap>,
}

impl LatestGaps {
    /// None yet.
    pub(super) fn of(number: u32) -> Self {
        let none = Gap { start_ns: 0, end_ns: 0 };
        Self { latest_end_ns: 0, oldest: 0, gaps: vec![none; number.max(1) as usize] }
    }

    #[inline]
    pub(super) fn push(&mut self, gap: Gap) {
        if let Some(slot) = self.gaps.get_mut(self.oldest) {
            *slot = gap;
        }
        self.oldest = (self.oldest + 1) % self.gaps.len();
        self.latest_end_ns = gap.end_ns;
    }

    /// Uses the oldest gap that is long enough from a time on. What lies before the use is given up.
    #[inline]
    pub(super) fn take(&mut self, earliest_ns: u64, duration_ns: u64) -> Option<u64> {
        if earliest_ns >= self.latest_end_ns {
            return None;
        }
        let (newer, older) = self.gaps.split_at_mut(self.oldest);
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
