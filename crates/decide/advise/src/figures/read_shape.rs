//! Features of the read grid that classify a device.

use nandle_profile::{Interval, MeasuredCell};

use super::Figures;

/// Read figures that classify a device.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadShape {
    /// Block size of the small reads in the latency and the gain: the size nearest to 4 KiB.
    pub(crate) block_bytes: u64,
    /// Median latency of the smallest random read at depth 1.
    pub(crate) latency_ns: f64,
    /// Peak rate of small reads divided by the rate at depth 1.
    pub(crate) depth_gain: Option<Interval<f64>>,
    /// Least depth near the peak rate of small reads; `None` if the rate still grew at the greatest
    /// depth.
    pub(crate) knee_depth: Option<Interval<u32>>,
    /// Peak rate of reads of any size.
    pub(crate) reads_per_s: Option<Interval<f64>>,
    /// Rate of small sequential reads divided by that of random ones at depth 1, with the block
    /// size.
    pub(crate) sequential_gain: Option<(u64, f64)>,
    /// Best bandwidth of any pattern.
    pub(crate) bytes_per_s: Option<Interval<f64>>,
    /// Peak read rate by block size, ascending, where the submitting thread wasn't the limit.
    pub(crate) rates: Vec<(u64, Interval<f64>)>,
    /// True if the submitting thread limited the small reads.
    pub(crate) host_is_limit: bool,
}

/// Block size for latencies and gains.
const SMALL_BYTES: u64 = 4 << 10;
/// Busy share of the submitting thread from which the processor limits a rate.
const BUSY_SHARE: f64 = 0.9;

impl ReadShape {
    /// Returns `None` if random reads weren't measured.
    pub(crate) fn of(figures: &Figures<'_>) -> Option<Self> {
        let derived = &figures.profile.derived;
        let latency_ns = derived.random_read_latency_ns? as f64;
        let rows = &derived.saturating_queue_depth;
        let small = rows.iter().min_by_key(|row| row.block_bytes.abs_diff(SMALL_BYTES))?;
        let alone = figures.random_read_bandwidth_alone(small.block_bytes).ok();
        let bounded = |block_bytes| host_bound(figures, block_bytes);
        let rates = rows.iter().filter(|row| row.plateau_reached && !bounded(row.block_bytes));
        let best = [derived.random_bandwidth_bytes_per_s_max, derived.sequential_bandwidth_bytes_per_s_max];
        Some(Self {
            block_bytes: small.block_bytes,
            latency_ns,
            depth_gain: alone.map(|alone| small.plateau_bytes_per_s.over(&alone.value)),
            knee_depth: small.plateau_reached.then_some(small.queue_depth),
            reads_per_s: derived.random_read_iops_max,
            sequential_gain: sequential_gain(figures),
            bytes_per_s: best.into_iter().flatten().max_by(|a, b| a.value.total_cmp(&b.value)),
            rates: rates
                .map(|row| (row.block_bytes, per_s(row.plateau_bytes_per_s, row.block_bytes)))
                .collect(),
            host_is_limit: bounded(small.block_bytes),
        })
    }
}

fn per_s(bytes_per_s: Interval<f64>, block_bytes: u64) -> Interval<f64> {
    let per_s = |bytes_per_s: f64| bytes_per_s / block_bytes as f64;
    let [value, low, high] = [bytes_per_s.value, bytes_per_s.low, bytes_per_s.high].map(per_s);
    Interval { value, low, high }
}

/// Returns true if the submitting thread was busy nearly all the time in the fastest cell of a
/// block size.
fn host_bound(figures: &Figures<'_>, block_bytes: u64) -> bool {
    let of_size = figures.read_cells("random").filter(|cell| cell.cell.block_bytes == block_bytes);
    let fastest = of_size.max_by(|a, b| a.cell.iops.total_cmp(&b.cell.iops));
    fastest.is_some_and(|cell| cell.cell.iops * cell.cell.cpu_ns_per_request >= BUSY_SHARE * 1e9)
}

/// Gain of sequential reads at depth 1 for the smallest block measured in both patterns.
fn sequential_gain(figures: &Figures<'_>) -> Option<(u64, f64)> {
    let alone = |cell: &&MeasuredCell| cell.cell.queue_depth == 1;
    let random: Vec<_> = figures.read_cells("random").filter(alone).collect();
    let both = figures.read_cells("sequential").filter(alone).filter_map(|sequential| {
        let block = sequential.cell.block_bytes;
        let random = random.iter().find(|cell| cell.cell.block_bytes == block)?;
        let rate = |cell: &MeasuredCell| cell.steady_bandwidth_bytes_per_s.value;
        Some((block, rate(sequential) / rate(random)))
    });
    both.min_by_key(|(block, _)| *block)
}
