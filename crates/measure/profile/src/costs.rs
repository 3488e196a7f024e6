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

/// How to read some blocks of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPlan {
    /// One request for each block.
    EachBlock,
    /// One request for the whole group.
    WholeGroup,
}

impl FlexibleIo {
    /// Device time of one request of `bytes`, between measured sizes linear in the size, beyond them
    /// proportional to the last step. `None` when fewer than two sizes were measured.
    pub fn cost_ns(&self, bytes: u64) -> Option<f64> {
        let costs = &self.request_costs;
        let above = costs.iter().position(|cost| cost.block_bytes >= bytes).unwrap_or(costs.len());
        let right = above.clamp(1, costs.len().checked_sub(1)?.max(1));
        let (low, high) = (costs.get(right.checked_sub(1)?)?, costs.get(right)?);
        let (low_ns, high_ns) = (low.cost_ns.value, high.cost_ns.value);
        let slope = (high_ns - low_ns) / (high.block_bytes as f64 - low.block_bytes as f64);
        Some((low_ns + slope * (bytes as f64 - low.block_bytes as f64)).max(low_ns.min(high_ns)))
    }

    /// The cheaper way to read `needed_blocks` scattered blocks of a group (DIAT §1.2).
    pub fn plan(&self, needed_blocks: u64) -> ReadPlan {
        if needed_blocks as f64 >= self.break_even_blocks.value {
            ReadPlan::WholeGroup
        } else {
            ReadPlan::EachBlock
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The X25-M of the DIAT paper: 2 KiB at 50 MB/s, 32 KiB at 250 MB/s (C10, C1).
    fn x25_m() -> FlexibleIo {
        FlexibleIo {
            block_bytes: Interval::exact(2048),
            group_blocks: Interval::exact(16),
            break_even_blocks: Interval::exact(3.2),
            request_costs: vec![
                RequestCost { block_bytes: 2048, cost_ns: Interval::exact(40_960.0) },
                RequestCost { block_bytes: 32_768, cost_ns: Interval::exact(131_072.0) },
            ],
        }
    }

    #[test]
    fn one_block_is_read_alone_and_every_other_block_is_not() {
        assert_eq!(x25_m().plan(1), ReadPlan::EachBlock);
        assert_eq!(x25_m().plan(8), ReadPlan::WholeGroup);
    }

    #[test]
    fn costs_between_measured_sizes_are_linear() {
        let middle = x25_m().cost_ns(17_408).unwrap();
        assert!((middle - 86_016.0).abs() < 1.0, "{middle}");
        assert!((x25_m().cost_ns(2048).unwrap() - 40_960.0).abs() < 1e-6);
        assert!(x25_m().cost_ns(65_536).unwrap() > 131_072.0);
        assert!(x25_m().cost_ns(512).unwrap() >= 40_960.0);
    }
}
