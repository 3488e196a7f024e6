use nandle_pages::WriteCosts;
use serde::{Deserialize, Serialize};

/// What writing costs, as the policies were told, and where that comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteCostsUsed {
    /// A write in sequence.
    pub sequential_ns: u64,
    /// A write in one of several streams.
    pub partitioned_ns: u64,
    /// A write at the best stride.
    pub ordered_ns: u64,
    /// A random write within the focused area.
    pub focused_ns: u64,
    /// A random write.
    pub random_ns: u64,
    /// Area in which random writes are cheap.
    pub focused_area_bytes: u64,
    /// Streams that are cheap.
    pub partition_count_max: u32,
    /// What the drive maps or cleans as one.
    pub mapping_unit_bytes: u64,
    /// Figures of those above that come from a profile.
    pub measured: Vec<CostFigure>,
    /// Those that are the defaults: what the `StableBuffer` paper has.
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
    /// All of them, in their order in the file.
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
    /// Costs of which some are assumed, and the others measured.
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
    fn what_is_not_assumed_was_measured() {
        let costs = WriteCostsUsed::new(&WriteCosts::default(), &[CostFigure::RandomNs]);
        assert_eq!((costs.assumed, costs.measured.len()), (vec![CostFigure::RandomNs], 7));
    }
}
