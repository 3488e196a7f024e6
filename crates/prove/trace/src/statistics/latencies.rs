use hdrhistogram::Histogram;
use serde::Serialize;

/// Times are kept to this many decimal digits.
const DIGITS: u8 = 3;
/// Longer ones count as this long: an hour.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// A quantile is told where so many requests lie beyond it.
const BEYOND: f64 = 10.0;

/// How long requests of a kind took, as the trace has recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RecordedLatency {
    /// Requests of which that is recorded.
    pub requests: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median; `null` where fewer than ten requests lie beyond it.
    pub p50_ns: Option<u64>,
    /// 99th percentile; the same.
    pub p99_ns: Option<u64>,
    /// The longest, exactly.
    pub max_ns: u64,
}

/// Recorded times of a kind of request.
#[derive(Default)]
pub(super) struct Latencies {
    /// Made with the first of them: most traces have none.
    histogram: Option<Histogram<u64>>,
    /// A histogram gives the upper end of the longest's bucket.
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
    fn a_quantile_needs_ten_beyond_it() {
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
