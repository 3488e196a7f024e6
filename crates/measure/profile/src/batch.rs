use serde::{Deserialize, Serialize};

/// Random reads of one size that found the device idle: what a short scan takes. A queue that fills and empties keeps
/// the device less busy than one that is always full, and how much less doesn't follow from the cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests of the batch.
    pub requests: u64,
    /// Requests outstanding at most; where it is `requests`, all were sent at once.
    pub queue_depth: u32,
    /// Each time that it was measured: from the first submission to the last completion.
    pub elapsed_ns: Vec<u64>,
}
