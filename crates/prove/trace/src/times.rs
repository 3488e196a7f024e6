/// Statistics of events whose times precede an earlier event's time. Their order isn't changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackwardTimes {
    /// Number of events.
    pub events: u64,
    /// Line of the first such event, from 1.
    pub first_line: u64,
    /// Longest step back, in microseconds.
    pub back_us_max: u64,
    latest_us: u64,
}

impl BackwardTimes {
    pub(crate) fn add(&mut self, line: u64, time_us: u64) {
        let back_us = self.latest_us.saturating_sub(time_us);
        self.latest_us = self.latest_us.max(time_us);
        if back_us == 0 {
            return;
        }
        if self.events == 0 {
            self.first_line = line;
        }
        self.events += 1;
        self.back_us_max = self.back_us_max.max(back_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_back_is_measured_from_the_latest_time() {
        let mut times = BackwardTimes::default();
        for (line, time_us) in [(1, 10), (2, 30), (3, 20), (4, 25), (5, 30)] {
            times.add(line, time_us);
        }
        assert_eq!((times.events, times.first_line, times.back_us_max), (2, 3, 10));
    }
}
