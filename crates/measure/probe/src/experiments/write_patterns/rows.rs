//! Patterns to measure.

use nandle_io::Nanos;
use nandle_profile::OperationKind;
use nandle_profile::experiments::MicroBenchmark;

use crate::experiments::Circumstances;
use crate::pattern::PatternSpec;

/// Block size of uFLIP for all but the granularity.
const BASE_BLOCK_BYTES: u64 = 32 << 10;
const MIB: u64 = 1 << 20;

/// Pattern to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub(super) micro_benchmark: MicroBenchmark,
    pub(super) pattern: PatternSpec,
    pub(super) operation: OperationKind,
    pub(super) block_bytes: u64,
    pub(super) shift_bytes: u64,
    pub(super) queue_depth: u32,
    pub(super) pause: Nanos,
    pub(super) burst_requests: u64,
}

/// Block size of most rows: uFLIP's, rounded up to a multiple of the device's unit.
pub(super) fn base_block_bytes(circumstances: &Circumstances) -> u64 {
    BASE_BLOCK_BYTES.next_multiple_of(unit_bytes(circumstances))
}

/// Alignment of all requests.
fn unit_bytes(circumstances: &Circumstances) -> u64 {
    circumstances.shape.logical_block_bytes.max(circumstances.shape.memory_alignment_bytes).max(512)
}

impl Row {
    /// Row of writes at depth 1.
    pub(super) fn of(micro_benchmark: MicroBenchmark, pattern: PatternSpec, block_bytes: u64) -> Self {
        Self {
            micro_benchmark,
            pattern,
            operation: OperationKind::Write,
            block_bytes,
            shift_bytes: 0,
            queue_depth: 1,
            pause: Nanos::ZERO,
            burst_requests: 0,
        }
    }

    /// Stage in which the row is visited.
    pub(super) fn stage(&self) -> Stage {
        let is_write = self.operation == OperationKind::Write;
        match self.pattern {
            _ if self.operation == OperationKind::Read => Stage::Sequential,
            PatternSpec::Sequential => Stage::Sequential,
            PatternSpec::Ordered { stride_blocks } if stride_blocks.abs() > NEAR_STRIDE => Stage::Strides,
            PatternSpec::Partitioned { .. } | PatternSpec::Ordered { .. } => Stage::Streams,
            PatternSpec::Focused { .. } => Stage::Areas,
            _ if self.micro_benchmark == MicroBenchmark::Baseline && is_write => Stage::Random,
            _ => Stage::Others,
        }
    }

    /// Sort key within an ascending stage.
    pub(super) fn harshness(&self) -> u64 {
        match self.pattern {
            PatternSpec::Ordered { stride_blocks } => stride_blocks.unsigned_abs(),
            PatternSpec::Partitioned { streams } => NEAR_STRIDE.unsigned_abs() + streams,
            PatternSpec::Focused { focus_bytes } => focus_bytes,
            _ => 0,
        }
    }

    /// Returns true if `other` is the same kind with a larger area or more streams, and so costs no
    /// less.
    pub(super) fn is_smaller_of_kind(&self, other: &Self) -> bool {
        match (self.pattern, other.pattern) {
            (PatternSpec::Focused { focus_bytes: own }, PatternSpec::Focused { focus_bytes: other })
            | (PatternSpec::Partitioned { streams: own }, PatternSpec::Partitioned { streams: other }) => {
                own < other
            }
            _ => false,
        }
    }

    /// Weight of the row's time. All costs are relative to sequential writes, so these get more. A
    /// page-mapped drive starts garbage collection only after long random writes.
    pub(super) fn weight(&self) -> u64 {
        match (self.micro_benchmark, self.operation) {
            (MicroBenchmark::Baseline, OperationKind::Write) if self.stage() == Stage::Random => 120,
            (MicroBenchmark::Baseline, OperationKind::Write) => 10,
            (MicroBenchmark::Locality, _) => 5,
            // Long strides cause rare but long garbage collection.
            _ if self.stage() == Stage::Strides => 4,
            (MicroBenchmark::Partitioning, _) => 3,
            (MicroBenchmark::Order, _) => 2,
            _ => 1,
        }
    }

    /// Returns true if `other`'s cost is relative to this row: sequential writes of the same blocks
    /// at the same depth.
    pub(super) fn is_measure_of(&self, other: &Self) -> bool {
        self.pattern == PatternSpec::Sequential
            && self.operation == OperationKind::Write
            && self.block_bytes == other.block_bytes
            && self.queue_depth == other.queue_depth
            && self.shift_bytes == 0
            && self.pause == Nanos::ZERO
    }
}

/// Stage of a row, from gentle to harsh. Areas come before streams. Random writes in an area make
/// pages obsolete within that area, where the next row finds them. Streams leave obsolete pages all
/// over the drive. A page-mapped drive must then collect blocks that are almost full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Sequential writes, and reads.
    Sequential,
    /// Random writes within areas.
    Areas,
    /// Several streams, and short strides.
    Streams,
    Strides,
    /// Long random writes over the whole area.
    Random,
    /// Other random writes.
    Others,
}

