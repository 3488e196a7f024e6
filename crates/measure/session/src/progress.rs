use std::time::Duration;

use nandle_probe::{Observer, Unobserved};

/// Receives progress as an [`Observer`], and remarks for the user.
pub trait Progress: Observer + Sync {
    /// Starts a new stage. Earlier progress no longer counts for the share that is done.
    fn begin_stage(&mut self) {}

    /// Reports something to the user at once, as a sentence without a full stop.
    fn remark(&self, _sentence: &str) {}
}

impl Progress for Unobserved {}

/// Smallest progress and time for a stable estimate.
const SHARE_MIN: f64 = 0.01;
const PASSED_MIN: Duration = Duration::from_millis(500);

/// Remaining time of a stage, when a share of it (0 to 1) took `passed`; `None` if it is too early
/// for an estimate.
pub fn time_left(passed: Duration, share_done: f64) -> Option<Duration> {
    if share_done < SHARE_MIN || passed < PASSED_MIN {
        return None;
    }
    Duration::try_from_secs_f64(passed.as_secs_f64() * (1.0 - share_done) / share_done).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_share_done() {
        assert_eq!(time_left(Duration::from_secs(10), 0.25), Some(Duration::from_secs(30)));
        assert_eq!(time_left(Duration::from_secs(10), 1.0), Some(Duration::ZERO));
        assert_eq!(time_left(Duration::from_secs(10), 0.0), None);
        assert_eq!(time_left(Duration::from_millis(1), 0.5), None);
    }
}
