use super::pricing::Key;
use super::{Batches, Curve, ReadCosts, RequestCost, Sequences, busy, sizes};
use crate::Estimate;

/// Prices of requests of any length: [`ReadCosts`] prepared for planning with one alignment and one
/// amount of memory.
///
/// An extent up to the longest request is one request. The rest of a longer extent costs the
/// sequential price. (Where sequential reading is fast, splitting shorter extents would seem
/// cheaper. But on an array each piece moves another arm, and some flash drives take a sequence of
/// requests for the beginning of a long one: DIAT, C8.)
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    align_bytes: u64,
    largest_blocks: u64,
    random: Curve,
    /// Requests that continue the one before; `None` if they weren't measured.
    continued: Option<Curve>,
    /// Time per byte in long extents.
    sequential_seconds_per_byte: f64,
    batches: Batches,
    sequences: Sequences,
    /// Extra cost of an extent of several requests that is read forwards.
    long_sequence_seconds: f64,
    price_error: f64,
    /// Random requests at each measured depth, ascending.
    by_depth: Vec<(u32, Curve)>,
    /// Depth for each measured size, ascending.
    depths: Vec<(u64, u32)>,
    /// Time of a random request by its length in blocks, up to the longest.
    by_blocks: Vec<f64>,
    /// Gaps of this many blocks or more are never worth bridging.
    never_bridged_blocks: u64,
}

impl Prices {
    /// Derives the prices. Requests are multiples of the alignment. The memory limits the depth:
    /// the stated one, or else the depth that keeps the device busy.
    pub(crate) fn of(costs: &ReadCosts, key: Key) -> Self {
        let Key { align_bytes, request_bytes_max, memory_bytes, depth } = key;
        let fitting = |size: u64| u32::try_from((memory_bytes / size.max(1)).max(1)).unwrap_or(u32::MAX);
        let depth_max = |size: u64| depth.map_or(fitting(size), |depth| depth.clamp(1, fitting(size)));
        let busiest = |costs: &[RequestCost]| -> Vec<RequestCost> {
            sizes(costs).into_iter().filter_map(|size| busy(costs, size, depth_max(size))).collect()
        };
        let curve = |busiest: &[RequestCost]| {
            Curve::new(busiest.iter().map(|cost| (cost.request_bytes, cost.seconds)))
        };
        let (mut random, continued) = (busiest(&costs.random), busiest(&costs.sequential));
        if !continued.is_empty() {
            even_jumps(&mut random, &curve(&continued));
        }
        let depth_of = |cost: &RequestCost| {
            let most = depth_max(cost.request_bytes);
            if depth.is_some() { most } else { cost.depth.min(most) }
        };
        let longest_bytes = costs.largest_request_bytes.min(request_bytes_max);
        let largest_bytes = longest_bytes.min(memory_bytes).max(align_bytes);
        let mut prices = Self {
            align_bytes,
            largest_blocks: largest_bytes / align_bytes,
            random: curve(&random),
            continued: (!continued.is_empty()).then(|| curve(&continued)),
            sequential_seconds_per_byte: 0.0,
            batches: Batches::default(),
            sequences: Sequences::new(&costs.sequences),
            long_sequence_seconds: 0.0,
            price_error: costs.price_error,
            by_depth: by_depth(costs),
            depths: random.iter().map(|cost| (cost.request_bytes, depth_of(cost))).collect(),
            by_blocks: Vec::new(),
            never_bridged_blocks: 1,
        };
        prices.batches = Batches::new(&costs.batches, |bytes| prices.latency_seconds(bytes, 1));
        let longest_bytes = prices.largest_bytes();
        prices.sequential_seconds_per_byte =
            prices.continued_seconds(longest_bytes).value / longest_bytes as f64;
        prices.long_sequence_seconds = prices.sequence_seconds(longest_bytes, LONG_SEQUENCE_REQUESTS).value;
        let of_blocks = |blocks: u64| prices.planned_seconds(blocks * align_bytes, memory_bytes);
        prices.by_blocks = (0..=prices.largest_blocks).map(of_blocks).collect();
        never_falling(&mut prices.by_blocks);
        prices.never_bridged_blocks = prices.find_never_bridged_blocks();
        prices
    }

