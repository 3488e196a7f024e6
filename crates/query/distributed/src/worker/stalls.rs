//! Detection of hung reads. A read of a dead disk or a lost network file system may never return,
//! and nothing that waits for it ends.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nandle_engine::{Host, ReadsState};

/// Interval of the checks.
const LOOKS_AFTER: Duration = Duration::from_secs(1);
/// Checks without progress after which reads count as hung. Drives that retry a sector give up
/// before that.
const LOOKS_MOST: u32 = 15;

/// Observed states of the reading threads.
#[derive(Debug, Default)]
pub(super) struct Stalls(Mutex<Vec<Seen>>);

#[derive(Debug, Clone, Copy)]
struct Seen {
    state: ReadsState,
    /// Checks since the last progress.
    looks: u32,
}

impl Stalls {
    /// Checks periodically.
    pub(super) async fn watch(&self, host: &Host) {
        loop {
            tokio::time::sleep(LOOKS_AFTER).await;
            self.look(&host.reads());
        }
    }

    fn look(&self, states: &[ReadsState]) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = states.iter().filter(|state| state.in_flight > 0);
        let looked = waiting.map(|state| {
            let is_same =
                |seen: &&Seen| (seen.state.owner, seen.state.completed) == (state.owner, state.completed);
            Seen { state: *state, looks: seen.iter().find(is_same).map_or(0, |seen| seen.looks + 1) }
        });
        *seen = looked.collect();
    }

    /// Returns how long the reads of a waiting thread have hung, if that is too long.
    pub(super) fn hung(&self) -> Option<Duration> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let looks = seen.iter().map(|seen| seen.looks).max();
        looks.filter(|looks| *looks >= LOOKS_MOST).map(|looks| LOOKS_AFTER * looks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reads_that_do_not_come_back_are_hung() {
        let stalls = Stalls::default();
        let state = |owner, in_flight, completed| ReadsState { owner, in_flight, completed };
        let look = |times, states: &[ReadsState]| {
            (0..times).for_each(|_| stalls.look(states));
            stalls.hung().map(|waited| waited.as_secs())
        };
        assert_eq!(look(15, &[state(1, 4, 7), state(2, 0, 9)]), None);
        assert_eq!(look(15, &[state(1, 4, 8), state(2, 0, 9)]), None, "one has come back");
        assert_eq!(look(100, &[state(2, 0, 9)]), None, "it waits for none");
        assert_eq!(look(9, &[state(1, 4, 8), state(2, 3, 9)]), None);
        assert_eq!(
            look(7, &[state(1, 4, 8), state(2, 3, 10)]),
            Some(15),
            "that another one reads is no help"
        );
        assert_eq!(look(1, &[state(1, 4, 9), state(2, 3, 10)]), None);
    }
}
