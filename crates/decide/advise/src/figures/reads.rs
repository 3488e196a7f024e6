use nandle_profile::{DepthForBlock, Interval, MeasuredCell, NEAR_FULL_SHARE, OperationKind};
use nandle_units::format_bytes;

use super::Figures;
use super::physics::{at_least_one, within_bandwidth};
use super::words::{bandwidth, bounded, bytes, number, time};
use crate::economics;
use crate::settings::{Figure, MissingFigure};
use nandle_profile::arithmetic::{inverse, map, of_bytes, widen};

/// Instruction for a longer probe.
const PROBE_LONGER: &str = "run a longer probe: nandle probe TARGET BUDGET(3m)";
/// Share of the best bandwidth from which larger requests gain nothing (§ settings).
const SATURATED_SHARE: f64 = 0.95;

fn missing_figure(needs: &'static str) -> MissingFigure {
    MissingFigure { needs, how: PROBE_LONGER }
}

impl Figures<'_> {
    /// Measured block size nearest to `bytes`, at most a factor of 2 away.
    fn depth_row(&self, bytes: u64) -> Option<&DepthForBlock> {
        let distance = |row: &&DepthForBlock| row.block_bytes.max(bytes) / row.block_bytes.min(bytes).max(1);
        let nearest = self.profile.derived.saturating_queue_depth.iter().min_by_key(distance)?;
        (distance(&nearest) <= 2).then_some(nearest)
    }

    /// Least queue depth at which random reads of a block size are near their plateau.
    pub(crate) fn knee_depth(&self, block_bytes: u64) -> Result<Figure, MissingFigure> {
        let row = self
            .depth_row(block_bytes)
            .ok_or(missing_figure("the saturating queue depth of random reads"))?;
        let depth = widen(&row.queue_depth);
        let at_least = if row.plateau_reached { "" } else { "at least " };
        let says = format!(
            "random reads of {} reach their plateau ({}) at depth {at_least}{}",
            format_bytes(row.block_bytes),
            bandwidth(row.plateau_bytes_per_s.value),
            bounded(&depth, number)
        );
        Ok(Figure::new("saturating_queue_depth", depth, says))
    }

    /// Random reads per second of a block size at its best depth.
    pub(crate) fn random_read_iops(&self, block_bytes: u64) -> Result<Figure, MissingFigure> {
        let row = self.depth_row(block_bytes).ok_or(missing_figure("the plateau of random reads"))?;
        let iops = map(&row.plateau_bytes_per_s, |bytes_per_s| bytes_per_s / row.block_bytes as f64);
        let iops = within_bandwidth(iops, row.block_bytes, self.read_bandwidth_seen());
        let says = format!(
            "{} random reads of {} a second at depth {}",
            bounded(&iops, number),
            format_bytes(row.block_bytes),
            row.queue_depth.value
        );
        Ok(Figure::new("random_read_iops", iops, says))
    }

    /// Random reads per second of the smallest measured block.
    pub(crate) fn random_read_iops_max(&self) -> Result<Figure, MissingFigure> {
        let iops = self
            .profile
            .derived
            .random_read_iops_max
            .ok_or(missing_figure("the peak rate of random reads"))?;
        let says = format!("{} random reads a second at most", bounded(&iops, number));
        Ok(Figure::new("random_read_iops", iops, says))
    }

    /// Bandwidth of random reads of a block size at a depth, measured or fitted.
    fn random_read_bandwidth(&self, block_bytes: u64, queue_depth: u32) -> Option<Interval<f64>> {
        let mut row = self.random_row(block_bytes);
        row.find(|(depth, _)| *depth == queue_depth).map(|(_, bandwidth)| bandwidth)
    }

    /// Depths and bandwidths of random reads of a block size: measured cells first, then fitted
    /// ones.
    fn random_row(&self, block_bytes: u64) -> impl Iterator<Item = (u32, Interval<f64>)> {
        let measured =
            self.read_cells("random").filter(move |measured| measured.cell.block_bytes == block_bytes);
        let measured =
            measured.map(|measured| (measured.cell.queue_depth, measured.steady_bandwidth_bytes_per_s));
        let fitted = self.profile.fitted_cells.iter().filter(move |cell| cell.block_bytes == block_bytes);
        measured.chain(fitted.map(|cell| (cell.queue_depth, cell.bandwidth_bytes_per_s)))
    }

    /// Bandwidth of random reads at `queue_depth` or deeper, beyond the knee, if it is surely more
    /// than a tenth below the plateau.
    pub(crate) fn loses_at_depth(&self, block_bytes: u64, queue_depth: u32) -> Option<Figure> {
        let row = self.depth_row(block_bytes)?;
        let enough = NEAR_FULL_SHARE * row.plateau_bytes_per_s.low;
        let queue_depth = queue_depth.max(row.queue_depth.high);
        let mut deep = self.read_cells("random").filter(|measured| {
            measured.cell.block_bytes == row.block_bytes && measured.cell.queue_depth >= queue_depth
        });
        let slow = deep.find(|measured| measured.steady_bandwidth_bytes_per_s.high < enough)?;
        let says = format!(
            "at depth {} random reads of {} reach only {}",
            slow.cell.queue_depth,
            format_bytes(row.block_bytes),
            bandwidth(slow.steady_bandwidth_bytes_per_s.value)
        );
        Some(Figure::new("random_bandwidth_bytes_per_s", slow.steady_bandwidth_bytes_per_s, says))
    }

    /// Cost of a random page divided by a sequential one while `sessions` read one random page
    /// each. Uses the greatest depth, measured or fitted, up to the number of sessions and the
    /// knee.
    pub(crate) fn page_cost_ratio_of(&self, page_bytes: u64, sessions: u32) -> Result<Figure, MissingFigure> {
        let row = self.depth_row(page_bytes).ok_or(missing_figure("the plateau of random reads"))?;
        let depth = sessions.min(row.queue_depth.value).max(1);
        let below = self.random_row(row.block_bytes).filter(|(at, _)| *at <= depth).max_by_key(|(at, _)| *at);
        let (at, random) = below.ok_or(missing_figure("random reads of the database's page"))?;
        let sequential = self.sequential_read_bandwidth()?.value;
        Ok(page_cost_figure(
            &sequential,
            &random,
            row.block_bytes,
            at,
            "several sessions at once, one page each",
        ))
    }

    /// Bandwidth of random reads of a block size at depth 1.
    pub(crate) fn random_read_bandwidth_alone(&self, block_bytes: u64) -> Result<Figure, MissingFigure> {
        let alone = self
            .random_read_bandwidth(block_bytes, 1)
            .ok_or(missing_figure("random reads of the database's page at depth 1"))?;
        let says = format!(
            "random reads of {} reach {} at depth 1",
            format_bytes(block_bytes),
            bandwidth(alone.value)
        );
        Ok(Figure::new("random_bandwidth_bytes_per_s", alone, says))
    }

    /// Cost of a random page divided by a sequential one: at depth 1, and at the knee if that is
    /// deeper.
    pub(crate) fn page_cost_ratios(
        &self,
        page_bytes: u64,
    ) -> Result<(Figure, Option<Figure>), MissingFigure> {
        let sequential = self.sequential_read_bandwidth()?.value;
        let row = self.depth_row(page_bytes).ok_or(missing_figure("the plateau of random reads"))?;
        let alone = self.random_read_bandwidth_alone(row.block_bytes)?.value;
        let figure = |random: &Interval<f64>, depth: u32, when: &str| {
            page_cost_figure(&sequential, random, row.block_bytes, depth, when)
        };
        let knee = row.queue_depth.value;
        let many = (knee > 1).then(|| figure(&row.plateau_bytes_per_s, knee, "many pages at once"));
        Ok((figure(&alone, 1, "one page at a time"), many))
    }

    /// Measured sequential read bandwidth; infinite if it wasn't measured.
    fn read_bandwidth_seen(&self) -> f64 {
        self.profile.derived.sequential_bandwidth_bytes_per_s_max.map_or(f64::INFINITY, |best| best.value)
    }

    /// Best bandwidth of sequential reads.
    pub(crate) fn sequential_read_bandwidth(&self) -> Result<Figure, MissingFigure> {
        let best = self.profile.derived.sequential_bandwidth_bytes_per_s_max;
        let best = best.ok_or(missing_figure("the bandwidth of sequential reads"))?;
        let says = format!("sequential reads reach at most {}", bounded(&best, bandwidth));
        Ok(Figure::new("sequential_bandwidth_bytes_per_s", best, says))
    }

    /// Sequential reads per second of `block_bytes`.
    pub(crate) fn sequential_read_iops(&self, block_bytes: u64) -> Result<Figure, MissingFigure> {
        let best = self
            .read_cells("sequential")
            .filter(|measured| measured.cell.block_bytes == block_bytes)
            .max_by(|a, b| by_bandwidth(a, b))
            .ok_or(missing_figure("sequential reads of small blocks"))?;
        let iops = map(&best.steady_bandwidth_bytes_per_s, |bytes_per_s| bytes_per_s / block_bytes as f64);
        let iops = within_bandwidth(iops, block_bytes, self.read_bandwidth_seen());
        let says = format!(
            "{} sequential reads of {} a second at depth {}",
            bounded(&iops, number),
            format_bytes(block_bytes),
            best.cell.queue_depth
        );
        Ok(Figure::new("sequential_read_iops", iops, says))
    }

    /// Smallest sequential read that reaches 95 % of the best bandwidth at the depth nearest to
    /// `wanted_depth`.
    pub(crate) fn sequential_request_bytes(&self, wanted_depth: u32) -> Result<Figure, MissingFigure> {
        let missing = missing_figure("sequential reads of several sizes at one depth");
        let depths = self.read_cells("sequential").map(|measured| measured.cell.queue_depth);
        let depth = depths.min_by_key(|depth| (depth.abs_diff(wanted_depth), *depth)).ok_or(missing)?;
        let mut cells: Vec<_> =
            self.read_cells("sequential").filter(|measured| measured.cell.queue_depth == depth).collect();
        cells.sort_by_key(|measured| measured.cell.block_bytes);
        let best = cells.iter().copied().max_by(|a, b| by_bandwidth(a, b)).filter(|_| cells.len() > 1);
        let best = best.ok_or(missing)?.steady_bandwidth_bytes_per_s;
        let enough = SATURATED_SHARE * best.value;
        let first = |reaches: fn(&Interval<f64>) -> f64| {
            let mut sizes = cells.iter().filter(|cell| reaches(&cell.steady_bandwidth_bytes_per_s) >= enough);
            sizes.next().map(|measured| measured.cell.block_bytes as f64)
        };
        let value = first(|interval| interval.value).ok_or(missing)?;
        let low = first(|interval| interval.high).unwrap_or(value);
        let high = first(|interval| interval.low).unwrap_or(value).max(value);
        let request = Interval { value, low, high };
        let says = format!(
            "sequential reads of {} reach 95 % of {} at depth {depth}",
            bounded(&request, bytes),
            bandwidth(best.value)
        );
        Ok(Figure::new("sequential_request_bytes", request, says))
    }

    /// Smallest random read near full bandwidth.
    pub(crate) fn efficient_block_bytes(&self) -> Result<Figure, MissingFigure> {
        let block = self
            .profile
            .derived
            .efficient_block_bytes
            .ok_or(missing_figure("the smallest efficient block"))?;
        let block = of_bytes(&block);
        let says = format!(
            "random reads of {} reach nearly full bandwidth at their best depth",
            bounded(&block, bytes)
        );
        Ok(Figure::new("efficient_block_bytes", block, says))
    }

    /// Sequential requests after which the device starts its own read-ahead.
    pub(crate) fn reads_ahead(&self) -> Option<Figure> {
        let after = self.profile.experiments.read_ahead.as_ref()?.findings.detected_after_requests?;
        let plural = if after == 1 { "" } else { "s" };
        let says = format!(
            "the device starts its own read-ahead after {after} sequential \
            request{plural}"
        );
        Some(Figure::stated("read_ahead_after_requests", f64::from(after), says))
    }

    /// Median latency of a random read of the smallest block at depth 1.
    pub(crate) fn random_read_latency(&self) -> Result<Figure, MissingFigure> {
        let latency = self
            .profile
            .derived
            .random_read_latency_ns
            .ok_or(missing_figure("the latency of a random read"))?;
        let says = format!("one random read takes {} (median, depth 1)", time(latency as f64));
        Ok(Figure::stated("random_read_latency_ns", latency as f64, says))
    }

    /// Time of a random page at depth 1.
    pub(crate) fn random_page_ns(&self, page_bytes: u64) -> Result<Interval<f64>, MissingFigure> {
        Ok(inverse(1e9 * page_bytes as f64, &self.random_read_bandwidth_alone(page_bytes)?.value))
    }

    /// 99th percentile of a random read at depth 1, for the measured block nearest to
    /// `block_bytes`.
    pub(crate) fn random_read_p99(&self, block_bytes: u64) -> Result<Figure, MissingFigure> {
        let alone = self.read_cells("random").filter(|measured| measured.cell.queue_depth == 1);
        let observed =
            alone.filter_map(|measured| Some((measured.cell.block_bytes, measured.cell.latency_ns.p99?)));
        let nearest = observed.min_by_key(|(bytes, _)| bytes.abs_diff(block_bytes));
        let (bytes, p99) = nearest.ok_or(missing_figure("the 99th percentile of random reads at depth 1"))?;
        let says = format!(
            "99 % of random reads of {} take at most {} at depth 1",
            format_bytes(bytes),
            time(p99 as f64)
        );
        Ok(Figure::stated("random_read_latency_p99_ns", p99 as f64, says))
    }

    /// Read-only cells of single blocks in a pattern.
    pub(crate) fn read_cells(&self, pattern: &'static str) -> impl Iterator<Item = &MeasuredCell> {
        self.profile.cells.iter().filter(move |measured| {
            let cell = &measured.cell;
            cell.pattern == pattern && cell.operation == OperationKind::Read && cell.group_blocks == 1
        })
    }
}

