//! Scheduling of the arm.

use super::parameters::{QueueParameters, SchedulingPolicy};
use super::units::microseconds_to_ns;

/// Task that waits for the arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Start of the wait.
    pub(super) since_ns: u64,
    /// First sector.
    pub(super) sector: u64,
    /// Time at which the drive expects the first sector under the head.
    pub(super) start_ns: u64,
}

/// Scheduling policy and its state.
#[derive(Debug)]
pub(super) struct Scheduler {
    policy: SchedulingPolicy,
    longest_wait_ns: u64,
    positioning_margin_ns: u64,
    inwards: bool,
}

impl Scheduler {
    pub(super) fn new(parameters: &QueueParameters) -> Self {
        Self {
            policy: parameters.policy,
            longest_wait_ns: microseconds_to_ns(parameters.longest_wait_us),
            positioning_margin_ns: microseconds_to_ns(parameters.positioning_margin_us),
            inwards: true,
        }
    }

    /// Margin for the error of the positioning forecast.
    pub(super) fn positioning_margin_ns(&self) -> u64 {
        self.positioning_margin_ns
    }

    /// Index of the candidate that goes next; `head_sector` is the position of the heads.
    pub(super) fn choose(
        &mut self,
        candidates: &[Candidate],
        head_sector: u64,
        now_ns: u64,
    ) -> Option<usize> {
        let oldest = least(candidates, |candidate| candidate.since_ns)?;
        let waited_ns =
            candidates.get(oldest).map_or(0, |candidate| now_ns.saturating_sub(candidate.since_ns));
        if waited_ns > self.longest_wait_ns {
            return Some(oldest);
        }
        match self.policy {
            SchedulingPolicy::FirstCome => Some(oldest),
            SchedulingPolicy::ShortestPositioning => {
                least(candidates, |candidate| (candidate.start_ns, candidate.since_ns))
            }
            SchedulingPolicy::Look => self.next_in_sweep(candidates, head_sector),
        }
    }

    fn next_in_sweep(&mut self, candidates: &[Candidate], head_sector: u64) -> Option<usize> {
        for _ in 0..2 {
            let inwards = self.inwards;
            let ahead = |candidate: &Candidate| (candidate.sector >= head_sector) == inwards;
            let distance = |candidate: &Candidate| {
                (!ahead(candidate), candidate.sector.abs_diff(head_sector), candidate.since_ns)
            };
            if candidates.iter().any(ahead) {
                return least(candidates, distance);
            }
            self.inwards = !self.inwards;
        }
        None
    }
}

/// Index of the first candidate with the least key.
fn least<K: Ord>(candidates: &[Candidate], key: impl Fn(&Candidate) -> K) -> Option<usize> {
    (0..candidates.len()).min_by_key(|&index| candidates.get(index).map(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANDIDATES: [Candidate; 3] = [
        Candidate { since_ns: 10, sector: 500, start_ns: 900 },
        Candidate { since_ns: 20, sector: 90, start_ns: 700 },
        Candidate { since_ns: 30, sector: 120, start_ns: 800 },
    ];

    fn scheduler(policy: SchedulingPolicy) -> Scheduler {
        Scheduler::new(&QueueParameters {
            depth: 32,
            policy,
            longest_wait_us: 1.0,
            positioning_margin_us: 0.0,
        })
    }

    #[test]
    fn each_policy_takes_its_own_next() {
        let choose = |policy| scheduler(policy).choose(&CANDIDATES, 100, 40);
        assert_eq!(choose(SchedulingPolicy::FirstCome), Some(0));
        assert_eq!(choose(SchedulingPolicy::ShortestPositioning), Some(1));
        assert_eq!(choose(SchedulingPolicy::Look), Some(2));
        assert_eq!(scheduler(SchedulingPolicy::Look).choose(&[], 100, 40), None);
    }

    #[test]
    fn a_sweep_turns_when_nothing_lies_ahead() {
        let mut look = scheduler(SchedulingPolicy::Look);
        assert_eq!(look.choose(&CANDIDATES, 600, 40), Some(0));
        assert_eq!(look.choose(&CANDIDATES[1..], 500, 40), Some(1));
    }

    #[test]
    fn who_waited_too_long_goes_first() {
        let now_ns = 10 + 1_001;
        assert_eq!(
            scheduler(SchedulingPolicy::ShortestPositioning).choose(&CANDIDATES, 100, now_ns),
            Some(0)
        );
    }
}
