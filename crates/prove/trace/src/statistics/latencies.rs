use hdrhistogram::Histogram;
use serde::Serialize;

/// Significant decimal digits of the histogram.
const DIGITS: u8 = 3;
/// Upper limit of a latency: an hour. Longer ones count as an hour.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// A quantile is reported if at least this many requests lie beyond it.
const BEYOND: f64 = 10.0;

/// Recorded latency of one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RecordedLatency {
    /// Requests with a recorded latency.
    pub requests: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Median in nanoseconds; `null` if fewer than ten requests lie beyond it.
    pub p50_ns: Option<u64>,
    /// 99th percentile in nanoseconds; `null` if fewer than ten requests lie beyond it.
    pub p99_ns: Option<u64>,
    /// Exact maximum, in nanoseconds.
    pub max_ns: u64,
}

/// Recorded latencies of one kind of request.
#[derive(Default)]
pub(super) struct Latencies {
    /// Created on first use: most traces have no latencies.
    histogram: Option<Histogram<u64>>,
    /// Exact maximum: the histogram only stores the upper end of its bucket.
    max_ns: u64,
}

impl Latencies {
    pub(super) fn add(&mut self, latency_ns: Option<u64>) {
        let Some(latency_ns) = latency_ns else { return };
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.get_or_insert_with(new_histogram).saturating_record(latency_ns);
    }

    pub(super) fn recorded(&self) -> Option<RecordedLatency> {
        let histogram = self.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
        let requests = histogram.len();
        let at = |quantile: f64| {
            let is_known = super::share(requests, 1) * (1.0 - quantile) >= BEYOND;
            is_known.then(|| histogram.value_at_quantile(quantile))
        };
        Some(RecordedLatency {
            requests,
            mean_ns: histogram.mean(),
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            max_ns: self.max_ns,
        })
    }
}

#[allow(clippy::unwrap_used, reason = "the bounds are constants that the library takes")]
fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_max(LATENCY_NS_MAX, DIGITS).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_needs_ten_larger_values() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.recorded(), None);
        (1..=100).for_each(|us| latencies.add(Some(us * 1000)));
        latencies.add(None);
        let recorded = latencies.recorded().unwrap();
        assert_eq!((recorded.requests, recorded.p99_ns), (100, None));
        assert!(recorded.p50_ns.is_some_and(|ns| ns.abs_diff(50_000) < 100), "{recorded:?}");
        latencies.add(Some(1_234_567_891));
        assert_eq!(latencies.recorded().unwrap().max_ns, 1_234_567_891);
        (0..1000).for_each(|_| latencies.add(Some(1_000)));
        assert!(latencies.recorded().unwrap().p99_ns.is_some());
    }
}
