use super::{Curve, ReadCosts, RequestCost, busy, sizes};
use crate::Estimate;

/// What requests of any length cost, and into which requests a stretch of a file is best cut: the [`ReadCosts`] made ready for planning,
/// for one alignment and with so much memory.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    align_bytes: u64,
    largest_blocks: u64,
    random: Curve,
    /// Requests that continue the one before; `None` where they weren't measured.
    continued: Option<Curve>,
    /// What a byte costs in long extents.
    sequential_seconds_per_byte: f64,
    /// Random requests at each depth that was measured, ascending.
    by_depth: Vec<(u32, Curve)>,
    /// The depth for each measured size, ascending.
    depths: Vec<(u64, u32)>,
    /// By length in blocks, up to the largest request: the least time for a stretch, when its first request goes to a new place.
    least_seconds: Vec<f64>,
    /// The length of that first request, in blocks.
    first_blocks: Vec<u32>,
}

/// What costs at most so much more than the cheapest cut is as good, because measurements aren't better than that: then the fewest requests
/// are best.
const AS_GOOD: f64 = 1.03;

impl Prices {
    /// Requests are multiples of `align_bytes`. `depth` of them are outstanding, or as many as keep the device busy, but no more than fit into
    /// `memory_bytes`.
    pub(crate) fn new(costs: &ReadCosts, align_bytes: u64, memory_bytes: u64, depth: Option<u32>) -> Self {
        let fitting = |size: u64| u32::try_from((memory_bytes / size.max(1)).max(1)).unwrap_or(u32::MAX);
        let depth_max = |size: u64| depth.map_or(fitting(size), |depth| depth.clamp(1, fitting(size)));
        let busiest = |costs: &[RequestCost]| -> Vec<RequestCost> {
            sizes(costs).into_iter().filter_map(|size| busy(costs, size, depth_max(size))).collect()
        };
        let curve = |busiest: &[RequestCost]| {
            Curve::new(busiest.iter().map(|cost| (cost.request_bytes, cost.seconds)))
        };
        let (random, continued) = (busiest(&costs.random), busiest(&costs.sequential));
        let depth_of = |cost: &RequestCost| {
            let most = depth_max(cost.request_bytes);
            if depth.is_some() { most } else { cost.depth.min(most) }
        };
        let largest_bytes = costs.largest_request_bytes.min(memory_bytes).max(align_bytes);
        let mut prices = Self {
            align_bytes,
            largest_blocks: largest_bytes / align_bytes,
            random: curve(&random),
            continued: (!continued.is_empty()).then(|| curve(&continued)),
            sequential_seconds_per_byte: 0.0,
            by_depth: by_depth(costs),
            depths: random.iter().map(|cost| (cost.request_bytes, depth_of(cost))).collect(),
            least_seconds: vec![0.0],
            first_blocks: vec![0],
        };
        let longest_bytes = prices.largest_bytes();
        prices.sequential_seconds_per_byte =
            prices.continued_seconds(longest_bytes).value / longest_bytes as f64;
        prices.fill_tables();
        prices
    }

    /// For each length the better of one request, and a shorter one that others continue. The price of continuing is the same for each
    /// byte, so of the first requests that are at most as long as the stretch one is best for all longer stretches.
    fn fill_tables(&mut self) {
        let block_seconds = self.block_seconds();
        let mut best_excess = f64::INFINITY;
        // The longest first request that is as good as the best.
        let mut first_blocks = 0;
        for blocks in 1..=self.largest_blocks {
            let seconds = self.random.at(blocks * self.align_bytes).value;
            best_excess = best_excess.min(seconds - block_seconds * blocks as f64);
            let least_seconds = best_excess + block_seconds * blocks as f64;
            if seconds <= AS_GOOD * least_seconds {
                first_blocks = blocks;
            }
            self.least_seconds.push(least_seconds);
            self.first_blocks.push(u32::try_from(first_blocks).unwrap_or(u32::MAX));
        }
    }

    pub(crate) fn align_bytes(&self) -> u64 {
        self.align_bytes
    }

    /// The longest request, in blocks.
    pub(crate) fn largest_blocks(&self) -> u64 {
        self.largest_blocks
    }

    pub(crate) fn largest_bytes(&self) -> u64 {
        self.largest_blocks * self.align_bytes
    }

    /// The least time for a stretch of at most as many blocks as the longest request.
    pub(crate) fn stretch_seconds(&self, blocks: u64) -> Option<f64> {
        self.least_seconds.get(usize::try_from(blocks).ok()?).copied()
    }

