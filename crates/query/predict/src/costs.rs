use std::collections::BTreeMap;

use nandle_io::Shape;
use nandle_profile::{Cell, DeviceProfile, Interval, OperationKind, ReferenceSlice};
use nandle_reads::{Estimate, HostCosts, ReadCosts, RequestCost, SequenceCost};
use thiserror::Error;

use crate::batches::Batches;

/// Greater errors carry no further information.
const PRICE_ERROR_MAX: f64 = 0.9;

/// A figure missing from a profile, and its replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MissingFigure {
    /// Speed of sequential reads.
    #[error(
        "the profile doesn't say how fast sequential reading is: a request that continues another is priced as a random one"
    )]
    Sequential,
    /// Length at which requests are split.
    #[error(
        "the profile doesn't say where requests are split: none is longer than the longest that was measured"
    )]
    Split,
    /// Reads at depth 1.
    #[error("the profile has no random reads one at a time: those of the least depth stand for them")]
    Alone,
}

/// Error for a profile without the figures that planning needs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CostsError {
    /// The profile has no random reads.
    #[error(
        "the profile of {target} has no random reads of single blocks whose bandwidth has bounds, and reads can't be planned without: \
         `nandle probe {target}` measures them"
    )]
    NoRandomReads {
        /// Target of the profile.
        target: String,
    },
    /// Neither the profile nor the device states the alignment of requests.
    #[error(
        "the profile of {target} doesn't say in which blocks it is addressed: name the target itself, or probe it again"
    )]
    NoLogicalBlock {
        /// Target of the profile.
        target: String,
    },
}

/// Derives read costs from a profile, and lists the figures that it lacks. `shape` is that of the
/// device to be read, if known: it can only narrow the profile's block size and longest request.
///
/// Times come from measured and fitted cells of random reads, with the bounds of their bandwidth. A
/// cell with errors, or without bounds above zero, counts as not measured.
///
/// # Errors
/// The profile has no random reads, or the alignment of requests is unknown.
pub fn read_costs(
    profile: &DeviceProfile,
    shape: Option<&Shape>,
) -> Result<(ReadCosts, Vec<MissingFigure>), CostsError> {
    let target = || profile.target.clone();
    let mut random = random_costs(profile);
    let longest_bytes = random.iter().map(|cost| cost.request_bytes).max();
    let longest_bytes = longest_bytes.ok_or_else(|| CostsError::NoRandomReads { target: target() })?;
    let logical_block_bytes =
        logical_block(profile, shape).ok_or_else(|| CostsError::NoLogicalBlock { target: target() })?;
    let mut missing = Vec::new();
    let whole_bytes = taken_whole(profile).unwrap_or_else(|| {
        missing.push(MissingFigure::Split);
        longest_bytes
    });
    let transfer_bytes = shape.map_or(u64::MAX, |shape| shape.largest_transfer_bytes);
    let largest_request_bytes = whole_bytes.min(transfer_bytes) / logical_block_bytes * logical_block_bytes;
    let sequential = sequential_costs(profile);
    let sequences = sequence_costs(profile, &sequential);
    let batches = Batches::of(profile);
    batches.correct(&mut random);
    missing.extend(sequential.is_empty().then_some(MissingFigure::Sequential));
    missing.extend(random.iter().all(|cost| cost.depth > 1).then_some(MissingFigure::Alone));
    let costs = ReadCosts {
        logical_block_bytes,
        largest_request_bytes: largest_request_bytes.max(logical_block_bytes),
        random,
        sequential,
        batches: batches.costs(),
        sequences,
        price_error: price_error(profile),
    };
    Ok((costs, missing))
}

