use serde::{Deserialize, Serialize};

use crate::Interval;

/// What one random read of a size costs when the device is kept busy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestCost {
    /// Bytes of the request.
    pub block_bytes: u64,
    /// Device time of one request at the saturating depth: block size by bandwidth.
    pub cost_ns: Interval<f64>,
}

/// The flexible I/O unit of a column store (DIAT §1.2): blocks of `block_bytes` are kept together in groups of
/// `group_blocks`, and a reader asks for any run of blocks inside a group with one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlexibleIo {
    /// The smallest unit worth reading alone.
    pub block_bytes: Interval<u64>,
    /// Blocks in a group; the group is the smallest request near full bandwidth.
    pub group_blocks: Interval<u64>,
    /// Scattered single blocks of a group from which on one request for the whole group is cheaper.
    pub break_even_blocks: Interval<f64>,
    /// What a request costs, by size, ascending.
    pub request_costs: Vec<RequestCost>,
}
