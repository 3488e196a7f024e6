use nandle_pages::WriteCosts;
use serde::{Deserialize, Serialize};

/// Write costs given to the policies, and their sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteCostsUsed {
    /// Time of a sequential write, in nanoseconds.
    pub sequential_ns: u64,
    /// Time of a write in one of several streams, in nanoseconds.
    pub partitioned_ns: u64,
    /// Time of a write at the best stride, in nanoseconds.
    pub ordered_ns: u64,
    /// Time of a random write within the focused area, in nanoseconds.
    pub focused_ns: u64,
    /// Time of a random write, in nanoseconds.
    pub random_ns: u64,
    /// Length of the area in which random writes are cheap, in bytes.
    pub focused_area_bytes: u64,
    /// Maximum number of streams that are cheap.
    pub partition_count_max: u32,
    /// Unit that the drive maps or cleans, in bytes.
    pub mapping_unit_bytes: u64,
    /// Figures that come from a profile.
    pub measured: Vec<CostFigure>,
    /// Figures that are defaults, taken from the `StableBuffer` paper.
    pub assumed: Vec<CostFigure>,
}

/// A figure of [`WriteCostsUsed`], named by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CostFigure {
    /// `sequential_ns`
    SequentialNs,
    /// `partitioned_ns`
    PartitionedNs,
    /// `ordered_ns`
    OrderedNs,
    /// `focused_ns`
    FocusedNs,
    /// `random_ns`
    RandomNs,
    /// `focused_area_bytes`
    FocusedAreaBytes,
    /// `partition_count_max`
    PartitionCountMax,
    /// `mapping_unit_bytes`
    MappingUnitBytes,
}

impl CostFigure {
    /// Every figure, in file order.
    pub const ALL: [Self; 8] = [
        Self::SequentialNs,
        Self::PartitionedNs,
        Self::OrderedNs,
        Self::FocusedNs,
        Self::RandomNs,
        Self::FocusedAreaBytes,
        Self::PartitionCountMax,
        Self::MappingUnitBytes,
    ];
}

impl WriteCostsUsed {
    /// Creates costs; figures not in `assumed` count as measured.
    pub fn new(costs: &WriteCosts, assumed: &[CostFigure]) -> Self {
        let (assumed, measured) = CostFigure::ALL.into_iter().partition(|figure| assumed.contains(figure));
        Self {
            sequential_ns: costs.sequential_ns,
            partitioned_ns: costs.partitioned_ns,
            ordered_ns: costs.ordered_ns,
            focused_ns: costs.focused_ns,
            random_ns: costs.random_ns,
            focused_area_bytes: costs.focused_area_bytes,
            partition_count_max: costs.partitions,
            mapping_unit_bytes: costs.mapping_unit_bytes,
            measured,
            assumed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_not_assumed_are_measured() {
        let costs = WriteCostsUsed::new(&WriteCosts::default(), &[CostFigure::RandomNs]);
        assert_eq!((costs.assumed, costs.measured.len()), (vec![CostFigure::RandomNs], 7));
    }
}