/// Derives the processor time per request from a profile: the least of its cells of random reads,
/// where many short requests are sent and completed together. The upper bound is the median over
/// sizes at their deepest queue. Zero if no cell states it; exact for a modelled processor, whose
/// time per request is constant. The time per byte is the reader's own.
pub fn host_costs(profile: &DeviceProfile) -> HostCosts {
    let cells = profile.cells.iter().map(|cell| &cell.cell).filter(|cell| is_read(cell, "random"));
    let cells: Vec<&Cell> = cells.filter(|cell| cell.cpu_ns_per_request > 0.0).collect();
    let Some(least_ns) = cells.iter().map(|cell| cell.cpu_ns_per_request).min_by(f64::total_cmp) else {
        return HostCosts::default();
    };
    let mut deepest: BTreeMap<u64, &Cell> = BTreeMap::new();
    for cell in cells {
        let held = deepest.entry(cell.block_bytes).or_insert(cell);
        if cell.queue_depth > held.queue_depth {
            *held = cell;
        }
    }
    let mut busy_ns: Vec<f64> = deepest.values().map(|cell| cell.cpu_ns_per_request).collect();
    busy_ns.sort_by(f64::total_cmp);
    let middle_ns = busy_ns.get(busy_ns.len() / 2).copied().unwrap_or(least_ns);
    let seconds = Estimate { value: least_ns, low: least_ns, high: middle_ns.max(least_ns) };
    HostCosts { request_seconds: seconds.map(|nanos| nanos * 1e-9), ..HostCosts::default() }
}

/// Measured cells, completed by fitted ones.
fn random_costs(profile: &DeviceProfile) -> Vec<RequestCost> {
    let fitted = profile
        .fitted_cells
        .iter()
        .map(|cell| (cell.block_bytes, cell.queue_depth, cell.bandwidth_bytes_per_s));
    costs(measured(profile, "random").chain(fitted))
}

fn sequential_costs(profile: &DeviceProfile) -> Vec<RequestCost> {
    costs(measured(profile, "sequential"))
}

/// Error of derived prices: the 90th percentile of the leave-one-out errors of the fit, combined
/// with that of the deviations of equal slices from their median. A future scan runs only once, at
/// a time of its own.
fn price_error(profile: &DeviceProfile) -> f64 {
    let of_fit = profile.fit.as_ref().map_or(0.0, |fit| fit.error_p90).ln_1p();
    let of_time =
        profile.conditions.reference.as_ref().map_or(0.0, |reference| unsteadiness(&reference.series));
    let error = of_fit.hypot(of_time).exp_m1();
    if error.is_nan() { PRICE_ERROR_MAX } else { error.clamp(0.0, PRICE_ERROR_MAX) }
}

/// Returns the 90th percentile of the slices' deviations from the median, as the logarithm of the
/// ratio.
fn unsteadiness(slices: &[ReferenceSlice]) -> f64 {
    let mut logarithms: Vec<f64> = slices.iter().map(|slice| slice.bandwidth_bytes_per_s.ln()).collect();
    logarithms.sort_by(f64::total_cmp);
    let Some(middle) = logarithms.get(logarithms.len() / 2).copied() else { return 0.0 };
    let mut distances: Vec<f64> = logarithms.iter().map(|one| (one - middle).abs()).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() * 9 / 10).copied().unwrap_or_default()
}

