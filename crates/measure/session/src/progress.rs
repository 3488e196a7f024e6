use std::time::Duration;

use nandle_probe::{Observer, Unobserved};

/// Is told what is being measured and how far it has come, as an [`Observer`], and what else there is to say meanwhile.
pub trait Progress: Observer + Sync {
    /// Another stage begins: what was done before counts no more for the share that is done.
    fn begin_stage(&mut self) {}

    /// Something that a user should know now, a sentence without its full stop.
    fn remark(&self, _sentence: &str) {}
}

impl Progress for Unobserved {}

/// With less done, or less time passed, an estimate would only jump about.
const SHARE_MIN: f64 = 0.01;
const PASSED_MIN: Duration = Duration::from_millis(500);

/// Time that a stage still takes, when a share of it (0 to 1) took `passed`; `None` when it is too early to tell.
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
    fn the_time_left_goes_by_the_share_that_is_done() {
        assert_eq!(time_left(Duration::from_secs(10), 0.25), Some(Duration::from_secs(30)));
        assert_eq!(time_left(Duration::from_secs(10), 1.0), Some(Duration::ZERO));
        assert_eq!(time_left(Duration::from_secs(10), 0.0), None);
        assert_eq!(time_left(Duration::from_millis(1), 0.5), None);
    }
}
