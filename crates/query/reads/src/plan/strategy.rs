use std::ops::Range;

use nandle_io::buffer::GRAIN_BYTES;

/// How wants become requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The cheapest requests that cover the wants of a window, by what the device was measured to do (DIAT §1.2: the flexible I/O unit).
    #[default]
    Flexible,
    /// A request for each block that a want touches; blocks of so many bytes, or each want a block. Neighbouring wants that share a logical
    /// block are read in requests as long as the longest of them, so that nothing is read twice.
    FixedBlock {
        /// Length of a block; `None`: as long as the want.
        block_bytes: Option<u64>,
    },
    /// Always the whole [group](Groups) that a want lies in.
    WholeGroup,
    /// One want after the other in the order of steps, so many outstanding, as an engine with a buffer pool reads.
    OneByOne {
        /// Requests outstanding.
        depth: u32,
    },
}

impl Strategy {
    /// Requests outstanding, where it is said how many.
    pub(crate) fn depth(self, asked: Option<u32>) -> Option<u32> {
        match self {
            Self::OneByOne { depth } => Some(depth.max(1)),
            Self::Flexible | Self::FixedBlock { .. } | Self::WholeGroup => asked,
        }
    }
}

/// Which parts of a file lie together because they were written together: of Parquet the column chunks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Groups {
    /// Nothing is known; a want is a group of its own.
    #[default]
    Unknown,
    /// Groups of so many bytes, from the file's beginning on.
    Every(u64),
    /// These, ascending and apart.
    Listed(Vec<Range<u64>>),
}

/// What planning must know of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    /// Its length.
    pub length_bytes: u64,
    /// How far requests can reach: a multiple of the alignment, at most the length. What lies behind it is in memory already.
    pub readable_bytes: u64,
    /// Requests begin and end at multiples of this: at least a logical block, or what is checked as one. A power of two.
    pub align_bytes: u64,
    /// What lies together.
    pub groups: Groups,
}

impl PlanFile {
    /// A file of which everything but the last partial block is read.
    pub fn new(length_bytes: u64, align_bytes: u64) -> Self {
        let align_bytes = align_bytes.max(1);
        let readable_bytes = length_bytes - length_bytes % align_bytes;
        Self { length_bytes, readable_bytes, align_bytes, groups: Groups::Unknown }
    }

    /// What lies behind a place that is in memory already: where all that can be read ends there, the file's tail.
    pub(crate) fn tail_bytes_behind(&self, end_bytes: u64) -> u64 {
        if end_bytes == self.readable_bytes { self.length_bytes - self.readable_bytes } else { 0 }
    }
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanOptions {
    /// How.
    pub strategy: Strategy,
    /// Memory for everything that is read and not yet dropped, and for reads that no plan foresaw.
    pub memory_bytes: u64,
    /// Requests outstanding; `None`: as many as the device was measured to need for their lengths.
    pub depth: Option<u32>,
    /// The longest request; `None`: what the device takes whole.
    pub request_bytes_max: Option<u64>,
}

/// Windows that are in memory at the same time: one that the consumer works on, and one that is read meanwhile.
pub(crate) const WINDOWS: u64 = 2;
/// A part of the memory, one in so many, is kept for reads that no plan foresaw; at most this.
const RESERVE_PART: u64 = 16;
const RESERVE_BYTES_MAX: u64 = 1 << 20;

impl PlanOptions {
    /// With so much memory, as the device was measured.
    pub fn new(memory_bytes: u64) -> Self {
        Self { strategy: Strategy::Flexible, memory_bytes, depth: None, request_bytes_max: None }
    }

    /// Memory for reads that no plan foresaw.
    pub(crate) fn reserve_bytes(&self) -> u64 {
        whole_grains(self.memory_bytes / RESERVE_PART).clamp(GRAIN_BYTES as u64, RESERVE_BYTES_MAX)
    }

    /// Memory of a window.
    pub(crate) fn window_bytes(&self) -> u64 {
        whole_grains(self.memory_bytes.saturating_sub(self.reserve_bytes()) / WINDOWS)
    }

    /// The least memory in which a window of so many bytes fits.
    pub(crate) fn memory_for(window_bytes: u64) -> u64 {
        let windows = window_bytes.next_multiple_of(GRAIN_BYTES as u64) * WINDOWS;
        // The reserve is a part of the whole, or its maximum.
        let with_part = (windows * RESERVE_PART).div_ceil(RESERVE_PART - 1) + GRAIN_BYTES as u64 * WINDOWS;
        with_part.min(windows + RESERVE_BYTES_MAX)
    }
}

fn whole_grains(bytes: u64) -> u64 {
    bytes - bytes % GRAIN_BYTES as u64
}
