use serde::{Deserialize, Serialize};

use crate::{Interval, OperationKind};

/// Internal block size of the device, which may differ from its logical block size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SmallestBlock {
    /// Request rates by size.
    pub rates: Vec<BlockRate>,
    /// Read size below which a request costs more than a larger one, or the smallest size tried if
    /// there is none.
    pub read_bytes: Option<Interval<u64>>,
    /// Largest size at which a read costs no more than one of the smallest size (within 5 %).
    pub read_flat_to_bytes: Option<Interval<u64>>,
    /// Write size below which a request costs more than a larger one, or the smallest size tried if
    /// there is none.
    pub write_bytes: Option<Interval<u64>>,
    /// Size below which a write costs more than a larger one, because the device must first read
    /// the rest of its block. `null` if no such step was observed.
    pub read_modify_write_below_bytes: Option<Interval<u64>>,
    /// Costs of unaligned offsets.
    pub alignments: Vec<AlignmentCost>,
}

/// Random requests of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockRate {
    /// Read or write.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Requests per second.
    pub iops: Interval<f64>,
}

/// Random requests with shifted offsets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlignmentCost {
    /// Read or write.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Shift from multiples of the block.
    pub shift_bytes: u64,
    /// Time of a request relative to an aligned one.
    pub relative_cost: Interval<f64>,
}