    pub(crate) fn align_bytes(&self) -> u64 {
        self.align_bytes
    }

    /// Length of the longest request, in blocks.
    pub(crate) fn largest_blocks(&self) -> u64 {
        self.largest_blocks
    }

    pub(crate) fn largest_bytes(&self) -> u64 {
        self.largest_blocks * self.align_bytes
    }

    /// Returns the time of an extent of `blocks`, or `None` if it is longer than the longest
    /// request.
    pub(crate) fn extent_seconds(&self, blocks: u64) -> Option<f64> {
        self.by_blocks.get(usize::try_from(blocks).ok()?).copied()
    }

    /// Fixed part of the time of an extent longer than any request; each block adds
    /// [`block_seconds`](Self::block_seconds).
    pub(crate) fn long_extent_seconds(&self) -> f64 {
        let longest = self.by_blocks.last().copied().unwrap_or_default();
        longest - self.block_seconds() * self.largest_blocks as f64
    }

    /// Widens the bounds by the error of derived prices. The errors are independent, so their
    /// squares add.
    pub(crate) fn with_price_error(&self, Estimate { value, low, high }: Estimate) -> Estimate {
        if !(low > 0.0 && value > 0.0) {
            return Estimate { value, low, high };
        }
        let error = self.price_error.ln_1p();
        let farther = |ratio: f64| ratio.ln().hypot(error).exp();
        Estimate { value, low: value / farther(value / low), high: value * farther(high / value) }
    }

    /// Returns true if a sequence of `requests` triggers read-ahead on every device that has it.
    pub(crate) fn is_long_sequence(requests: u64) -> bool {
        requests >= LONG_SEQUENCE_REQUESTS
    }

    /// Returns the extra cost of a sequence of `requests`.
    pub(crate) fn sequence_seconds(&self, request_bytes: u64, requests: u64) -> Estimate {
        self.sequences.seconds(request_bytes, requests)
    }

    /// Returns the extra cost of an extent of several requests that is read forwards.
    pub(crate) fn long_sequence_seconds(&self) -> f64 {
        self.long_sequence_seconds
    }

    /// Returns the time per block of an extent of several requests that is read backwards: each
    /// request is a random one.
    pub(crate) fn backward_block_seconds(&self) -> f64 {
        self.by_blocks.last().copied().unwrap_or_default() / self.largest_blocks.max(1) as f64
    }

    /// Returns true if the device reads ahead of sequences without need.
    pub(crate) fn reads_ahead(&self) -> bool {
        !self.sequences.is_empty()
    }

    /// Returns true if an extent of this number of longest requests is better read backwards, to
    /// avoid useless read-ahead.
    pub(crate) fn is_better_backward(&self, requests: u64) -> bool {
        // Most extents are short: return early.
        if requests <= 2 {
            return false;
        }
        let bytes = self.largest_bytes();
        let wasted = self.sequence_seconds(bytes, requests).low;
        let jumps = self.by_blocks.last().copied().unwrap_or_default() - self.continued_seconds(bytes).value;
        wasted > jumps * (requests - 1) as f64
    }

