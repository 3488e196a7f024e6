use nandle_io::Shape;
use nandle_io::buffer::GRAIN_BYTES;
use nandle_profile::{OperationKind, SkippedCell};
use nandle_units::format_bytes;

use crate::pattern::PatternSpec;
use crate::sweep::CellSpec;

/// Smallest block of the grid, if the device supports it. The DIAT paper starts at the same size.
const SMALLEST_BLOCK_BYTES: u64 = 2 << 10;
/// The largest block of the grid.
const LARGEST_BLOCK_BYTES: u64 = 4 << 20;
/// The deepest queue of the grid.
const DEEPEST_QUEUE: u32 = 256;

/// Order of the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Random, in groups if `group_blocks` is above 1.
    Random,
    /// Consecutive blocks.
    Sequential,
}

/// A cell of the probe's reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// Order of the reads.
    pub order: Order,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Blocks in a group.
    pub group_blocks: u64,
    /// Queue depth.
    pub queue_depth: u32,
}

impl CellKey {
    /// Random reads of single blocks.
    pub fn random(block_bytes: u64, queue_depth: u32) -> Self {
        Self { order: Order::Random, block_bytes, group_blocks: 1, queue_depth }
    }

    /// Random reads in groups.
    pub fn grouped(block_bytes: u64, group_blocks: u64, queue_depth: u32) -> Self {
        Self { order: Order::Random, block_bytes, group_blocks, queue_depth }
    }

    /// Sequential reads.
    pub fn sequential(block_bytes: u64, queue_depth: u32) -> Self {
        Self { order: Order::Sequential, block_bytes, group_blocks: 1, queue_depth }
    }

    /// Doublings of block size and depth between two cells.
    pub(super) fn doublings_to(self, other: Self) -> f64 {
        let blocks = self.block_bytes as f64 / other.block_bytes as f64;
        let depths = f64::from(self.queue_depth) / f64::from(other.queue_depth);
        blocks.log2().abs() + depths.log2().abs()
    }

    /// The cell as a sweep's combination.
    pub fn spec(self) -> CellSpec {
        CellSpec {
            pattern: match self.order {
                Order::Random => PatternSpec::Random,
                Order::Sequential => PatternSpec::Sequential,
            },
            operation: OperationKind::Read,
            block_bytes: self.block_bytes,
            group_blocks: self.group_blocks,
            queue_depth: self.queue_depth,
        }
    }
}

/// Grid of block sizes and queue depths, with its memory limit.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Block sizes, ascending powers of two.
    pub block_sizes: Vec<u64>,
    /// Queue depths, ascending powers of two.
    pub queue_depths: Vec<u32>,
    /// Largest number of outstanding bytes. Cells beyond it are skipped.
    pub outstanding_bytes_max: u64,
}

impl Grid {
    /// Creates the grid for the first `area_bytes` of a device, in a world with `slots` request
    /// slots.
    pub fn new(shape: &Shape, area_bytes: u64, slots: usize, outstanding_bytes_max: u64) -> Self {
        let smallest = shape.logical_block_bytes.max(shape.memory_alignment_bytes).max(SMALLEST_BLOCK_BYTES);
        // Patterns need several positions.
        let largest = LARGEST_BLOCK_BYTES.min(shape.largest_transfer_bytes).min(area_bytes / 8);
        let block_sizes =
            doubling(smallest.next_power_of_two()).take_while(|block| *block <= largest).collect();
        let queue_depths = (0..)
            .map(|power| 1 << power)
            .take_while(|depth| *depth <= DEEPEST_QUEUE && *depth as usize <= slots);
        Self { block_sizes, queue_depths: queue_depths.collect(), outstanding_bytes_max }
    }

    /// Queue depths of a block size within the limit of outstanding bytes.
    pub fn depths_of(&self, block_bytes: u64) -> impl DoubleEndedIterator<Item = u32> + '_ {
        let within = move |depth: &u32| block_bytes * u64::from(*depth) <= self.outstanding_bytes_max;
        self.queue_depths.iter().copied().filter(within)
    }

    /// All cells of random reads of single blocks.
    pub fn random_cells(&self) -> impl Iterator<Item = CellKey> + '_ {
        let cells_of = |&block| self.depths_of(block).map(move |depth| CellKey::random(block, depth));
        self.block_sizes.iter().flat_map(cells_of)
    }

    /// Buffer memory of a lane that reads any cell.
    pub fn buffer_bytes(&self) -> u64 {
        let grain = GRAIN_BYTES as u64;
        let bytes = |key: CellKey| key.block_bytes.next_multiple_of(grain) * u64::from(key.queue_depth);
        self.random_cells().map(bytes).max().unwrap_or(0)
    }

    /// Cells beyond the limit of outstanding bytes.
    pub fn skipped(&self) -> Vec<SkippedCell> {
        let beyond = |block: u64| {
            let bytes = move |depth: &u32| block * u64::from(*depth);
            self.queue_depths.iter().filter(move |depth| bytes(depth) > self.outstanding_bytes_max).map(
                move |depth| SkippedCell {
                    pattern: "random".into(),
                    block_bytes: block,
                    group_blocks: 1,
                    queue_depth: *depth,
                    reason: format!(
                        "{} would be outstanding at once, more than {}",
                        format_bytes(bytes(depth)),
                        format_bytes(self.outstanding_bytes_max)
                    ),
                },
            )
        };
        self.block_sizes.iter().copied().flat_map(beyond).collect()
    }
}

fn doubling(first: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(first.max(1)), |block| block.checked_mul(2))
}
