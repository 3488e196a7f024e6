use serde::{Deserialize, Serialize};

/// Random reads of one size on an idle device, like a short scan. A queue that fills and drains
/// uses the device less well than a queue that is always full. The difference doesn't follow from
/// the cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests of the batch.
    pub requests: u64,
    /// Largest number of outstanding requests. If it equals `requests`, all were submitted at once.
    pub queue_depth: u32,
    /// Times of all measurements, from the first submission to the last completion.
    pub elapsed_ns: Vec<u64>,
}
