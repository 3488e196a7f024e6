//! The cheapest cover of wanted blocks by requests.
//!
//! The wanted blocks of a file form stretches with gaps between them. A cover joins neighbouring
//! stretches, with their gaps, into extents. [`Prices`] states the cost of an extent by its length:
//! up to the longest request it is a single request, and any further bytes continue it. So the
//! least cost of the first `j` stretches follows from that of fewer: `least[j] = min over i ≤ j of
//! least[i − 1] + cost(end[j] − start[i])`. This is the minimum over *all* covers by aligned
//! extents: an extent that begins earlier or ends later than its stretches only costs more.
//!
//! Three facts keep the search short:
//! - A gap that costs more than two new requests is never bridged, so it splits the problem.
//! - The cost of an extent longer than any request grows linearly with its length, so the minimum
//!   over its `i` is carried along.
//! - The cost never falls with more stretches or a longer extent. The search for `i` ends once the
//!   least cost before any shorter extent, plus the cost of this length, reaches the best one
//!   found.

use std::ops::Range;

use crate::costs::Prices;

use super::stretches::Stretch;

/// Finds covers; reuses its memory.
#[derive(Default)]
pub(crate) struct Cover {
    least: Vec<Least>,
    /// For each extent, the index after its last stretch.
    ends: Vec<usize>,
}

/// Least cost up to a stretch, and the first stretch of the last extent.
#[derive(Clone, Copy)]
struct Least {
    seconds: f64,
    first: usize,
}

impl Cover {
    /// Returns the cheapest cover of a file's stretches: for each extent, the index after its last
    /// stretch. The stretches are ordered and don't touch. In the last file of a window, the last
    /// extent may continue in the next window.
    pub(crate) fn cheapest(
        &mut self,
        stretches: &[Stretch],
        is_last_file: bool,
        prices: &Prices,
    ) -> &[usize] {
        let never_bridged = prices.never_bridged_blocks();
        self.ends.clear();
        let mut first = 0;
        for near in stretches.chunk_by(|one, next| next.start_block - one.end_block < never_bridged) {
            if near.len() > 1 {
                let may_go_on = is_last_file && first + near.len() == stretches.len();
                self.find(near, may_go_on, prices);
                self.follow_back(first);
            } else {
                self.ends.push(first + 1);
            }
            first += near.len();
        }
        &self.ends
    }

    /// Finds the least cost up to each stretch. With `may_go_on`, an extent that ends with the last
    /// one doesn't pay for its end.
    fn find(&mut self, stretches: &[Stretch], may_go_on: bool, prices: &Prices) {
        self.least.clear();
        let mut long = LongExtents::forward(prices);
        let mut backward = LongExtents::backward(prices);
        // Extents that begin before this index are longer than a request.
        let mut first_short = 0;
        for (index, stretch) in stretches.iter().enumerate() {
            while let Some(start) = stretches.get(first_short).filter(|_| first_short <= index)
                && stretch.end_block - start.start_block > prices.largest_blocks()
            {
                long.add(first_short, start.start_block, self.before(first_short));
                backward.add(first_short, start.start_block, self.before(first_short));
                first_short += 1;
            }
            let goes_on = may_go_on && index + 1 == stretches.len();
            let (forward, backward) =
                (long.best(stretch.end_block, goes_on), backward.best(stretch.end_block, goes_on));
            let longer = if backward.seconds < forward.seconds { backward } else { forward };
            let best = self.shorter(stretches, first_short..index + 1, prices, longer);
            self.least.push(best);
        }
    }

    /// Returns the best of `found` and of the single-request extents that begin in `range` and end
    /// with the last stretch.
    fn shorter(&self, stretches: &[Stretch], range: Range<usize>, prices: &Prices, found: Least) -> Least {
        let starts = stretches.get(range.clone()).unwrap_or_default();
        let (Some(earliest), Some(last)) = (starts.first(), starts.last()) else { return found };
        let seconds_from = |start: &Stretch| {
            prices.extent_seconds(last.end_block - start.start_block).unwrap_or(f64::INFINITY)
        };
        let least_before = self.before(range.start);
        let mut best = found;
        let seconds = least_before + seconds_from(earliest);
        if seconds < best.seconds {
            best = Least { seconds, first: range.start };
        }
        for (first, start) in range.zip(starts).rev() {
            let extent_seconds = seconds_from(start);
            if least_before + extent_seconds >= best.seconds {
                break;
            }
            let seconds = self.before(first) + extent_seconds;
            if seconds < best.seconds {
                best = Least { seconds, first };
            }
        }
        best
    }