    /// The least time of stretches that are longer than any request, but for [`block_seconds`](Self::block_seconds) of each block.
    pub(crate) fn long_stretch_seconds(&self) -> f64 {
        let longest = self.least_seconds.last().copied().unwrap_or_default();
        longest - self.block_seconds() * self.largest_blocks as f64
    }

    /// What a block costs that continues a request.
    pub(crate) fn block_seconds(&self) -> f64 {
        self.sequential_seconds_per_byte * self.align_bytes as f64
    }

    /// The first request of a stretch, in blocks.
    pub(crate) fn first_blocks(&self, stretch_blocks: u64) -> u64 {
        let at = stretch_blocks.min(self.largest_blocks);
        let found = usize::try_from(at).ok().and_then(|at| self.first_blocks.get(at));
        found.map_or(at, |blocks| u64::from(*blocks))
    }

    /// The time of a request that goes to a new place, many outstanding.
    pub(crate) fn random_seconds(&self, bytes: u64) -> Estimate {
        self.random.at(bytes)
    }

    /// The time of a request that continues the one before: at most what one to a new place takes.
    pub(crate) fn continued_seconds(&self, bytes: u64) -> Estimate {
        let random = self.random_seconds(bytes);
        let continued = self.continued.as_ref().map(|curve| curve.at(bytes));
        continued.filter(|continued| continued.value < random.value).unwrap_or(random)
    }

    /// Requests of such a length that must be outstanding, so that the device is kept busy.
    pub(crate) fn depth(&self, bytes: u64) -> u32 {
        let next = self.depths.partition_point(|(size, _)| *size <= bytes);
        let at = |index: usize| self.depths.get(index).map(|(_, depth)| *depth);
        // Between two sizes the greater of their depths.
        let below = next.checked_sub(1).and_then(at);
        let above = match self.depths.get(next.wrapping_sub(1)) {
            Some((size, _)) if *size == bytes => None,
            _ => at(next),
        };
        below.max(above).unwrap_or(1)
    }

    /// How long a request to a new place is on its way when so many are outstanding, itself among them: by Little's law the depth times
    /// what each of them takes.
    pub(crate) fn latency_seconds(&self, bytes: u64, outstanding: u32) -> Estimate {
        let next = self.by_depth.partition_point(|(depth, _)| *depth < outstanding);
        let at = |index: usize| {
            let (depth, curve) = self.by_depth.get(index)?;
            Some((*depth, curve.at(bytes) * f64::from(*depth)))
        };
        let below = next.checked_sub(1).and_then(at);
        match (below, at(next)) {
            (Some((shallower, fast)), Some((deeper, slow))) => {
                let share = f64::from(outstanding - shallower) / f64::from(deeper - shallower);
                fast * (1.0 - share) + slow * share
            }
            (None, Some((_, only))) | (Some((_, only)), None) => only,
            (None, None) => self.random_seconds(bytes),
        }
    }
}

fn by_depth(costs: &ReadCosts) -> Vec<(u32, Curve)> {
    let mut depths: Vec<u32> = costs.random.iter().map(|cost| cost.depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let of_depth = |depth: u32| {
        let costs = costs.random.iter().filter(move |cost| cost.depth == depth);
        (depth, Curve::new(costs.map(|cost| (cost.request_bytes, cost.seconds))))
    };
    depths.into_iter().map(of_depth).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{disk, flash};
    use super::*;

    #[test]
    fn a_stretch_never_costs_more_than_one_request_or_its_parts() {
        for costs in [disk(), flash()] {
            let prices = Prices::new(&costs, 4096, 64 << 20, None);
            for blocks in 1..=prices.largest_blocks() {
                let seconds = prices.stretch_seconds(blocks).unwrap();
                assert!(seconds <= prices.random_seconds(blocks * 4096).value + 1e-12);
                let first = prices.first_blocks(blocks);
                let of_parts = prices.random_seconds(first * 4096).value
                    + prices.block_seconds() * (blocks - first) as f64;
                assert!(
                    seconds <= of_parts + 1e-12 && of_parts <= AS_GOOD * seconds,
                    "{blocks}: {seconds} {of_parts}"
                );
            }
        }
    }

    #[test]
    fn little_memory_makes_queues_shallow() {
        let costs = flash();
        let plenty = Prices::new(&costs, 4096, 64 << 20, None);
        let scarce = Prices::new(&costs, 4096, 16 << 10, None);
        assert_eq!([plenty.depth(4096), scarce.depth(4096)], [32, 4]);
        assert!(scarce.random_seconds(4096).value > 4.0 * plenty.random_seconds(4096).value);
        assert_eq!(Prices::new(&costs, 4096, 64 << 20, Some(2)).depth(4096), 2);
    }
}
