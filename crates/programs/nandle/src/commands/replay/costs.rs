//! Write costs of the target: the profile's figures, with defaults for missing ones.

use std::path::Path;

use nandle_pages::WriteCosts;
use nandle_profile::{Derived, DeviceProfile, read_profile};
use nandle_replay::{CostFigure, WriteCostsUsed};
use nandle_units::format_bytes;

use crate::error::CliError;

/// Costs and their origin.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) costs: WriteCosts,
    /// Costs missing from the profile.
    assumed: Vec<MissingFigure>,
    /// Profile that the costs come from.
    pub(super) profile: Option<DeviceProfile>,
    /// Remarks on the figures, each a sentence.
    pub(super) remarks: Vec<String>,
}

/// A figure that a profile may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingFigure {
    Patterns,
    Area,
    Streams,
    Unit,
}

impl MissingFigure {
    const ALL: [Self; 4] = [Self::Patterns, Self::Area, Self::Streams, Self::Unit];

    /// Phrase for a list.
    fn words(self) -> &'static str {
        match self {
            Self::Patterns => "what a write costs by its pattern",
            Self::Area => "an area in which random writes are cheap",
            Self::Streams => "how many streams are cheap",
            Self::Unit => "what the drive maps or cleans as one",
        }
    }

    /// Cost figures that get a default.
    fn figures(self) -> &'static [CostFigure] {
        match self {
            Self::Patterns => &[
                CostFigure::SequentialNs,
                CostFigure::PartitionedNs,
                CostFigure::OrderedNs,
                CostFigure::FocusedNs,
                CostFigure::RandomNs,
            ],
            Self::Area => &[CostFigure::FocusedAreaBytes],
            Self::Streams => &[CostFigure::PartitionCountMax],
            Self::Unit => &[CostFigure::MappingUnitBytes],
        }
    }
}

impl From<&Known> for WriteCostsUsed {
    fn from(known: &Known) -> Self {
        let assumed: Vec<CostFigure> =
            known.assumed.iter().flat_map(|missing| missing.figures()).copied().collect();
        Self::new(&known.costs, &assumed)
    }
}

/// Reads the profile, if one is named.
pub(super) fn known(profile: Option<&Path>) -> Result<Known, CliError> {
    let Some(path) = profile else {
        let (costs, assumed) = (WriteCosts::default(), MissingFigure::ALL.to_vec());
        return Ok(Known { costs, assumed, profile: None, remarks: Vec::new() });
    };
    let profile = read_profile(path)?;
    let (costs, missing) = from_derived(&profile.derived);
    let remarks = vec![remark(path, &profile.target, &costs, &missing)];
    Ok(Known { costs, assumed: missing, profile: Some(profile), remarks })
}

/// Sentence on the costs and their origin.
fn remark(path: &Path, target: &str, costs: &WriteCosts, missing: &[MissingFigure]) -> String {
    let (path, sentence) = (path.display(), sentence(costs));
    if missing.is_empty() {
        return format!("What writing costs: {path} ({target}). {sentence}");
    }
    let words: Vec<_> = missing.iter().map(|figure| figure.words()).collect();
    format!(
        "The profile {path} ({target}) doesn't say: {}. Assumed instead: what the StableBuffer paper has. A probe of --budget 10m or \
         more finds out. {sentence}",
        words.join(", ")
    )
}

fn sentence(costs: &WriteCosts) -> String {
    let times = |ns: u64| format!("{:.2}", ns as f64 / costs.sequential_ns.max(1) as f64);
    format!(
        "By a sequential write: {} at random, {} within {}, {} in up to {} streams, {} at the best stride. Pages that share \
         {} go home together.",
        times(costs.random_ns),
        times(costs.focused_ns),
        format_bytes(costs.focused_area_bytes),
        times(costs.partitioned_ns),
        costs.partitions,
        times(costs.ordered_ns),
        format_bytes(costs.mapping_unit_bytes)
    )
}

/// Write costs passed to the stores; some may be defaults.
pub(crate) fn write_costs(profile: &DeviceProfile) -> WriteCosts {
    from_derived(&profile.derived).0
}