    /// Least cost of all stretches before `index`.
    fn before(&self, index: usize) -> f64 {
        index.checked_sub(1).and_then(|before| self.least.get(before)).map_or(0.0, |before| before.seconds)
    }

    /// Collects the extents backwards from the last stretch. `first` is the index of the first
    /// stretch.
    fn follow_back(&mut self, first: usize) {
        let before = self.ends.len();
        let mut end = self.least.len();
        while let Some(last) = end.checked_sub(1).and_then(|last| self.least.get(last)) {
            self.ends.push(first + end);
            end = last.first;
        }
        if let Some(found) = self.ends.get_mut(before..) {
            found.reverse();
        }
    }
}

/// Minimum over extents longer than a request; each of them grows by the same cost per block.
struct LongExtents {
    block_seconds: f64,
    extra_seconds: f64,
    /// Cost of ending a sequence.
    end_seconds: f64,
    /// Cost of the best extent, without its blocks up to the end.
    best: Least,
}

impl LongExtents {
    fn forward(prices: &Prices) -> Self {
        Self::new(prices.block_seconds(), prices.long_extent_seconds(), prices.long_sequence_seconds())
    }

    /// Backward extents: each request is a random one, and nothing is read ahead.
    fn backward(prices: &Prices) -> Self {
        Self::new(prices.backward_block_seconds(), 0.0, 0.0)
    }

    fn new(block_seconds: f64, extra_seconds: f64, end_seconds: f64) -> Self {
        Self { block_seconds, extra_seconds, end_seconds, best: Least { seconds: f64::INFINITY, first: 0 } }
    }

    fn add(&mut self, first: usize, start_block: u64, before_seconds: f64) {
        let seconds = before_seconds + self.extra_seconds - self.block_seconds * start_block as f64;
        if seconds < self.best.seconds {
            self.best = Least { seconds, first };
        }
    }

