/// Events whose times lie before the latest time of the events before them. They stay in the order of the lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimesBack {
    /// Number of events.
    pub events: u64,
    /// Line of the first of them, from 1.
    pub first_line: u64,
    /// The longest way back.
    pub back_us_max: u64,
    latest_us: u64,
}

impl TimesBack {
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
    fn the_way_back_is_from_the_latest_time() {
        let mut times = TimesBack::default();
        for (line, time_us) in [(1, 10), (2, 30), (3, 20), (4, 25), (5, 30)] {
            times.add(line, time_us);
        }
        assert_eq!((times.events, times.first_line, times.back_us_max), (2, 3, 10));
    }
}
