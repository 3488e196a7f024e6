use super::{Curve, RandomCost, ReadCosts};
use crate::Estimate;

/// What requests of any length cost, and into which requests a stretch of a file is best cut: the [`ReadCosts`] made ready for planning,
/// for one alignment and with so much memory.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    align_bytes: u64,
    largest_blocks: u64,
    random: Curve,
    /// One request at a time; `None` where that wasn't measured.
    alone: Option<Curve>,
    sequential_seconds_per_byte: Estimate,
    /// Whether requests that continue others were measured to cost less.
    is_sequential_measured: bool,
    /// The depth for each measured size, ascending.
    depths: Vec<(u64, u32)>,
    /// By length in blocks, up to the largest request: the least time for a stretch, when its first request goes to a new place.
    least_seconds: Vec<f64>,
    /// The length of that first request, in blocks.
    first_blocks: Vec<u32>,
}

impl Prices {
    /// Requests are multiples of `align_bytes`. `depth` of them are outstanding, or as many as keep the device busy, but no more than fit into
    /// `memory_bytes`.
    pub(crate) fn new(costs: &ReadCosts, align_bytes: u64, memory_bytes: u64, depth: Option<u32>) -> Self {
        let fitting = |size: u64| u32::try_from((memory_bytes / size.max(1)).max(1)).unwrap_or(u32::MAX);
        let depth_max = |size: u64| depth.map_or(fitting(size), |depth| depth.clamp(1, fitting(size)));
        let busy: Vec<_> =
            costs.sizes().into_iter().filter_map(|size| costs.busy(size, depth_max(size))).collect();
        let random = Curve::new(busy.iter().map(|cost| (cost.request_bytes, cost.seconds)));
        let depth_of = |cost: &RandomCost| {
            let most = depth_max(cost.request_bytes);
            if depth.is_some() { most } else { cost.depth.min(most) }
        };
        let depths = busy.iter().map(|cost| (cost.request_bytes, depth_of(cost))).collect();
        let largest_bytes = costs.largest_request_bytes.min(memory_bytes).max(align_bytes);
        let largest_blocks = largest_bytes / align_bytes;
        let sequential_seconds_per_byte = sequential_price(costs, &random, largest_blocks * align_bytes);
        let mut prices = Self {
            align_bytes,
            largest_blocks,
            random,
            alone: alone(costs),
            sequential_seconds_per_byte,
            is_sequential_measured: costs.sequential_bytes_per_second.is_some(),
            depths,
            least_seconds: vec![0.0],
            first_blocks: vec![0],
        };
        prices.fill_tables();
        prices
    }

    /// For each length the better of one request, and a shorter one that others continue. The price of continuing is the same for each
    /// byte, so of the first requests that are at most as long as the stretch one is best for all longer stretches.
    fn fill_tables(&mut self) {
        let block_seconds = self.sequential_seconds_per_byte.value * self.align_bytes as f64;
        let (mut best_excess, mut best_blocks) = (f64::INFINITY, 0);
        for blocks in 1..=self.largest_blocks {
            let seconds = self.random.at(blocks * self.align_bytes).value;
            let excess = seconds - block_seconds * blocks as f64;
            if excess <= best_excess {
                (best_excess, best_blocks) = (excess, blocks);
            }
            self.least_seconds.push(best_excess + block_seconds * blocks as f64);
            self.first_blocks.push(u32::try_from(best_blocks).unwrap_or(u32::MAX));
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
        self.sequential_seconds_per_byte.value * self.align_bytes as f64
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

    /// The time of a request that continues the one before.
    pub(crate) fn continued_seconds(&self, bytes: u64) -> Estimate {
        if self.is_sequential_measured {
            self.sequential_seconds_per_byte * bytes as f64
        } else {
            self.random_seconds(bytes)
        }
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

    /// The time of a request that goes to a new place while no other is outstanding: at least what it takes beside others.
    pub(crate) fn alone_seconds(&self, bytes: u64) -> Estimate {
        let busy = self.random_seconds(bytes);
        self.alone.as_ref().map_or(busy, |alone| alone.at(bytes).max(busy))
    }
}

fn alone(costs: &ReadCosts) -> Option<Curve> {
    let alone: Vec<_> = costs.random.iter().filter(|cost| cost.depth == 1).collect();
    (!alone.is_empty()).then(|| Curve::new(alone.iter().map(|cost| (cost.request_bytes, cost.seconds))))
}

/// What a byte costs that continues a request: what was measured, but never more than in the longest random request. Where nothing was
/// measured it is that, because a long extent is read in such requests.
fn sequential_price(costs: &ReadCosts, random: &Curve, largest_bytes: u64) -> Estimate {
    let random = random.at(largest_bytes) * (1.0 / largest_bytes as f64);
    let Some(bandwidth) = costs.sequential_bytes_per_second else { return random };
    let price =
        Estimate { value: 1.0 / bandwidth.value, low: 1.0 / bandwidth.high, high: 1.0 / bandwidth.low };
    if price.value <= random.value { price } else { random }
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
                    + prices.continued_seconds((blocks - first) * 4096).value;
                assert!((seconds - of_parts).abs() < 1e-12, "{blocks}: {seconds} {of_parts}");
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
