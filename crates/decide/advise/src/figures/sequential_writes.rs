use nandle_profile::experiments::{LargeWriteCell, PatternCost};
use nandle_profile::{Interval, WritePatternCost};
use nandle_units::format_bytes;

use super::Figures;
use super::physics::within_bandwidth;
use super::words::{bandwidth, bounded, bytes, number, time};
use super::writes::PROBE_WRITES;
use crate::settings::{Confidence, Figure, MissingFigure};
use nandle_profile::arithmetic::{inverse, map, product};

/// Share of the best bandwidth from which larger requests gain nothing, as for reads.
const SATURATED_SHARE: f64 = 0.95;

fn missing_figure(needs: &'static str) -> MissingFigure {
    MissingFigure { needs, how: PROBE_WRITES }
}

/// Requests with the best bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BestWrite {
    /// Bytes of one request.
    pub(crate) block_bytes: u64,
    /// Requests outstanding.
    pub(crate) queue_depth: u32,
    /// Bandwidth.
    pub(crate) bytes_per_s: Interval<f64>,
    /// Bytes written during the measurement.
    pub(crate) written_bytes: u64,
    /// True if large writes at depth were measured.
    is_of_large_ones: bool,
}

impl Figures<'_> {
    /// Sequential writes with the best bandwidth. Prefers large writes at depth if they were
    /// measured.
    pub(crate) fn best_sequential_write(&self) -> Option<BestWrite> {
        self.best_large_write().or_else(|| self.best_small_write())
    }

    fn large_writes(&self) -> impl Iterator<Item = &LargeWriteCell> {
        let conducted = self.profile.experiments.large_writes.iter();
        conducted.flat_map(|conducted| &conducted.findings.cells)
    }

    fn best_large_write(&self) -> Option<BestWrite> {
        let rate = |cell: &LargeWriteCell| cell.bandwidth_bytes_per_s.value;
        let best = self.large_writes().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        Some(BestWrite {
            block_bytes: best.block_bytes,
            queue_depth: best.queue_depth,
            bytes_per_s: best.bandwidth_bytes_per_s,
            written_bytes: best.requests.saturating_mul(best.block_bytes),
            is_of_large_ones: true,
        })
    }

    /// Best small write. Skips unclear times if there are clear ones, because the best unclear time
    /// is the one most favoured by noise.
    fn best_small_write(&self) -> Option<BestWrite> {
        let is_clear = |row: &&PatternCost| WritePatternCost::is_clear(&row.request_ns);
        let some_are_clear = self.sequential_patterns().any(|row| is_clear(&row));
        let candidates = self.sequential_patterns().filter(|row| !some_are_clear || is_clear(row));
        let best = candidates.max_by(|a, b| bytes_per_s(a).value.total_cmp(&bytes_per_s(b).value))?;
        Some(BestWrite {
            block_bytes: best.block_bytes,
            queue_depth: best.queue_depth,
            bytes_per_s: bytes_per_s(best),
            written_bytes: (best.start_up_requests + best.requests).saturating_mul(best.block_bytes),
            is_of_large_ones: false,
        })
    }

    fn sequential_patterns(&self) -> impl Iterator<Item = &PatternCost> {
        self.plain_writes("sequential")
    }

    /// Best bandwidth of sequential writes.
    pub(crate) fn sequential_write_bandwidth(&self) -> Result<Figure, MissingFigure> {
        let best =
            self.best_sequential_write().ok_or(missing_figure("the bandwidth of sequential writes"))?;
        let says = format!(
            "sequential writes of {} reach {} at depth {}",
            format_bytes(best.block_bytes),
            bounded(&best.bytes_per_s, bandwidth),
            best.queue_depth
        );
        let figure = Figure::new("sequential_write_bandwidth_bytes_per_s", best.bytes_per_s, says);
        let by_cache = self.cache_answers_sequential(&best);
        let figure = Self::mark_cached(figure, by_cache);
        Ok(if by_cache {
            figure.no_surer_than(
                Confidence::Low,
                "a write cache absorbed them, so the figure \
                holds for bursts only",
            )
        } else if best.is_of_large_ones {
            figure
        } else {
            figure.no_surer_than(
                Confidence::Medium,
                "large writes at depth weren't measured and \
                    may be faster",
            )
        })
    }

    /// Sequential writes per second of the size nearest to `block_bytes`, capped by the bandwidth.
    pub(crate) fn sequential_write_iops(&self, block_bytes: u64) -> Result<Figure, MissingFigure> {
        let nearest = self.sequential_patterns().min_by_key(|row| row.block_bytes.abs_diff(block_bytes));
        let row = nearest.ok_or(missing_figure("sequential writes"))?;
        let best = self.sequential_write_bandwidth()?;
        let iops = within_bandwidth(inverse(1e9, &row.request_ns), row.block_bytes, best.value.value);
        let says = format!(
            "{} sequential writes of {} a second at depth {}",
            bounded(&iops, number),
            format_bytes(row.block_bytes),
            row.queue_depth
        );
        Ok(Figure::new("sequential_write_iops", iops, says))
    }

    /// Bytes that can be written in sequence during one small flush.
    pub(crate) fn bytes_per_flush(&self) -> Result<Figure, MissingFigure> {
        let flush = self.commit()?;
        let bandwidth_figure = self.sequential_write_bandwidth()?;
        let volume = map(&product(&flush.value, &bandwidth_figure.value), |product| product / 1e9);
        let says = format!("{}; {}: {}", flush.says, bandwidth_figure.says, bounded(&volume, bytes));
        Ok(Figure { value: volume, key: "bytes_per_flush_bytes", says, ..bandwidth_figure })
    }

    /// Time of a page in the best write pattern.
    pub(crate) fn sequential_write_ns(&self, page_bytes: u64) -> Result<Figure, MissingFigure> {
        let rate = self.sequential_write_bandwidth()?;
        let span = inverse(1e9 * page_bytes as f64, &rate.value);
        let says = format!("{} per page", bounded(&span, time));
        Ok(Figure::new("sequential_write_ns", span, says))
    }

    /// Smallest sequential write that reaches 95 % of the best bandwidth at the same depth.
    pub(crate) fn sequential_write_request_bytes(&self) -> Result<Figure, MissingFigure> {
        let best = self.sequential_write_bandwidth()?;
        let requests =
            self.best_sequential_write().ok_or(missing_figure("sequential writes of several sizes"))?;
        let enough = SATURATED_SHARE * best.value.value;
        let large =
            self.large_writes().map(|cell| (cell.block_bytes, cell.queue_depth, cell.bandwidth_bytes_per_s));
        let small =
            self.sequential_patterns().map(|row| (row.block_bytes, row.queue_depth, bytes_per_s(row)));
        let reaches = |(_, depth, rate): &(u64, u32, Interval<f64>)| {
            *depth == requests.queue_depth && rate.value >= enough
        };
        let sizes = large.chain(small).filter(reaches).map(|(bytes, ..)| bytes);
        let smallest = sizes.min().ok_or(missing_figure("sequential writes of several sizes"))?;
        let says = format!("{}; those of {} reach 95 % of it", best.says, format_bytes(smallest));
        let value = Interval::exact(smallest as f64);
        Ok(Figure { key: "sequential_write_request_bytes", value, says, ..best })
    }
}

fn bytes_per_s(row: &PatternCost) -> Interval<f64> {
    inverse(1e9 * row.block_bytes as f64, &row.request_ns)
}
