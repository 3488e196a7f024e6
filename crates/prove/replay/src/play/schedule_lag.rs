//! Detects if requests were sent later than due. If they were, response times grow with the length
//! of the trace, whatever the device.

use nandle_units::{counted, format_duration, thousands};
use serde::{Deserialize, Serialize};

use super::{PlaySummary, Timing};
use nandle_io::Nanos;

/// Share of held or late requests from which they dominate the figures.
const SHARE_MIN: f64 = 0.01;
/// Minimum delay of the last completion, absolute and as a share of the scheduled time, at which a
/// target counts as too slow.
const BEHIND_MIN: Nanos = Nanos::from_millis(100);
const BEHIND_SHARE_MIN: f64 = 0.1;
/// Share of the achieved rate that leaves no backlog.
const WITHOUT_BACKLOG: f64 = 0.8;
/// Suggested requests in flight: a usual number of sessions with short transactions.
const IN_FLIGHT: u32 = 16;

/// Requests that couldn't be sent when they were due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleLag {
    /// True if the target was too slow; false if the host was late.
    pub by_target: bool,
    /// Share of requests held because the queue was full.
    pub held_share: f64,
    /// Share of requests that the host sent late.
    pub late_share: f64,
    /// Delay of the last completion after the last due time, in nanoseconds.
    pub behind_ns: u64,
    /// Requests completed per second.
    pub done_per_s: f64,
    /// Requests due per second.
    pub due_per_s: f64,
    /// Explanation and advice, in sentences.
    pub says: String,
}

impl PlaySummary {
    /// Returns the lag of requests that were due over `due_span`. Returns `None` if there was none,
    /// or if the timing has no schedule.
    pub fn fell_behind(&self, timing: Timing, due_span: Nanos) -> Option<ScheduleLag> {
        let requests = self.requests() + self.failed();
        // In a trace without times, all requests are due at once, which is reported elsewhere.
        if !timing.is_open_loop() || requests == 0 || due_span == Nanos::ZERO {
            return None;
        }
        let schedule = self.schedule();
        let share = |count: u64| count as f64 / requests as f64;
        let (held, late) = (share(schedule.held_requests), share(schedule.late_requests));
        let behind = self.elapsed.since(due_span);
        let is_long = behind > BEHIND_MIN && behind.0 as f64 > BEHIND_SHARE_MIN * due_span.0 as f64;
        let by_target = held >= SHARE_MIN || is_long;
        let per_s = |span: Nanos| requests as f64 / span.as_secs_f64().max(1e-9);
        let mut found = ScheduleLag {
            by_target,
            held_share: held,
            late_share: late,
            behind_ns: behind.0,
            done_per_s: per_s(self.elapsed),
            due_per_s: per_s(due_span),
            says: String::new(),
        };
        found.says = found.sentences(schedule.held_requests, schedule.late_requests);
        (by_target || late >= SHARE_MIN).then_some(found)
    }
}

impl ScheduleLag {
    fn sentences(&self, held: u64, late: u64) -> String {
        if !self.by_target {
            return format!(
                "This machine sent {} late ({:.0} %), so the figures describe the machine as much as the target: play the trace on a quiet \
                 machine, or more slowly ({}).",
                counted(late, "request"),
                100.0 * self.late_share,
                self.slower()
            );
        }
        let held = if held > 0 {
            format!("{} were held because the queue was full, and ", counted(held, "request"))
        } else {
            String::new()
        };
        format!(
            "The target can't keep up with these times: {} a second are due and {} were done; {held}the last was done {} after it was \
             due. Response times include a backlog that grows with the trace. Play it as fast as possible \
             (--timing closed:{IN_FLIGHT}), or more slowly ({}).",
            rate(self.due_per_s),
            rate(self.done_per_s),
            format_duration(Nanos(self.behind_ns)),
            self.slower()
        )
    }

    /// Option for a rate that leaves no backlog.
    fn slower(&self) -> String {
        let per_s = WITHOUT_BACKLOG * self.done_per_s.min(self.due_per_s);
        let step = 10_f64.powf(per_s.log10().floor() - 1.0);
        let rounded = (per_s / step).floor() * step;
        if rounded >= 10.0 {
            format!("--timing rate:{rounded:.0}")
        } else {
            format!("--timing rate:{:.3}", rounded.max(0.001))
        }
    }
}

fn rate(per_s: f64) -> String {
    if per_s < 10.0 { format!("{per_s:.2}") } else { thousands(per_s) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(held: u64, late: u64, elapsed: Nanos) -> PlaySummary {
        use nandle_trace::{Operation, Record};
        let mut played = PlaySummary::new();
        for number in 0..1000_u64 {
            let record = Record {
                time_us: number,
                operation: Operation::Read,
                address: 0,
                length_bytes: 512,
                latency_ns: None,
            };
            let (due, sent, completed) = (Nanos(0), Nanos(0), Nanos(1000));
            played.add(&super::super::outcome::CompletionTimes {
                record: &record,
                due,
                sent,
                completed,
                failure: None,
            });
            let lag = if number < late { Nanos::from_millis(1) } else { Nanos(0) };
            played.sent(lag, number >= 1000 - held);
        }
        played.elapsed = elapsed;
        played
    }

    #[test]
    fn target_that_keeps_up_has_no_lag() {
        let span = Nanos::from_secs(10);
        assert_eq!(played(3, 3, span).fell_behind(Timing::AsIs, span), None);
        let busy = played(900, 0, Nanos::from_secs(100));
        assert_eq!(busy.fell_behind(Timing::Closed { in_flight: 4 }, span), None, "nothing is due");
        assert_eq!(busy.fell_behind(Timing::Think, span), None);
    }

    #[test]
    fn lag_is_reported_with_advice() {
        let span = Nanos::from_secs(10);
        let found = played(700, 0, Nanos::from_secs(100)).fell_behind(Timing::AsIs, span).unwrap();
        assert!(found.by_target && (found.held_share - 0.7).abs() < 1e-9, "{found:?}");
        assert!(found.says.contains("100 a second are due and 10 were done"), "{}", found.says);
        assert!(
            found.says.contains("--timing closed:16") && found.says.contains("rate:8.0"),
            "{}",
            found.says
        );
        // The queue is deep enough to hold none, but the last request completes long after it was
        // due.
        let deep =
            played(0, 0, Nanos::from_secs(20)).fell_behind(Timing::Rate { per_s: 100.0 }, span).unwrap();
        assert!(deep.by_target && deep.says.contains("rate:40"), "{}", deep.says);
        let host = played(0, 300, span).fell_behind(Timing::AsIs, span).unwrap();
        assert!(!host.by_target && host.says.contains("300 requests late (30 %)"), "{}", host.says);
    }
}
