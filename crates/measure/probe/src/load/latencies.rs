use std::ops::Deref;

use hdrhistogram::Histogram;
use nandle_profile::LatencySummary;

/// Latencies up to this are told apart; longer ones count as this long, except as the largest.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// Latencies are kept to this many decimal digits.
const DIGITS: u8 = 3;

/// Latencies of many requests: a histogram, beside the exact largest one. All of them are recorded here, so the histogram
/// can only be read.
#[derive(Debug, Clone)]
pub struct Latencies {
    histogram: Histogram<u64>,
    /// A histogram gives the upper end of its last bucket instead.
    max_ns: u64,
}

impl Latencies {
    /// No latencies yet.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "bounds and digits are constants that the library allows"
    )]
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS).expect("constant bounds");
        Self { histogram, max_ns: 0 }
    }

    /// Records a request's latency.
    pub fn record(&mut self, latency_ns: u64) {
        self.max_ns = self.max_ns.max(latency_ns);
        self.histogram.saturating_record(latency_ns);
    }

    /// Adds the latencies of others.
    pub fn add(&mut self, others: &Self) {
        self.max_ns = self.max_ns.max(others.max_ns);
        let added = self.histogram.add(&others.histogram);
        debug_assert!(added.is_ok(), "histograms of the same bounds and digits add up");
    }

    /// The largest latency, exactly; 0 when there is none.
    pub fn max(&self) -> u64 {
        self.max_ns
    }

    /// The few figures of the distribution, quantiles only where ten observations lie beyond them.
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
