use serde::{Deserialize, Serialize};

use crate::Interval;

/// Cost of one random read of a size on a busy device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestCost {
    /// Bytes of the request.
    pub block_bytes: u64,
    /// Device time per request at the saturating depth: block size divided by bandwidth.
    pub cost_ns: Interval<f64>,
}

/// Flexible I/O unit of a column store (DIAT §1.2). Blocks of `block_bytes` are stored in groups of
/// `group_blocks`. A reader requests any run of blocks within a group at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlexibleIo {
    /// Smallest unit worth reading alone.
    pub block_bytes: Interval<u64>,
    /// Blocks in a group. A group is the smallest request near full bandwidth.
    pub group_blocks: Interval<u64>,
    /// Number of scattered blocks of a group from which reading the whole group is cheaper.
    pub break_even_blocks: Interval<f64>,
    /// Cost of a request by size, ascending.
    pub request_costs: Vec<RequestCost>,
}