    /// The cost of an extent beyond the sequential price of its blocks is bounded. So two extents
    /// cost at most twice the upper bound, and one across a gap at least the lower bound and the
    /// gap.
    fn find_never_bridged_blocks(&self) -> u64 {
        let of_blocks = (0_u64..).zip(&self.by_blocks).skip(1);
        let beyond = of_blocks.map(|(blocks, seconds)| seconds - self.block_seconds() * blocks as f64);
        let bounds = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) =
            beyond.fold(bounds, |(least, most), beyond| (beyond.min(least), beyond.max(most)));
        let most = most + self.long_sequence_seconds();
        let blocks = ((2.0 * most - least) / self.block_seconds()).ceil();
        // A float beyond the range becomes the largest integer.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range")]
        let blocks = blocks.max(1.0) as u64;
        blocks
    }

    /// Gaps of this many blocks or more are never bridged.
    pub(crate) fn never_bridged_blocks(&self) -> u64 {
        self.never_bridged_blocks
    }

    /// Returns the time of `bytes` in long extents.
    pub(crate) fn bytes_seconds(&self, bytes: u64) -> f64 {
        self.sequential_seconds_per_byte * bytes as f64
    }

    /// Returns the time of a block that continues a request.
    pub(crate) fn block_seconds(&self) -> f64 {
        self.sequential_seconds_per_byte * self.align_bytes as f64
    }

    /// Returns the time per random request on a busy device.
    pub(crate) fn random_seconds(&self, bytes: u64) -> Estimate {
        self.random.at(bytes)
    }

    /// Returns the time that planning counts for a random request. All requests of a window
    /// complete before its memory is used again. So each takes its share of the time of the last
    /// batch, if that exceeds its time on a busy device.
    fn planned_seconds(&self, bytes: u64, window_bytes: u64) -> f64 {
        let busy = self.random_seconds(bytes).value;
        let fitting = (window_bytes as f64 / bytes.max(1) as f64).max(1.0);
        let outstanding = fitting.min(f64::from(self.depth(bytes)));
        self.batch_seconds(bytes, outstanding).map_or(busy, |batch| busy.max(batch.value / fitting))
    }

    /// Returns the time of a batch of random requests on the idle device, or `None` if none was
    /// measured.
    pub(crate) fn batch_seconds(&self, bytes: u64, requests: f64) -> Option<Estimate> {
        self.batches.seconds(bytes, requests, |bytes| self.random_seconds(bytes))
    }

    /// Returns the time of a request that continues the one before; at most that of a random one.
    pub(crate) fn continued_seconds(&self, bytes: u64) -> Estimate {
        let random = self.random_seconds(bytes);
        let continued = self.continued.as_ref().map(|curve| curve.at(bytes));
        continued.filter(|continued| continued.value < random.value).unwrap_or(random)
    }

    /// Returns the depth that keeps the device busy with requests of this length.
    pub(crate) fn depth(&self, bytes: u64) -> u32 {
        let next = self.depths.partition_point(|(size, _)| *size <= bytes);
        let at = |index: usize| self.depths.get(index).map(|(_, depth)| *depth);
        // Between two sizes, use the greater of their depths.
        let below = next.checked_sub(1).and_then(at);
        let above = match self.depths.get(next.wrapping_sub(1)) {
            Some((size, _)) if *size == bytes => None,
            _ => at(next),
        };
        below.max(above).unwrap_or(1)
    }

    /// Returns the time for which a random request keeps the device busy at this queue depth. A
    /// device that serves several at once is busy no longer at a low depth. A serial one schedules
    /// worse with few to choose from.
    pub(crate) fn service_seconds(&self, bytes: u64, outstanding: u32) -> Estimate {
        let busy = self.random_seconds(bytes);
        if outstanding >= self.depth(bytes) || !self.batches.is_empty() {
            return busy;
        }
        let serial = self.serial_share(bytes);
        let of_few = self.latency_seconds(bytes, outstanding) * (1.0 / f64::from(outstanding.max(1)));
        (busy * (1.0 - serial) + of_few * serial).max(busy)
    }

    /// Returns 1 if the device serves requests serially, 0 if it serves several at once, or a value
    /// between. Choosing the nearer of two requests makes a single arm up to 1.5 times as fast: the
    /// lesser of two waits averages a third of the longest, a single one a half. Any gain beyond
    /// that at depth 2 is parallelism.
    fn serial_share(&self, bytes: u64) -> f64 {
        let faster = 2.0 * self.latency_seconds(bytes, 1).value / self.latency_seconds(bytes, 2).value;
        (2.0 * (2.0 - faster)).clamp(0.0, 1.0)
    }

    /// Returns the latency of a random request at this queue depth. By Little's law it is the depth
    /// times the time per request.
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

/// Devices with read-ahead start it within this many requests of a sequence.
const LONG_SEQUENCE_REQUESTS: u64 = 4;

