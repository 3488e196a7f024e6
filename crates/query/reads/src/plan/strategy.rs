use std::ops::Range;

use nandle_io::buffer::GRAIN_BYTES;

/// Strategy by which wants become requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The cheapest requests that cover the wants of a window, by the measured costs of the device
    /// (DIAT §1.2: the flexible I/O unit).
    #[default]
    Flexible,
    /// A request for each block that a want touches. Neighbouring wants that share a logical block
    /// are read in requests as long as the longest of them, so that nothing is read twice.
    FixedBlock {
        /// Length of a block; `None` makes each want a block.
        block_bytes: Option<u64>,
    },
    /// The whole [group](Groups) that contains a want.
    WholeGroup,
    /// One want after the other in the order of steps, at a fixed depth, as an engine with a buffer
    /// pool reads.
    OneByOne {
        /// Requests outstanding.
        depth: u32,
    },
}

impl Strategy {
    /// Returns the queue depth, if it is fixed.
    pub(crate) fn depth(self, asked: Option<u32>) -> Option<u32> {
        match self {
            Self::OneByOne { depth } => Some(depth.max(1)),
            Self::Flexible | Self::FixedBlock { .. } | Self::WholeGroup => asked,
        }
    }
}

/// Parts of a file that were written together: in Parquet the column chunks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Groups {
    /// Unknown; each want is a group of its own.
    #[default]
    Unknown,
    /// Groups of this many bytes, from the beginning of the file.
    Every(u64),
    /// These ranges, ascending and disjoint.
    Listed(Vec<Range<u64>>),
}

/// Properties of a file that planning depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    /// Length of the file.
    pub length_bytes: u64,
    /// End of the part that requests can reach: a multiple of the alignment, at most the length.
    /// The rest is in memory already.
    pub readable_bytes: u64,
    /// Alignment of requests: at least a logical block, or the unit of its checksums. A power of
    /// two.
    pub align_bytes: u64,
    /// Groups of the file.
    pub groups: Groups,
}

impl PlanFile {
    /// Creates a file that is read up to its last partial block.
    pub fn new(length_bytes: u64, align_bytes: u64) -> Self {
        let align_bytes = align_bytes.max(1);
        let readable_bytes = length_bytes - length_bytes % align_bytes;
        Self { length_bytes, readable_bytes, align_bytes, groups: Groups::Unknown }
    }

    /// Length of the file's tail if `end_bytes` is the end of the readable part; otherwise zero.
    pub(crate) fn tail_bytes_behind(&self, end_bytes: u64) -> u64 {
        if end_bytes == self.readable_bytes { self.length_bytes - self.readable_bytes } else { 0 }
    }
}

/// Options of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanOptions {
    /// Strategy.
    pub strategy: Strategy,
    /// Memory for all bytes read and not yet dropped, and for unplanned reads.
    pub memory_bytes: u64,
    /// Requests outstanding; `None` for the measured depth of each length.
    pub depth: Option<u32>,
    /// Limit on request length; `None` for that of the device.
    pub request_bytes_max: Option<u64>,
}

/// Windows in memory at the same time: the consumer works on one while the other is read.
pub(crate) const WINDOWS: u64 = 2;
/// Share of the memory reserved for unplanned reads (1 / `RESERVE_PART`), and its maximum.
const RESERVE_PART: u64 = 16;
const RESERVE_BYTES_MAX: u64 = 1 << 20;

impl PlanOptions {
    /// Default options with this much memory.
    pub fn new(memory_bytes: u64) -> Self {
        Self { strategy: Strategy::Flexible, memory_bytes, depth: None, request_bytes_max: None }
    }

    /// Memory for unplanned reads.
    pub(crate) fn reserve_bytes(&self) -> u64 {
        whole_grains(self.memory_bytes / RESERVE_PART).clamp(GRAIN_BYTES as u64, RESERVE_BYTES_MAX)
    }

    /// Memory of a window.
    pub(crate) fn window_bytes(&self) -> u64 {
        whole_grains(self.memory_bytes.saturating_sub(self.reserve_bytes()) / WINDOWS)
    }

    /// Least memory in which a window of `window_bytes` fits.
    pub(crate) fn memory_for(window_bytes: u64) -> u64 {
        let windows = window_bytes.next_multiple_of(GRAIN_BYTES as u64) * WINDOWS;
        // The reserve is a share of the memory, or its maximum.
        let with_part = (windows * RESERVE_PART).div_ceil(RESERVE_PART - 1) + GRAIN_BYTES as u64 * WINDOWS;
        with_part.min(windows + RESERVE_BYTES_MAX)
    }
}

fn whole_grains(bytes: u64) -> u64 {
    bytes - bytes % GRAIN_BYTES as u64
}
