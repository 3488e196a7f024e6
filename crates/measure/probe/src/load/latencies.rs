use std::ops::Deref;

use hdrhistogram::Histogram;
use nandle_profile::LatencySummary;

/// Upper bound of the histogram, in nanoseconds. Longer latencies are exact only in the maximum.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// Precision of the histogram in decimal digits.
const DIGITS: u8 = 3;

/// Latency histogram with an exact maximum. It derefs to a read-only histogram, so every value is
/// recorded through this type.
#[derive(Debug, Clone)]
pub struct Latencies {
    histogram: Histogram<u64>,
    /// Exact maximum. The histogram only gives the upper end of its last bucket.
    max_ns: u64,
}

impl Latencies {
    /// Creates an empty record.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "bounds and digits are constants that the library allows"
    )]
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS).expect("constant bounds");
        Self { histogram, max_ns: 0 }
    }

    /// Records one latency in nanoseconds.
    pub fn record(&mut self, latency_ns: u64) {
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.saturating_record(latency_ns);
    }

    /// Adds the latencies of `others`.
    pub fn add(&mut self, others: &Self) {
        self.max_ns = self.max_ns.max(others.max_ns);
        let added = self.histogram.add(&others.histogram);
        debug_assert!(added.is_ok(), "histograms of the same bounds and digits add up");
    }

    /// Exact maximum; 0 if there are none.
    pub fn max(&self) -> u64 {
        self.max_ns
    }

    /// Summary of the distribution. A quantile is given only if at least ten observations lie
    /// beyond it.
    pub fn summary(&self) -> LatencySummary {
        let at = |quantile| self.histogram.value_at_quantile(quantile).min(self.max_ns);
        LatencySummary::of(self.len(), self.mean(), self.max_ns, at)
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Latencies {
    type Target = Histogram<u64>;

    fn deref(&self) -> &Histogram<u64> {
        &self.histogram
    }
}
