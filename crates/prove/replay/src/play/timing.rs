use std::fmt;
use std::str::FromStr;

use nandle_io::Nanos;
use nandle_trace::Record;

/// Timing of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timing {
    /// At the trace's times, independent of the device.
    AsIs,
    /// One at a time; each follows the previous completion after the pause recorded in the trace.
    Think,
    /// A fixed number in flight; each completion starts the next request.
    Closed {
        /// Requests in flight.
        in_flight: u32,
    },
    /// At a constant rate, independent of the device.
    Rate {
        /// Requests per second.
        per_s: f64,
    },
}

impl Timing {
    /// Maximum requests in flight, for a queue of `queue_depth`.
    pub fn in_flight_max(self, queue_depth: u32) -> u32 {
        match self {
            Self::AsIs | Self::Rate { .. } => queue_depth,
            Self::Think => 1,
            Self::Closed { in_flight } => in_flight,
        }
    }

    /// Returns true if due times are independent of the device.
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

/// Computes the due time of each request, in order.
pub(super) struct Schedule {
    timing: Timing,
    began: Nanos,
    /// Time of the first request in the trace, in microseconds.
    first_us: Option<u64>,
    /// Completion of the previous request by the trace's clock, in nanoseconds.
    previous_end_ns: Option<u64>,
    last_due: Nanos,
    due_before: u64,
}

impl Schedule {
    pub(super) fn new(timing: Timing, began: Nanos) -> Self {
        Self { timing, began, first_us: None, previous_end_ns: None, last_due: began, due_before: 0 }
    }

    /// Returns the due time of the next request, never before that of the previous one.
    /// `last_completed` is the time of the latest completion.
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
    fn each_timing_gives_its_own_due_times() {
        let requests = [(70, 5000), (80, 2000), (79, 2000), (90, 0)];
        assert_eq!(dues("asis", &requests, 100), [1000, 11_000, 11_000, 21_000]);
        assert_eq!(dues("think", &requests, 100), [1000, 6100, 6200, 15_300]);
        assert_eq!(dues("closed:4", &requests, 100), [1000, 1100, 1200, 1300]);
        assert_eq!(dues("rate:1e6", &requests, 100), [1000, 2000, 3000, 4000]);
    }

    #[test]
    fn timing_round_trips_as_text() {
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
