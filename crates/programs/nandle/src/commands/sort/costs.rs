//! What temporary data cost on their device: the profile's figures, and what is assumed where it has none.

use std::path::Path;

use nandle_profile::{DeviceProfile, OperationKind, read_profile};
use nandle_spill::{ReadCost, SpillCosts};

use crate::error::CliError;

/// Costs, and a sentence on where they come from.
pub(super) fn costs(profile: Option<&Path>) -> Result<(SpillCosts, String), CliError> {
    let Some(path) = profile else {
        let sentence = "Clusters follow from assumptions (100 us and 1 GB/s for a read), because no profile is named: `nandle probe` makes one, \
                        --profile names it.";
        return Ok((SpillCosts::default(), sentence.to_owned()));
    };
    let profile = read_profile(path)?;
    let (costs, missing) = of_profile(&profile);
    let path = path.display();
    let sentence = match missing {
        [] => format!("Clusters follow from the profile {path} ({}).", profile.target),
        missing => format!(
            "The profile {path} ({}) doesn't say: {}. Assumed instead: 100 us and 1 GB/s for a request.",
            profile.target,
            missing.join(", ")
        ),
    };
    Ok((costs, sentence))
}

/// The costs that a profile's figures say, and what they don't.
fn of_profile(profile: &DeviceProfile) -> (SpillCosts, &'static [&'static str]) {
    let mut costs = SpillCosts::default();
    let reads = random_reads(profile);
    let write = profile.derived.sequential_write_bandwidth_bytes_per_s_max;
    let has_reads = !reads.is_empty();
    if has_reads {
        costs.random_reads = reads;
    }
    if let Some(write) = write {
        costs.write_bytes_per_second = write.value;
    }
    let missing: &[_] = match (has_reads, write.is_some()) {
        (true, true) => &[],
        (true, false) => &["what sequential writing gives"],
        (false, true) => &["what random reads of several sizes give"],
        (false, false) => &["what random reads of several sizes give", "what sequential writing gives"],
    };
    (costs, missing)
}

/// Random reads of single blocks, measured and from the fitted curve.
fn random_reads(profile: &DeviceProfile) -> Vec<ReadCost> {
    let measured = profile.cells.iter().filter(|cell| {
        let cell = &cell.cell;
        cell.pattern == "random" && cell.operation == OperationKind::Read && cell.group_blocks == 1
    });
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
