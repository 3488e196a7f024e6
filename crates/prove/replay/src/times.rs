use hdrhistogram::Histogram;
use nandle_profile::LatencySummary;

/// Latencies of many requests, in bounded memory.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    histogram: Histogram<u64>,
    sum_ns: u128,
    max_ns: u64,
}

impl Times {
    /// Creates an empty histogram with `digits` significant digits, 1 to 5.
    pub(crate) fn to_digits(digits: u8) -> Self {
        let Ok(histogram) = Histogram::new(digits.clamp(1, 5)) else { unreachable!("one to five digits") };
        Self { histogram, sum_ns: 0, max_ns: 0 }
    }

    pub(crate) fn add(&mut self, time_ns: u64) {
        // The histogram grows as needed, up to a few megabytes.
        let recorded = self.histogram.record(time_ns);
        debug_assert!(recorded.is_ok(), "a histogram of its own length takes any time");
        self.sum_ns += u128::from(time_ns);
        self.max_ns = self.max_ns.max(time_ns);
    }

    pub(crate) fn extend(&mut self, others: &Self) {
        let added = self.histogram.add(&others.histogram);
        debug_assert!(added.is_ok(), "histograms of the same digits add up, and grow");
        self.sum_ns += others.sum_ns;
        self.max_ns = self.max_ns.max(others.max_ns);
    }

    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub(crate) fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// Returns the latency that a share of the requests doesn't exceed.
    pub(crate) fn quantile_ns(&self, share: f64) -> u64 {
        self.histogram.value_at_quantile(share).min(self.max_ns)
    }

    pub(crate) fn summary(&self) -> LatencySummary {
        let mean = self.mean_ns().unwrap_or(0.0);
        LatencySummary::of(self.count(), mean, self.max_ns, |share| self.quantile_ns(share))
    }

    /// Distinct latencies in ascending order, with their counts.
    pub(crate) fn ascending(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.histogram.iter_recorded().map(|step| {
            let time_ns = self.histogram.median_equivalent(step.value_iterated_to());
            (time_ns, step.count_since_last_iteration())
        })
    }
}
