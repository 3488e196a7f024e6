use serde::{Deserialize, Serialize};

use crate::{Interval, OperationKind};

/// The block in which the device works, whatever it calls its logical block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SmallestBlock {
    /// Rates over sizes.
    pub rates: Vec<BlockRate>,
    /// The size of reading below which a request costs more than a larger one; the smallest tried where none does.
    pub read_bytes: Option<Interval<u64>>,
    /// Up to this size a read costs no more than the smallest one (5 %): what a smaller request saves is nothing.
    pub read_flat_to_bytes: Option<Interval<u64>>,
    /// The size of writing below which a request costs more than a larger one; the smallest tried where none does.
    pub write_bytes: Option<Interval<u64>>,
    /// The size below which a write costs more than a larger one, because the device has to read the rest of its block
    /// first; `null` when no such step was seen.
    pub read_modify_write_below_bytes: Option<Interval<u64>>,
    /// What offsets beside multiples of a block cost.
    pub alignments: Vec<AlignmentCost>,
}

/// Random requests of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockRate {
    /// Reading or writing.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Requests per second.
    pub iops: Interval<f64>,
}

/// Random requests whose offsets are shifted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlignmentCost {
    /// Reading or writing.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Shift from multiples of the block.
    pub shift_bytes: u64,
    /// Time of a request by that of an aligned one.
    pub relative_cost: Interval<f64>,
}