fn page_cost_figure(
    sequential: &Interval<f64>,
    random: &Interval<f64>,
    block_bytes: u64,
    depth: u32,
    when: &str,
) -> Figure {
    let cost = page_cost_ratio(sequential, random, block_bytes);
    let says = format!(
        "{when}: random reads of {} reach {} at depth {depth}, sequential reads at most {}: a \
        ratio of {}",
        format_bytes(block_bytes),
        bandwidth(random.value),
        bandwidth(sequential.value),
        bounded(&cost, number)
    );
    Figure::new("random_by_sequential_page_cost_ratio", cost, says)
}

/// Cost ratio with its bounds. It is least if random reads are fastest and sequential reads
/// slowest.
fn page_cost_ratio(sequential: &Interval<f64>, random: &Interval<f64>, block_bytes: u64) -> Interval<f64> {
    let at = |sequential: f64, random: f64| {
        economics::page_cost_ratio(block_bytes, random / block_bytes as f64, sequential)
    };
    at_least_one(Interval {
        value: at(sequential.value, random.value),
        low: at(sequential.low, random.high),
        high: at(sequential.high, random.low),
    })
}

fn by_bandwidth(one: &MeasuredCell, other: &MeasuredCell) -> std::cmp::Ordering {
    one.steady_bandwidth_bytes_per_s.value.total_cmp(&other.steady_bandwidth_bytes_per_s.value)
}