/// Smooths the price of a jump: the time of a random request beyond that of a continuing one. For
/// long requests it is a small difference of two large figures, so noise could make it zero. Then
/// planning would take jumps for free. So each size takes the jump of the size before, within the
/// bounds of its own measurement.
fn even_jumps(random: &mut [RequestCost], continued: &Curve) {
    let mut jump_seconds: Option<f64> = None;
    for cost in random {
        let bytes_seconds = continued.at(cost.request_bytes).value;
        if let Some(jump_seconds) = jump_seconds {
            cost.seconds.value = (jump_seconds + bytes_seconds).clamp(cost.seconds.low, cost.seconds.high);
        }
        jump_seconds = Some(cost.seconds.value - bytes_seconds);
    }
}

/// Caps each time by that of the next longer request: a short request can be extended. The search
/// for covers relies on it.
fn never_falling(by_blocks: &mut [f64]) {
    let mut longer = f64::INFINITY;
    for seconds in by_blocks.iter_mut().rev() {
        *seconds = seconds.min(longer);
        longer = *seconds;
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

    impl Prices {
        /// Prices without a limit on request length beyond the device's.
        pub(crate) fn new(
            costs: &ReadCosts,
            align_bytes: u64,
            memory_bytes: u64,
            depth: Option<u32>,
        ) -> Self {
            Self::of(costs, Key { align_bytes, request_bytes_max: u64::MAX, memory_bytes, depth })
        }
    }

    #[test]
    fn an_extent_costs_one_request_and_what_is_beyond_it_the_sequential_price() {
        for costs in [disk(), flash()] {
            let prices = Prices::new(&costs, 4096, 64 << 20, None);
            let longest = prices.largest_blocks();
            for blocks in 1..=longest {
                let seconds = prices.extent_seconds(blocks).unwrap();
                assert!((seconds - prices.random_seconds(blocks * 4096).value).abs() < 1e-12);
            }
            assert_eq!(prices.extent_seconds(longest + 1), None);
            let beyond = prices.long_extent_seconds() + prices.block_seconds() * (longest + 1) as f64;
            let expected = prices.random_seconds(longest * 4096).value
                + prices.continued_seconds(longest * 4096).value / longest as f64;
            assert!((beyond - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn noise_of_long_requests_makes_no_jump_cheaper() {
        let mut noisy = disk();
        let longest = 256 << 10;
        // A jump of 8 ms seems to take 3 ms; its bounds allow 2 to 8 ms.
        for cost in noisy.random.iter_mut().filter(|cost| cost.request_bytes == longest) {
            cost.seconds = Estimate { value: 5.6e-3, low: 4.6e-3, high: 10.7e-3 };
        }
        let seconds =
            |costs: &ReadCosts| Prices::new(costs, 4096, 64 << 20, None).random_seconds(longest).value;
        assert!((seconds(&noisy) - seconds(&disk())).abs() < 1e-6, "{}", seconds(&noisy));
        // Exact measurements stay unchanged.
        for cost in noisy.random.iter_mut().filter(|cost| cost.request_bytes == longest) {
            cost.seconds = Estimate { value: 9.0e-3, low: 8.9e-3, high: 9.1e-3 };
        }
        assert!((seconds(&noisy) - 9.1e-3).abs() < 1e-6, "{}", seconds(&noisy));
    }

    #[test]
    fn few_left_take_an_arm_longer_and_flash_no_longer() {
        let mut arm = disk();
        for cost in &mut arm.random {
            // A scheduler with more requests to choose from: 8, 6.7, 5.3, 4 ms, …
            cost.seconds = cost.seconds * (1.0 / (1.0 + 0.5 * f64::from(cost.depth).log2() / 2.0));
        }
        let arm = Prices::new(&arm, 4096, 64 << 20, None);
        let (busy, alone) = (arm.random_seconds(4096), arm.latency_seconds(4096, 1));
        assert_eq!(arm.service_seconds(4096, 1000), busy);
        assert!((arm.service_seconds(4096, 1).value - alone.value).abs() < 1e-9);
        let flash = Prices::new(&flash(), 4096, 64 << 20, None);
        assert_eq!(flash.service_seconds(4096, 1), flash.random_seconds(4096));
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
