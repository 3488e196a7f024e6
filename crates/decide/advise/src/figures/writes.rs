use nandle_profile::experiments::{InterferenceCell, MixedLoad, PatternCost};
use nandle_profile::{InterferenceLimit, Interval, OperationKind, WritePatternCost};
use nandle_units::format_bytes;

use super::Figures;
use super::physics::{larger_by_smaller, non_falling, within_bandwidth};
use super::words::{bandwidth, bounded, bytes, number, time};
use crate::settings::{Figure, MissingFigure};
use nandle_profile::arithmetic::{inverse, map, of_bytes, product, sum};

/// Instruction for measuring writes.
pub(super) const PROBE_WRITES: &str = "let the probe write, with a larger budget: nandle probe TARGET BUDGET(10m) --write-limit \
    20GiB";

/// Key of the write size below which a write needs a read as well.
pub(crate) const SMALLEST_WRITE: &str = "smallest_write_bytes";

fn missing_figure(needs: &'static str) -> MissingFigure {
    MissingFigure { needs, how: PROBE_WRITES }
}

impl Figures<'_> {
    /// Bandwidth of random writes in the steady state.
    pub(crate) fn steady_write_bandwidth(&self) -> Result<Figure, MissingFigure> {
        let steady = self.profile.derived.steady_state.as_ref();
        let steady = steady.ok_or(missing_figure("the steady state of random writes"))?;
        let says = format!(
            "random writes of {} reach {} {}",
            format_bytes(steady.block_bytes),
            bounded(&steady.random_write_bytes_per_s, bandwidth),
            self.long_writing_phase()
        );
        let figure = Figure::new("steady_write_bandwidth_bytes_per_s", steady.random_write_bytes_per_s, says);
        Ok(self.limit_by_writing_length(figure))
    }

    /// Random page writes per second in the steady state. A rate of another block size is scaled by
    /// the measured times of random writes of both sizes. The ratio stays within its physical
    /// bounds: a larger request takes no less time, and no more time per byte.
    pub(crate) fn steady_write_iops(&self, page_bytes: u64) -> Result<Figure, MissingFigure> {
        let steady = self.steady_write_bandwidth()?;
        let block_bytes =
            self.profile.derived.steady_state.as_ref().map_or(page_bytes, |state| state.block_bytes);
        let of_blocks = map(&steady.value, |bytes_per_s| bytes_per_s / block_bytes as f64);
        let (small_bytes, large_bytes) = (block_bytes.min(page_bytes), block_bytes.max(page_bytes));
        let measured = self.random_write_ratio(large_bytes, small_bytes);
        let larger = larger_by_smaller(measured, large_bytes as f64 / small_bytes as f64);
        let iops =
            if page_bytes < block_bytes { product(&of_blocks, &larger) } else { of_blocks.over(&larger) };
        let iops = within_bandwidth(iops, page_bytes, self.write_bandwidth_seen(steady.value.value));
        let is_known = measured.is_some_and(|ratio| {
            ratio.value >= 1.0 && ratio.value <= large_bytes as f64 / small_bytes as f64
        });
        let [page, large, small] = [page_bytes, large_bytes, small_bytes].map(format_bytes);
        let how = if block_bytes == page_bytes {
            String::new()
        } else {
            let known = if is_known { "" } else { ", which wasn't measured clearly" };
            format!(
                "; a write of {large} takes {} times as long as one of {small}{known}",
                bounded(&larger, number)
            )
        };
        let says =
            format!("{}{how}, which gives {} writes of {page} a second", steady.says, bounded(&iops, number));
        Ok(Figure { surest: steady.surest, ..Figure::new("steady_write_iops", iops, says) })
    }

    /// Time of a random write of one size divided by that of a smaller one; `None` if either wasn't
    /// measured clearly.
    fn random_write_ratio(&self, large_bytes: u64, small_bytes: u64) -> Option<Interval<f64>> {
        let [large, small] = [large_bytes, small_bytes].map(|bytes| self.measured_random_write(bytes));
        let (large, small) = large.zip(small)?;
        let both_are_clear = [large, small].iter().all(WritePatternCost::is_clear);
        both_are_clear.then(|| large.over(&small))
    }

    fn measured_random_write(&self, block_bytes: u64) -> Option<Interval<f64>> {
        let found = self.random_writes().find(|(bytes, _)| *bytes == block_bytes);
        found.map(|(_, time)| time)
    }

    /// Measured times of random writes at depth 1.
    fn random_writes(&self) -> impl Iterator<Item = (u64, Interval<f64>)> {
        self.random_writes_alone().map(|row| (row.block_bytes, row.request_ns))
    }

    /// Random writes of each size at depth 1.
    pub(crate) fn random_writes_alone(&self) -> impl Iterator<Item = &PatternCost> {
        self.plain_writes("random").filter(|row| row.queue_depth == 1)
    }

    /// Best measured write bandwidth, sequential or random.
    fn write_bandwidth_seen(&self, at_random: f64) -> f64 {
        self.sequential_write_bandwidth().map_or(at_random, |best| best.value.value.max(at_random))
    }

    /// Time of a random write of a measured size at depth 1. Times don't fall with the size.
    pub(crate) fn random_write_of(&self, block_bytes: u64) -> Result<Figure, MissingFigure> {
        let mut times = non_falling(self.random_writes().collect()).into_iter();
        let found = times.find(|(bytes, _)| *bytes == block_bytes);
        let (_, span) = found.ok_or(missing_figure("the cost of random writes of several sizes"))?;
        let says = format!("a random write of {} takes {}", format_bytes(block_bytes), bounded(&span, time));
        Ok(self.limit_by_sustained_rate(Figure::new("random_write_ns", span, says)))
    }

    /// Time to read and write one page at random on an idle device.
    pub(crate) fn random_read_and_write(&self, page_bytes: u64) -> Result<Figure, MissingFigure> {
        let read = self.random_page_ns(page_bytes)?;
        let write = self.random_write_of(page_bytes)?;
        let says = format!(
            "a random read of {} takes {}, {}",
            format_bytes(page_bytes),
            bounded(&read, time),
            write.says
        );
        let both = Figure::new("random_read_and_write_ns", sum(&read, &write.value), says);
        Ok(Figure { surest: write.surest, ..both })
    }

    /// Time of a random page write divided by that of a sequential one.
    pub(crate) fn random_by_sequential_write(&self) -> Result<Figure, MissingFigure> {
        let cost =
            self.profile.derived.write_pattern_cost.ok_or(missing_figure("the cost of write patterns"))?;
        let says = format!(
            "a random write of {} takes {} times as long as a sequential one",
            format_bytes(cost.block_bytes),
            bounded(&cost.random, number)
        );
        let figure = Figure::new("random_by_sequential_write_ratio", cost.random, says);
        Ok(Self::mark_cached(figure, self.cache_answers_random_writes(cost.block_bytes)))
    }

    /// Aligned writes in a pattern, without pauses.
    pub(crate) fn plain_writes(&self, pattern: &'static str) -> impl Iterator<Item = &PatternCost> {
        self.patterns(pattern, OperationKind::Write)
    }

    /// Aligned requests of one operation in a pattern, without pauses.
    pub(crate) fn patterns(
        &self,
        pattern: &'static str,
        operation: OperationKind,
    ) -> impl Iterator<Item = &PatternCost> {
        let conducted = self.profile.experiments.write_patterns.iter();
        let rows = conducted.flat_map(|conducted| &conducted.findings.patterns);
        rows.filter(move |row| {
            row.pattern == pattern && row.operation == operation && row.pause_ns == 0 && row.shift_bytes == 0
        })
    }

    /// Measured mixed loads of page reads and writes, by queue depth.
    pub(crate) fn mixed_loads(&self, read_percent: u8) -> Vec<&MixedLoad> {
        let conducted = self.profile.experiments.transactions.iter();
        let loads = conducted.flat_map(|conducted| &conducted.findings.mixed);
        loads.filter(|load| load.read_percent == read_percent).collect()
    }

    /// Rate of random writes of a size by queue depth, with several outstanding.
    pub(crate) fn small_writes(&self, block_bytes: u64) -> impl Iterator<Item = (u32, Interval<f64>)> {
        let conducted = self.profile.experiments.smallest_block.iter();
        let rates = conducted.flat_map(|conducted| &conducted.findings.rates);
        let writes =
            rates.filter(move |row| row.operation == OperationKind::Write && row.block_bytes == block_bytes);
        writes.map(|row| (row.queue_depth, row.iops))
    }

    /// Limit up to which writes don't disturb reads, with the block size of the writes.
    fn interference(&self) -> Result<(InterferenceLimit, u64), MissingFigure> {
        let missing = missing_figure("the effect of writes on the latency of reads");
        let limit = self.profile.derived.interference.ok_or(missing)?;
        let map = self.profile.experiments.interference.as_ref().ok_or(missing)?;
        Ok((limit, map.findings.write_block_bytes))
    }

    /// Write bandwidth at which the 99th percentile of reads at most doubles. A lower percentile is
    /// used if there were too few reads. The block size is that of the measured writes.
    pub(crate) fn write_bandwidth_beside_reads(&self) -> Result<Figure, MissingFigure> {
        let (limit, write_bytes) = self.interference()?;
        let rate = map(&limit.write_rate_per_s, |per_s| per_s * write_bytes as f64);
        let reads = format!("at {} reads a second", number(limit.read_rate_per_s));
        let latency =
            format!("the latency of {:.0} % of the reads within twice its value", limit.quantile * 100.0);
        let block = format_bytes(write_bytes);
        let says = if rate.value > 0.0 {
            format!("{reads} writes of {block} up to {} keep {latency}", bounded(&rate, bandwidth))
        } else if rate.high > 0.0 {
            let perhaps = bandwidth(rate.high);
            format!(
                "{reads} no measured rate of writes of {block} surely keeps {latency}, but up to \
                {perhaps} may"
            )
        } else {
            format!("{reads} no measured rate of writes of {block} keeps {latency}")
        };
        Ok(Figure::new("write_bandwidth_beside_reads_bytes_per_s", rate, says))
    }

    /// Block size below which smaller requests gain nothing.
    pub(crate) fn smallest_block(&self) -> Result<Figure, MissingFigure> {
        let block = self.profile.derived.smallest_block_bytes;
        let block = of_bytes(&block.ok_or(missing_figure("the smallest real block"))?);
        let says = format!("requests smaller than {} gain nothing", bounded(&block, bytes));
        Ok(Figure::new("smallest_block_bytes", block, says))
    }

    /// Write size below which a write needs a read as well; the smallest real block if there is no
    /// such step.
    pub(crate) fn smallest_write(&self) -> Result<Figure, MissingFigure> {
        let findings = self.profile.experiments.smallest_block.as_ref();
        let step = findings.and_then(|conducted| conducted.findings.read_modify_write_below_bytes);
        let Some(step) = step else { return self.smallest_block() };
        let step = of_bytes(&step);
        let says = format!("a write smaller than {} needs a read as well", bounded(&step, bytes));
        Ok(Figure::new(SMALLEST_WRITE, step, says))
    }

    /// Time of alternating between several write streams divided by the time of one stream.
    pub(crate) fn partitioned_write(&self) -> Result<Figure, MissingFigure> {
        let missing = missing_figure("the cost of alternating between several write streams");
        let cost = self.profile.derived.write_pattern_cost.ok_or(missing)?;
        let relative = cost.partitioned.ok_or(missing)?;
        let says = format!(
            "alternating between several write streams takes {} times as long as one \
                stream",
            bounded(&relative, number)
        );
        Ok(Figure::new("partitioned_by_sequential_write_ratio", relative, says))
    }

    /// Time of a random page write in the steady state, or in the write patterns if that is all
    /// there is.
    pub(crate) fn random_write_ns(&self, page_bytes: u64) -> Result<Figure, MissingFigure> {
        let steady = self.steady_write_iops(page_bytes).map(|rate| inverse(1e9, &rate.value));
        let span = steady.or_else(|_| {
            let sequential = self.sequential_write_ns(page_bytes)?.value;
            Ok(product(&sequential, &self.random_by_sequential_write()?.value))
        })?;
        Ok(Figure::new("random_write_ns", span, format!("{} per page", bounded(&span, time))))
    }

    /// 99th percentile latency of reads and of writes near saturation, with their shares of the
    /// peak rate. Each is taken with the least load of the other kind.
    pub(crate) fn latency_near_saturation(&self) -> Result<[(Figure, f64); 2], MissingFigure> {
        let missing = missing_figure("latencies by rate of reads and writes");
        let cells = &self.profile.experiments.interference.as_ref().ok_or(missing)?.findings.cells;
        let read = busiest(cells, |cell| cell.read_share, |cell| cell.write_share).ok_or(missing)?;
        let write = busiest(cells, |cell| cell.write_share, |cell| cell.read_share).ok_or(missing)?;
        let figure =
            |key, share: f64, what: &str, p99: Option<u64>| -> Result<(Figure, f64), MissingFigure> {
                let p99 = p99.ok_or(missing)? as f64;
                let says = format!(
                    "99 % of {what} take at most {} at {:.0} % of their peak rate",
                    time(p99),
                    share * 100.0
                );
                Ok((Figure::stated(key, p99, says), share))
            };
        Ok([
            figure("read_latency_p99_ns", read.read_share, "reads", read.read_latency_ns.p99)?,
            figure("write_latency_p99_ns", write.write_share, "writes", write.write_latency_ns.p99)?,
        ])
    }
}

/// Share of the peak rate up to which a device keeps up.
const NEAR_SATURATION: f64 = 0.95;

/// Cell with the highest own rate among those that kept their rates with the least load of the
/// other kind.
fn busiest(
    cells: &[InterferenceCell],
    own: fn(&InterferenceCell) -> f64,
    other: fn(&InterferenceCell) -> f64,
) -> Option<&InterferenceCell> {
    let least = cells.iter().filter(|cell| own(cell) > 0.0).map(other).min_by(f64::total_cmp)?;
    let quiet = cells.iter().filter(|cell| cell.rates_kept && other(cell) <= least);
    quiet.filter(|cell| own(cell) <= NEAR_SATURATION).max_by(|a, b| own(a).total_cmp(&own(b)))
}
