//! Costs of temporary data on their device: the profile's figures, with defaults for missing ones.

use std::path::Path;

use nandle_profile::{Cell, Derived, DeviceProfile, OperationKind, read_profile};
use nandle_spill::{ReadCost, SpillCosts};

use crate::error::CliError;

/// Costs, and a sentence on their origin.
pub(crate) fn costs(profile: Option<&Path>) -> Result<(SpillCosts, String), CliError> {
    let Some(path) = profile else {
        let sentence = "Clusters follow from assumptions (100 us and 1 GB/s for a read), because no profile is named: `nandle probe` makes one, \
                        --profile names it.";
        return Ok((SpillCosts::default(), sentence.to_owned()));
    };
    let profile = read_profile(path)?;
    let (mut costs, missing) = of_figures(random_reads(&profile), &profile.derived);
    if let Some(seconds) = request_seconds(&profile) {
        costs.request_seconds = seconds;
    }
    let mut sentence = format!("Clusters follow from the profile {} ({}).", path.display(), profile.target);
    for missing in missing {
        sentence += match missing {
            MissingFigure::Reads => {
                " It doesn't say what random reads give; assumed: 100 us and 1 GB/s for a read."
            }
            MissingFigure::Writes => {
                " It doesn't say what sequential writing gives; assumed: what sequential reading does."
            }
        };
    }
    Ok((costs, sentence))
}

/// A figure that a profile may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingFigure {
    Reads,
    Writes,
}

/// Costs from a profile's figures, and the missing figures.
fn of_figures(reads: Vec<ReadCost>, derived: &Derived) -> (SpillCosts, Vec<MissingFigure>) {
    let mut costs = SpillCosts::default();
    let mut missing = Vec::new();
    if reads.is_empty() {
        missing.push(MissingFigure::Reads);
    } else {
        costs.random_reads = reads;
    }
    match derived.sequential_write_bandwidth_bytes_per_s_max {
        Some(write) => costs.write_bytes_per_second = write.value,
        None => missing.push(MissingFigure::Writes),
    }
    if missing.contains(&MissingFigure::Writes)
        && let Some(read) = derived.sequential_bandwidth_bytes_per_s_max
    {
        costs.write_bytes_per_second = read.value;
    }
    (costs, missing)
}

/// Least processor time per request: that at high queue depth, as in a merge.
fn request_seconds(profile: &DeviceProfile) -> Option<f64> {
    let cells = profile.cells.iter().filter(|cell| is_random_read(&cell.cell));
    cells
        .map(|cell| cell.cell.cpu_ns_per_request / 1e9)
        .filter(|seconds| *seconds > 0.0)
        .min_by(f64::total_cmp)
}

/// Random reads of single blocks: measured, and from the fitted curve.
fn random_reads(profile: &DeviceProfile) -> Vec<ReadCost> {
    let measured = profile.cells.iter().filter(|cell| is_random_read(&cell.cell));
    let measured = measured
        .map(|cell| (cell.cell.block_bytes, cell.cell.queue_depth, cell.steady_bandwidth_bytes_per_s.value));
    let fitted = profile
        .fitted_cells
        .iter()
        .map(|cell| (cell.block_bytes, cell.queue_depth, cell.bandwidth_bytes_per_s.value));
    let costs = measured.chain(fitted).filter_map(|(request_bytes, depth, bytes_per_second)| {
        let request_bytes = usize::try_from(request_bytes).ok()?;
        (bytes_per_second > 0.0).then_some(ReadCost { request_bytes, depth, bytes_per_second })
    });
    costs.collect()
}

fn is_random_read(cell: &Cell) -> bool {
    cell.pattern == "random" && cell.operation == OperationKind::Read && cell.group_blocks == 1
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;

    #[test]
    fn what_a_profile_says_is_taken_and_what_it_lacks_is_named() {
        let (costs, missing) = of_figures(Vec::new(), &Derived::default());
        assert_eq!(
            (costs, missing),
            (SpillCosts::default(), vec![MissingFigure::Reads, MissingFigure::Writes])
        );
        let read = ReadCost { request_bytes: 8192, depth: 4, bytes_per_second: 5e7 };
        let derived = Derived {
            sequential_bandwidth_bytes_per_s_max: Some(Interval::exact(1e8)),
            ..Derived::default()
        };
        let (costs, missing) = of_figures(vec![read], &derived);
        assert_eq!(costs.random_reads, [read]);
        assert_eq!((costs.write_bytes_per_second, missing), (1e8, vec![MissingFigure::Writes]));
    }
}
