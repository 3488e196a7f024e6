//! What the grid of reads shows of a device, as far as its kind depends on it.

use nandle_profile::{Interval, MeasuredCell};

use super::Figures;

/// Reads, seen as the kind of a device needs them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadShape {
    /// Bytes of the small reads that latency and gain are of: the size next to 4 KiB.
    pub(crate) block_bytes: u64,
    /// Median of the smallest random read, nothing else outstanding.
    pub(crate) latency_ns: f64,
    /// The most small reads a second by those one at a time.
    pub(crate) depth_gain: Option<Interval<f64>>,
    /// The least depth that gives nearly the most small reads; `None` where they still grew at the greatest depth.
    pub(crate) knee_depth: Option<Interval<u32>>,
    /// The most small reads a second, any size.
    pub(crate) reads_per_s: Option<Interval<f64>>,
    /// Small reads in sequence by random ones, one at a time: the block, and the ratio.
    pub(crate) sequential_gain: Option<(u64, f64)>,
    /// The best bandwidth of any pattern.
    pub(crate) bytes_per_s: Option<Interval<f64>>,
    /// The most reads a second of each block size, ascending, where the submitting thread wasn't what bounded them.
    pub(crate) rates: Vec<(u64, Interval<f64>)>,
    /// Whether the submitting thread bounded the small reads.
    pub(crate) host_is_limit: bool,
}

/// What latencies and gains are told of.
const SMALL_BYTES: u64 = 4 << 10;
/// Of the submitting thread's time: from here on the processor is what bounds a rate.
const BUSY_SHARE: f64 = 0.9;

impl ReadShape {
    /// `None` where random reads weren't measured.
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

/// Whether the thread that submits was busy nearly all the time in the fastest cell of a block size.
fn host_bound(figures: &Figures<'_>, block_bytes: u64) -> bool {
    let of_size = figures.read_cells("random").filter(|cell| cell.cell.block_bytes == block_bytes);
    let fastest = of_size.max_by(|a, b| a.cell.iops.total_cmp(&b.cell.iops));
    fastest.is_some_and(|cell| cell.cell.iops * cell.cell.cpu_ns_per_request >= BUSY_SHARE * 1e9)
}

/// At depth 1, of the smallest block that was read both ways.
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