/// Cost of groups of blocks beyond a random block and its continuations, at the deepest measured
/// queue: time spent on unused read-ahead.
fn sequence_costs(profile: &DeviceProfile, continued: &[RequestCost]) -> Vec<SequenceCost> {
    let is_random =
        |cell: &&Cell| cell.pattern == "random" && cell.operation == OperationKind::Read && cell.errors == 0;
    let seconds = |wanted: &Cell, group_blocks: u64| {
        let same = |cell: &Cell| {
            (cell.block_bytes, cell.queue_depth, cell.group_blocks)
                == (wanted.block_bytes, wanted.queue_depth, group_blocks)
        };
        let found = profile.cells.iter().find(|found| is_random(&&found.cell) && same(&found.cell))?;
        let bandwidth = bounded(found.steady_bandwidth_bytes_per_s)?;
        let bytes = wanted.block_bytes as f64;
        Some(Estimate {
            value: bytes / bandwidth.value,
            low: bytes / bandwidth.high,
            high: bytes / bandwidth.low,
        })
    };
    let mut deepest: BTreeMap<(u64, u64), (u32, SequenceCost)> = BTreeMap::new();
    for cell in
        profile.cells.iter().map(|cell| &cell.cell).filter(is_random).filter(|cell| cell.group_blocks > 1)
    {
        let Some((group, single)) = seconds(cell, cell.group_blocks).zip(seconds(cell, 1)) else { continue };
        let of_size = continued.iter().filter(|cost| cost.request_bytes == cell.block_bytes);
        let continued =
            of_size.map(|cost| cost.seconds).min_by(|one, other| one.value.total_cmp(&other.value));
        let continued = continued.filter(|continued| continued.value < single.value).unwrap_or(single);
        let blocks = cell.group_blocks as f64;
        let beyond = |group: f64, single: f64, continued: f64| {
            (blocks * group - single - (blocks - 1.0) * continued).max(0.0)
        };
        let seconds = Estimate {
            value: beyond(group.value, single.value, continued.value),
            low: beyond(group.low, single.high, continued.high),
            high: beyond(group.high, single.low, continued.low),
        };
        let cost = SequenceCost { request_bytes: cell.block_bytes, requests: cell.group_blocks, seconds };
        let held = deepest.entry((cell.block_bytes, cell.group_blocks)).or_insert((cell.queue_depth, cost));
        if cell.queue_depth > held.0 {
            *held = (cell.queue_depth, cost);
        }
    }
    deepest.into_values().map(|(_, cost)| cost).collect()
}

/// Size, depth and bandwidth of a pattern's measured cells of single-block reads.
fn measured<'a>(
    profile: &'a DeviceProfile,
    pattern: &'static str,
) -> impl Iterator<Item = (u64, u32, Interval<f64>)> + 'a {
    let cells = profile.cells.iter().filter(move |cell| is_read(&cell.cell, pattern));
    cells.map(|cell| (cell.cell.block_bytes, cell.cell.queue_depth, cell.steady_bandwidth_bytes_per_s))
}

/// Keeps the first cell of each size and depth.
fn costs(cells: impl Iterator<Item = (u64, u32, Interval<f64>)>) -> Vec<RequestCost> {
    let mut costs: Vec<RequestCost> = Vec::new();
    for (request_bytes, depth, bandwidth) in cells {
        let is_known = costs.iter().any(|cost| (cost.request_bytes, cost.depth) == (request_bytes, depth));
        let Some(bandwidth) = bounded(bandwidth).filter(|_| !is_known && depth > 0 && request_bytes > 0)
        else {
            continue;
        };
        let bytes = request_bytes as f64;
        let seconds = Estimate {
            value: bytes / bandwidth.value,
            low: bytes / bandwidth.high,
            high: bytes / bandwidth.low,
        };
        costs.push(RequestCost { request_bytes, depth, seconds });
    }
    costs
}

/// Converts an interval to an estimate if it bounds a positive number.
fn bounded(interval: Interval<f64>) -> Option<Estimate> {
    let Interval { value, low, high } = interval;
    let is_bounded = low > 0.0 && low <= value && value <= high && high.is_finite();
    is_bounded.then_some(Estimate { value, low, high })
}

/// Alignment of offsets and lengths: the larger of the profile's and the device's.
fn logical_block(profile: &DeviceProfile, shape: Option<&Shape>) -> Option<u64> {
    let queue = profile.system.queue.as_ref().and_then(|queue| queue.logical_block_bytes);
    let known =
        [profile.system.direct_offset_alignment_bytes, queue, shape.map(|shape| shape.logical_block_bytes)];
    known.into_iter().flatten().filter(|bytes| bytes.is_power_of_two()).max()
}

/// Longest request that is neither observed nor stated to be split.
fn taken_whole(profile: &DeviceProfile) -> Option<u64> {
    let split = profile.derived.split_bytes.as_ref()?;
    let seen = split.seen.as_ref().map(|seen| seen.whole_bytes);
    [split.stated_bytes, seen].into_iter().flatten().filter(|bytes| *bytes > 0).min()
}

fn is_read(cell: &Cell, pattern: &str) -> bool {
    cell.pattern == pattern
        && cell.operation == OperationKind::Read
        && cell.group_blocks == 1
        && cell.errors == 0
}