    /// Returns the best extent that ends at `end_block`, or continues there.
    fn best(&self, end_block: u64, goes_on: bool) -> Least {
        let end_seconds = if goes_on { 0.0 } else { self.end_seconds };
        let seconds = self.best.seconds + self.block_seconds * end_block as f64 + end_seconds;
        Least { seconds, first: self.best.first }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::costs::tests::{disk, flash};
    use crate::{BatchCost, Estimate, FileId, ReadCosts, SequenceCost};

    fn stretches(lengths: &[(u64, u64)]) -> Vec<Stretch> {
        let mut at = 0;
        let stretch = |(gap, blocks): &(u64, u64)| {
            let start_block = at + gap;
            at = start_block + blocks;
            Stretch { file: FileId(0), start_block, end_block: at, first_step: 0 }
        };
        lengths.iter().map(stretch).collect()
    }

    fn extent_cost(blocks: u64, goes_on: bool, prices: &Prices) -> f64 {
        let Some(beyond) = blocks.checked_sub(prices.largest_blocks()).filter(|beyond| *beyond > 0) else {
            return prices.extent_seconds(blocks).unwrap();
        };
        let longest = prices.extent_seconds(prices.largest_blocks()).unwrap();
        let forward = longest + prices.block_seconds() * beyond as f64;
        let end = if goes_on { 0.0 } else { prices.long_sequence_seconds() };
        (forward + end).min(prices.backward_block_seconds() * blocks as f64)
    }

    fn cost(stretches: &[Stretch], ends: &[usize], may_go_on: bool, prices: &Prices) -> f64 {
        let mut first = 0;
        let extents = ends.iter().map(|end| {
            let blocks = stretches[end - 1].end_block - stretches[first].start_block;
            first = *end;
            extent_cost(blocks, may_go_on && *end == stretches.len(), prices)
        });
        extents.sum()
    }

    /// Brute force over all aligned extents: the least cost from each block on.
    fn brute_force(stretches: &[Stretch], may_go_on: bool, prices: &Prices) -> f64 {
        let end = usize::try_from(stretches.last().unwrap().end_block).unwrap();
        let is_wanted = |block: usize| {
            stretches.iter().any(|stretch| (stretch.start_block..stretch.end_block).contains(&(block as u64)))
        };
        let mut least = vec![0.0_f64; end + 2];
        for block in (0..end).rev() {
            let skipped = if is_wanted(block) { f64::INFINITY } else { least[block + 1] };
            // Touching extents are one extent, so skip a block.
            let ends = (block + 1..=end).filter(|behind| *behind == end || !is_wanted(*behind));
            let extents = ends.map(|behind| {
                let seconds = extent_cost((behind - block) as u64, may_go_on && behind == end, prices);
                seconds + least[(behind + 1).min(end)]
            });
            least[block] = extents.fold(skipped, f64::min);
        }
        least[0]
    }

    fn prices(costs: &ReadCosts, largest_bytes: u64) -> Prices {
        let costs = ReadCosts { largest_request_bytes: largest_bytes, ..costs.clone() };
        Prices::new(&costs, 4096, 64 << 20, None)
    }

    proptest! {
        #[test]
        fn no_other_extents_cost_less(
            lengths in prop::collection::vec((1_u64..12, 1_u64..8), 1..12),
            seeks_us in 1_u32..4000,
            largest_blocks in 1_u64..16,
            may_go_on in any::<bool>(),
            batch_us in 0_u32..40_000,
            read_ahead_us in 0_u32..4000,
        ) {
            let mut rough = disk();
            for cost in &mut rough.random {
                // A rough curve, above or below the straight line.
                let factor = 1.0 + 0.3 * ((cost.request_bytes >> 12) % 3) as f64;
                cost.seconds = crate::Estimate::exact(
                    f64::from(seeks_us) * 1e-6 + factor * cost.request_bytes as f64 / 1e8,
                );
            }
            let batch = |(bytes, factor): (u64, u32)| BatchCost {
                request_bytes: bytes,
                requests: 8,
                seconds: Estimate::exact(f64::from(batch_us * factor) * 1e-6),
            };
            rough.batches = [(4096, 1), (16 << 10, 3), (64 << 10, 2)].map(batch).into();
            rough.batches.retain(|_| batch_us > 0);
            rough.sequences = vec![SequenceCost {
                request_bytes: 4096,
                requests: 4,
                seconds: Estimate::exact(f64::from(read_ahead_us) * 1e-6),
            }];
            let prices = prices(&rough, largest_blocks * 4096);
            let stretches = stretches(&lengths);
            let mut cover = Cover::default();
            let ends = cover.cheapest(&stretches, may_go_on, &prices);
            let seconds = cost(&stretches, ends, may_go_on, &prices);
            let best = brute_force(&stretches, may_go_on, &prices);
            prop_assert!((seconds - best).abs() < 1e-9, "{seconds} against {best}: {ends:?}");
        }
    }

    /// Expensive jumps: the gap is read although the first stretch alone exceeds a request.
    #[test]
    fn a_stretch_longer_than_a_request_may_go_on() {
        let mut slow = disk();
        for cost in &mut slow.random {
            cost.seconds = crate::Estimate::exact(1.0 + cost.request_bytes as f64 / 1e9);
        }
        let prices = prices(&slow, 2 * 4096);
        let lengths = [(0, 5), (1, 5), (1, 1)];
        let mut cover = Cover::default();
        let ends = cover.cheapest(&stretches(&lengths), true, &prices).to_vec();
        let best = brute_force(&stretches(&lengths), true, &prices);
        assert!((cost(&stretches(&lengths), &ends, true, &prices) - best).abs() < 1e-9);
    }

    /// DIAT §1.2: of a group of 16 blocks, one is read alone; two or more make it the whole group.
    #[test]
    fn the_papers_rules_follow_from_the_curve() {
        // Curve of the X25-M (C10, C1): 2 KiB at a fifth of the bandwidth of 32 KiB.
        let seconds = |bytes: f64| bytes / (265e6 * bytes / (bytes + 8.0 * 1024.0));
        let random = [2_u64, 4, 8, 16, 32, 64, 128].map(|kibibytes| crate::RequestCost {
            request_bytes: kibibytes << 10,
            depth: 4,
            seconds: crate::Estimate::exact(seconds((kibibytes << 10) as f64)),
        });
        let costs = ReadCosts { random: random.to_vec(), sequential: Vec::new(), ..flash() };
        let prices = Prices::new(&costs, 2048, 64 << 20, None);
        let one_of_each_group = stretches(&[(0, 1), (15, 1), (15, 1)]);
        assert_eq!(Cover::default().cheapest(&one_of_each_group, true, &prices), [1, 2, 3]);
        let every_other = stretches(&[(0, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1)]);
        assert_eq!(Cover::default().cheapest(&every_other, true, &prices), [8]);
    }

    #[test]
    fn flash_jumps_where_a_disk_reads_on() {
        let blocks = stretches(&[(0, 1), (40, 1), (40, 1)]);
        assert_eq!(Cover::default().cheapest(&blocks, true, &prices(&flash(), 256 << 10)), [1, 2, 3]);
        assert_eq!(Cover::default().cheapest(&blocks, true, &prices(&disk(), 256 << 10)), [3]);
    }
}
