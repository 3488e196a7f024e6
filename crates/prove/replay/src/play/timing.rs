use std::fmt;
use std::str::FromStr;

use nandle_io::Nanos;
use nandle_trace::Record;

/// When requests are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timing {
    /// At the trace's own times, whether or not the device keeps up.
    AsIs,
    /// One at a time, each as long after the one before has completed as in the trace.
    Think,
    /// So many in flight, each followed by the next.
    Closed {
        /// How many.
        in_flight: u32,
    },
    /// At equal distances, whether or not the device keeps up.
    Rate {
        /// Requests a second.
        per_s: f64,
    },
}

impl Timing {
    /// The most requests in flight, where there is room for `queue_depth`.
    pub fn in_flight_max(self, queue_depth: u32) -> u32 {
        match self {
            Self::AsIs | Self::Rate { .. } => queue_depth,
            Self::Think => 1,
            Self::Closed { in_flight } => in_flight,
        }
    }

    /// Whether requests are due by a schedule that knows nothing of the device.
    pub fn is_open_loop(self) -> bool {
        matches!(self, Self::AsIs | Self::Rate { .. })
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsIs => f.write_str("asis"),
            Self::Think => f.write_str("think"),
            Self::Closed { in_flight } => write!(f, "closed:{in_flight}"),
            Self::Rate { per_s } => write!(f, "rate:{per_s}"),
        }
    }
}

impl FromStr for Timing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        let known = match (name, value) {
            ("asis", None) => Some(Self::AsIs),
            ("think", None) => Some(Self::Think),
            ("closed", Some(value)) => {
                let in_flight = value.parse().ok().filter(|count| (1..=1024).contains(count));
                in_flight.map(|in_flight| Self::Closed { in_flight })
            }
            ("rate", Some(value)) => {
                let per_s =
                    value.parse().ok().filter(|rate: &f64| rate.is_finite() && (1e-3..=1e9).contains(rate));
                per_s.map(|per_s| Self::Rate { per_s })
            }
            _ => None,
        };
        known.ok_or_else(|| {
            format!("expected asis, think, closed:N (1 to 1024 in flight) or rate:R (requests a second, 0.001 to 1e9), got {text:?}")
        })
    }
}

/// When each request is due, in their order.
pub(super) struct Schedule {
    timing: Timing,
    began: Nanos,
    /// The trace's time of the first request.
    first_us: Option<u64>,
    /// When the request before had completed, by the trace's clock.
    previous_end_ns: Option<u64>,
    last_due: Nanos,
    due_before: u64,
}

impl Schedule {
    pub(super) fn new(timing: Timing, began: Nanos) -> Self {
        Self { timing, began, first_us: None, previous_end_ns: None, last_due: began, due_before: 0 }
    }

    /// When the next request is due. `last_completed` is when the last one before it had; never earlier than the one before.
    pub(super) fn due(&mut self, record: &Record, now: Nanos, last_completed: Nanos) -> Nanos {
        let due = match self.timing {
            Timing::AsIs => {
                let first_us = *self.first_us.get_or_insert(record.time_us);
                self.began + Nanos::from_micros(record.time_us.saturating_sub(first_us))
            }
            Timing::Think => {
                let began_ns = record.time_us.saturating_mul(1000);
                let pause_ns = self.previous_end_ns.map_or(0, |end_ns| began_ns.saturating_sub(end_ns));
                self.previous_end_ns = Some(began_ns.saturating_add(record.latency_ns.unwrap_or(0)));
                last_completed + Nanos(pause_ns)
            }
            Timing::Closed { .. } => now,
            Timing::Rate { per_s } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "never negative; saturates"
                )]
                let since_ns = (self.due_before as f64 * (1e9 / per_s)) as u64;
                self.began + Nanos(since_ns)
            }
        };
        self.due_before += 1;
        self.last_due = self.last_due.max(due);
        self.last_due
    }
}

#[cfg(test)]
mod tests {
    use nandle_trace::Operation;

    use super::*;

    fn dues(timing: &str, requests: &[(u64, u64)], took_ns: u64) -> Vec<u64> {
        let mut schedule = Schedule::new(timing.parse().unwrap(), Nanos(1000));
        let mut completed = Nanos(1000);
        let due = requests.iter().map(|&(time_us, latency_ns)| {
            let (operation, latency_ns) = (Operation::Read, Some(latency_ns));
            let record = Record { time_us, operation, address: 0, length_bytes: 512, latency_ns };
            let due = schedule.due(&record, completed, completed);
            completed = due + Nanos(took_ns);
            due.0
        });
        due.collect()
    }

    #[test]
    fn each_timing_has_its_own_times() {
        let requests = [(70, 5000), (80, 2000), (79, 2000), (90, 0)];
        assert_eq!(dues("asis", &requests, 100), [1000, 11_000, 11_000, 21_000]);
        assert_eq!(dues("think", &requests, 100), [1000, 6100, 6200, 15_300]);
        assert_eq!(dues("closed:4", &requests, 100), [1000, 1100, 1200, 1300]);
        assert_eq!(dues("rate:1e6", &requests, 100), [1000, 2000, 3000, 4000]);
    }

    #[test]
    fn a_timing_is_read_and_printed_alike() {
        for text in ["asis", "think", "closed:16", "rate:250.5"] {
            assert_eq!(text.parse::<Timing>().unwrap().to_string(), text);
        }
        for wrong in
            ["", "closed", "closed:0", "closed:1025", "rate:0", "rate:inf", "rate:nan", "asis:1", "fast"]
        {
            let complaint = wrong.parse::<Timing>().unwrap_err();
            assert!(complaint.contains("closed:N") && complaint.contains(wrong), "{complaint}");
        }
    }
}