/// Costs from a profile's figures, and the missing figures. A pattern that is never cheap costs as
/// much as random writes, as measured.
fn from_derived(derived: &Derived) -> (WriteCosts, Vec<MissingFigure>) {
    let mut costs = WriteCosts::default();
    let mut missing = Vec::new();
    match &derived.write_pattern_cost {
        Some(measured) => {
            let sequential_ns = measured.sequential_ns.value;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, rounded")]
            let ns = |times: f64| (sequential_ns * times).round().max(1.0) as u64;
            let random = measured.random.value;
            costs.sequential_ns = ns(1.0);
            costs.random_ns = ns(random);
            costs.focused_ns = ns(measured.focused.map_or(random, |times| times.value));
            costs.partitioned_ns = ns(measured.partitioned.map_or(random, |times| times.value));
            costs.ordered_ns = ns(measured.ordered.map_or(random, |times| times.value));
        }
        None => missing.push(MissingFigure::Patterns),
    }
    match derived.focused_area_bytes {
        Some(area) => costs.focused_area_bytes = area.value,
        None => missing.push(MissingFigure::Area),
    }
    match derived.partition_count_max {
        Some(count) => costs.partitions = count.value,
        None => missing.push(MissingFigure::Streams),
    }
    if let Some(unit_bytes) = mapping_unit(derived) {
        costs.mapping_unit_bytes = unit_bytes;
    } else {
        missing.push(MissingFigure::Unit);
    }
    (costs, missing)
}

/// A drive with k open log blocks takes k streams, or random writes in an area of k blocks. (Our
/// own rule; on the `MTron` 8 streams and 8 MiB give 1 MiB.) Rounded up to a power of two, as erase
/// blocks are.
fn mapping_unit(derived: &Derived) -> Option<u64> {
    let (area, count) = (derived.focused_area_bytes?, derived.partition_count_max?);
    let unit_bytes = area.value.checked_div(u64::from(count.value))?;
    Some(unit_bytes.checked_next_power_of_two()?.clamp(64 << 10, 64 << 20))
}

#[cfg(test)]
mod tests {
    use nandle_profile::{Interval, WritePatternCost};

    use super::*;

    fn mtron() -> Derived {
        Derived {
            write_pattern_cost: Some(WritePatternCost {
                block_bytes: 32 << 10,
                sequential_ns: Interval::exact(470_000.0),
                random: Interval::exact(20.0),
                focused: Some(Interval::exact(1.5)),
                partitioned: Some(Interval::exact(1.0)),
                ordered: None,
            }),
            focused_area_bytes: Some(Interval::exact(8 << 20)),
            partition_count_max: Some(Interval::exact(8)),
            ..Derived::default()
        }
    }

    #[test]
    fn a_profiles_figures_are_taken() {
        let (costs, missing) = from_derived(&mtron());
        let expected = WriteCosts {
            sequential_ns: 470_000,
            partitioned_ns: 470_000,
            ordered_ns: 9_400_000,
            focused_ns: 705_000,
            random_ns: 9_400_000,
            focused_area_bytes: 8 << 20,
            partitions: 8,
            mapping_unit_bytes: 1 << 20,
        };
        assert_eq!((costs, missing), (expected, Vec::new()));
    }

    #[test]
    fn what_a_profile_lacks_is_named() {
        let (costs, missing) = from_derived(&Derived::default());
        assert_eq!((costs, missing.len()), (WriteCosts::default(), 4));
        let no_streams = Derived { partition_count_max: None, ..mtron() };
        let (costs, missing) = from_derived(&no_streams);
        assert_eq!(missing.len(), 2, "{missing:?}");
        assert_eq!((costs.focused_ns, costs.mapping_unit_bytes), (705_000, 1 << 20));
        let known = Known { costs, assumed: missing, profile: None, remarks: Vec::new() };
        let told = WriteCostsUsed::from(&known);
        assert_eq!(told.assumed, [CostFigure::PartitionCountMax, CostFigure::MappingUnitBytes]);
        assert_eq!((told.measured.len(), told.measured.contains(&CostFigure::FocusedNs)), (6, true));
    }
}