/// All stages in order.
pub(super) const STAGES: [Stage; 6] =
    [Stage::Sequential, Stage::Areas, Stage::Streams, Stage::Strides, Stage::Random, Stage::Others];

impl Stage {
    /// Returns true if rows are visited one by one, from gentle to harsh.
    pub(super) fn is_ascending(self) -> bool {
        matches!(self, Self::Streams | Self::Areas)
    }
}

/// Longest stride within an erase block.
const NEAR_STRIDE: i64 = 4;

/// All rows that are known in advance.
pub(super) fn rows(circumstances: &Circumstances, block_bytes: u64) -> Vec<Row> {
    let area_bytes = circumstances.area_bytes;
    let mut rows = baselines(block_bytes);
    rows.extend(granularities(circumstances, block_bytes));
    rows.extend(alignments(circumstances, block_bytes));
    let focuses = (0..9).map(|power| MIB << power).filter(|focus| *focus <= area_bytes / 2);
    rows.extend(focuses.map(|focus_bytes| focused(focus_bytes, block_bytes)));
    let counts = (1..7).map(|power| 1 << power).filter(|streams| area_bytes / streams >= MIB);
    rows.extend(counts.map(|streams| partitioned(streams, block_bytes)));
    rows.extend([-4, -2, -1, 0, 2, 4, 8, 16, 64].map(|stride_blocks| {
        Row::of(MicroBenchmark::Order, PatternSpec::Ordered { stride_blocks }, block_bytes)
    }));
    rows.extend(parallel(circumstances, block_bytes));
    rows.extend(mixes(block_bytes));
    rows.extend(spread_over_time(block_bytes));
    rows
}

/// Random writes within a small area.
pub(super) fn focused(focus_bytes: u64, block_bytes: u64) -> Row {
    Row::of(MicroBenchmark::Locality, PatternSpec::Focused { focus_bytes }, block_bytes)
}

pub(super) fn partitioned(streams: u64, block_bytes: u64) -> Row {
    Row::of(MicroBenchmark::Partitioning, PatternSpec::Partitioned { streams }, block_bytes)
}

const BOTH: [PatternSpec; 2] = [PatternSpec::Sequential, PatternSpec::Random];

fn baselines(block_bytes: u64) -> Vec<Row> {
    let write = BOTH.map(|pattern| Row::of(MicroBenchmark::Baseline, pattern, block_bytes));
    let read = write.map(|row| Row { operation: OperationKind::Read, ..row });
    write.into_iter().chain(read).collect()
}

fn granularities(circumstances: &Circumstances, base_bytes: u64) -> Vec<Row> {
    let sizes = [4 << 10, 8 << 10, 16 << 10, 128 << 10];
    let possible = |block: &u64| {
        block.is_multiple_of(unit_bytes(circumstances))
            && *block != base_bytes
            && *block <= circumstances.shape.largest_transfer_bytes
    };
    let both = |block: u64| BOTH.map(|pattern| Row::of(MicroBenchmark::Granularity, pattern, block));
    sizes.into_iter().filter(possible).flat_map(both).collect()
}

/// Shifts by the smallest unit and by a common flash page.
fn alignments(circumstances: &Circumstances, block_bytes: u64) -> Vec<Row> {
    let unit = unit_bytes(circumstances);
    let mut shifts = vec![unit, 4096_u64.next_multiple_of(unit)];
    shifts.dedup();
    let shifted = |shift_bytes: u64| {
        BOTH.map(|pattern| Row { shift_bytes, ..Row::of(MicroBenchmark::Alignment, pattern, block_bytes) })
    };
    shifts.into_iter().filter(|shift| *shift > 0 && *shift < block_bytes).flat_map(shifted).collect()
}

fn parallel(circumstances: &Circumstances, block_bytes: u64) -> Vec<Row> {
    let depths = [4, 16].into_iter().filter(|depth| *depth <= circumstances.slots);
    let both = |queue_depth: u32| {
        BOTH.map(|pattern| Row { queue_depth, ..Row::of(MicroBenchmark::Parallelism, pattern, block_bytes) })
    };
    depths.flat_map(both).collect()
}

fn mixes(block_bytes: u64) -> Vec<Row> {
    let mixed = |(pattern, read_percent)| Row {
        operation: OperationKind::Mixed { read_percent },
        ..Row::of(MicroBenchmark::Mix, pattern, block_bytes)
    };
    BOTH.into_iter().flat_map(|pattern| [(pattern, 50), (pattern, 90)]).map(mixed).collect()
}

/// Random writes with a pause after each request, and after each burst.
fn spread_over_time(block_bytes: u64) -> Vec<Row> {
    let random = |micro_benchmark| Row::of(micro_benchmark, PatternSpec::Random, block_bytes);
    let pauses = [100, 1_000, 10_000].map(|pause_us| Row {
        pause: Nanos::from_micros(pause_us),
        burst_requests: 1,
        ..random(MicroBenchmark::Pause)
    });
    let bursts = [10, 40].map(|burst_requests| Row {
        pause: Nanos::from_millis(100),
        burst_requests,
        ..random(MicroBenchmark::Bursts)
    });
    pauses.into_iter().chain(bursts).collect()
}
