//! Splits requests in halves if there are too few to keep the device busy.

use crate::HostCosts;

use super::order::Order;
use super::{Extent, Plan, Strategy, request_bytes};

/// Limit on the growth of device time, within the noise of measurements.
const NO_LONGER: f64 = 1.03;

impl Plan {
    /// Covers use the prices of a busy device, which a plan of a few requests never reaches. This
    /// splits each request in two if that is predicted to finish sooner without more device time.
    /// (Not in more than two: some drives take longer sequences for the beginning of a long read,
    /// and fetch ahead.)
    pub(super) fn or_halved(self) -> Self {
        let longest_bytes = self.reads.iter().map(|read| read.length_bytes).max().unwrap_or_default();
        let is_few = (self.reads.len() as u64) < u64::from(self.depth(longest_bytes));
        if self.options.strategy != Strategy::Flexible || !is_few || self.windows.len() != 1 {
            return self;
        }
        let halved = self.halved();
        let [whole_is, halved_is] = [&self, &halved].map(|plan| plan.predict(HostCosts::default(), |_| 0.0));
        let is_sooner = halved_is.seconds.value < whole_is.seconds.value;
        let is_as_cheap = halved_is.device_seconds.value <= NO_LONGER * whole_is.device_seconds.value;
        if is_sooner && is_as_cheap { halved } else { self }
    }

    /// Returns the plan with each single-request extent split in two; for plans of a single window.
    fn halved(&self) -> Self {
        let mut halved = self.clone();
        let align_bytes = self.prices.align_bytes();
        for extent in &mut halved.extents {
            halve(extent, align_bytes);
        }
        halved.reads.clear();
        Order::of(self.options.strategy, &self.prices).send(&halved.extents, 0, &mut halved.reads);
        for window in &mut halved.windows {
            window.reads = 0..halved.reads.len();
        }
        halved
    }
}

fn halve(extent: &mut Extent, align_bytes: u64) {
    let half_bytes = (extent.length_bytes / 2).next_multiple_of(align_bytes);
    let is_single = extent.length_bytes <= u64::from(extent.request_bytes);
    if is_single && half_bytes < extent.length_bytes {
        extent.request_bytes = request_bytes(half_bytes);
    }
}

#[cfg(test)]
mod tests {
    use crate::costs::tests::{disk, flash};
    use crate::{FileId, Plan, PlanFile, PlanOptions, ReadCosts, Want};

    /// Returns the lengths of the requests for `wants` wants of `length_bytes`.
    fn requests(costs: &ReadCosts, wants: u32, length_bytes: u64) -> Vec<u64> {
        let want = |step| {
            let offset_bytes = u64::from(step) << 24;
            Want { file: FileId(0), offset_bytes, length_bytes, step }
        };
        let wants = (0..wants).map(want).collect();
        let file = PlanFile::new(1 << 30, 4096);
        let plan = Plan::new(wants, &[file], costs, PlanOptions::new(64 << 20)).unwrap();
        plan.reads().iter().map(|read| read.length_bytes).collect()
    }

    #[test]
    fn long_requests_that_are_too_few_come_in_halves() {
        assert_eq!(requests(&flash(), 1, 256 << 10), [128 << 10; 2]);
        // Enough requests keep the device busy.
        assert_eq!(requests(&flash(), 32, 256 << 10), [256 << 10; 32]);
    }

    #[test]
    fn halves_that_cost_more_are_not_sent() {
        // The cost of short requests depends on their number.
        assert_eq!(requests(&flash(), 2, 8 << 10), [8 << 10; 2]);
        // A disk serves requests one by one.
        assert_eq!(requests(&disk(), 1, 256 << 10), [256 << 10]);
    }
}
