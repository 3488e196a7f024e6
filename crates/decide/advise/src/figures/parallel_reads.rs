//! Reads by several threads: limits of one submitting thread, and blocking compared with
//! asynchronous reads.

use nandle_profile::experiments::{ScalingCell, SyncRead};
use nandle_profile::{Interval, NEAR_FULL_SHARE};
use nandle_units::format_bytes;

use super::Figures;
use super::words::{bandwidth, bounded, number, time};
use crate::settings::Figure;

impl Figures<'_> {
    /// Rates by number of threads at the greatest measured depth per thread.
    fn cells_by_threads(&self) -> Vec<&ScalingCell> {
        let cells = || self.profile.experiments.scaling.iter().flat_map(|found| &found.findings.cells);
        let depth = cells().map(|cell| cell.queue_depth_per_thread).max();
        let mut deep: Vec<_> =
            cells().filter(|cell| Some(cell.queue_depth_per_thread) == depth && cell.threads > 0).collect();
        deep.sort_by_key(|cell| cell.threads);
        deep
    }

    /// Least number of submitting threads that together come near the peak rate.
    pub(crate) fn submitting_threads(&self) -> Option<Figure> {
        let cells = self.cells_by_threads();
        let rates: Vec<_> = cells.iter().map(|cell| (cell.threads, cell.iops)).collect();
        let threads = near_full_count(&rates)?;
        let one = cells.first().filter(|cell| cell.threads == 1)?;
        let best = cells.iter().map(|cell| cell.iops.value).fold(0.0, f64::max);
        let block = self.profile.experiments.scaling.as_ref()?.findings.block_bytes;
        let says = format!(
            "one thread reads {} times a second ({}, {} outstanding); {} threads come near the \
            peak of {}",
            bounded(&one.iops, number),
            format_bytes(block),
            one.queue_depth_per_thread,
            bounded(&threads, number),
            number(best)
        );
        Some(Figure::new("submitting_threads", threads, says))
    }

    /// Reads of the size nearest to a page that were measured with concurrent blocking threads.
    fn blocking_reads(&self, page_bytes: u64) -> Vec<&SyncRead> {
        let reads = || self.profile.experiments.sync_reads.iter().flat_map(|found| &found.findings.reads);
        let far =
            |read: &&SyncRead| read.block_bytes.max(page_bytes) / read.block_bytes.min(page_bytes).max(1);
        let nearest = reads().min_by_key(far).map(|read| read.block_bytes);
        let of_size = reads().filter(|read| Some(read.block_bytes) == nearest);
        of_size.filter(|read| read.outstanding > 1 && read.sync_bytes_per_s.is_some()).collect()
    }

    /// Bandwidth of asynchronous reads divided by that of blocking reads, at the measured depth
    /// nearest to `depth`.
    pub(crate) fn asynchronous_gain(&self, page_bytes: u64, depth: u32) -> Option<Figure> {
        let reads = self.blocking_reads(page_bytes).into_iter();
        let read = reads.min_by_key(|read| (read.outstanding.abs_diff(depth), read.outstanding))?;
        let blocking = read.sync_bytes_per_s.filter(|blocking| blocking.value > 0.0)?;
        let gain = read.async_bytes_per_s.over(&blocking);
        let processor = read.sync_cpu_ns_per_request.map_or_else(String::new, |blocks| {
            format!(
                "; a read uses {} of processor time asynchronously and {} blocking",
                time(read.async_cpu_ns_per_request),
                time(blocks)
            )
        });
        let says = format!(
            "{} outstanding reads of {} reach {} asynchronously and {} with as many blocking \
            threads: {} times as much{processor}",
            read.outstanding,
            format_bytes(read.block_bytes),
            bandwidth(read.async_bytes_per_s.value),
            bandwidth(blocking.value),
            bounded(&gain, number)
        );
        Some(Figure::new("asynchronous_by_blocking_reads_ratio", gain, says))
    }

    /// Least number of blocking threads that come near the peak bandwidth of blocking reads.
    pub(crate) fn blocking_threads(&self, page_bytes: u64) -> Option<Figure> {
        let reads = self.blocking_reads(page_bytes);
        let mut rates: Vec<_> =
            reads.iter().filter_map(|read| Some((read.outstanding, read.sync_bytes_per_s?))).collect();
        rates.sort_by_key(|(threads, _)| *threads);
        let threads = near_full_count(&rates)?;
        let best = rates.iter().map(|(_, rate)| rate.value).fold(0.0, f64::max);
        let says = format!(
            "{} blocking threads come near the peak of blocking reads ({} in blocks of {})",
            bounded(&threads, number),
            bandwidth(best),
            format_bytes(reads.first()?.block_bytes)
        );
        Some(Figure::new("blocking_threads", threads, says))
    }
}

/// Least count with a rate near the best, and its bounds. Returns `None` for fewer than two rates.
fn near_full_count(rates: &[(u32, Interval<f64>)]) -> Option<Interval<f64>> {
    let best = rates.iter().map(|(_, rate)| rate.value).fold(0.0, f64::max);
    let first = |bound: fn(&Interval<f64>) -> f64| {
        rates
            .iter()
            .find(|(_, rate)| bound(rate) >= NEAR_FULL_SHARE * best)
            .map(|(count, _)| f64::from(*count))
    };
    let value = first(|rate| rate.value).filter(|_| rates.len() > 1)?;
    let low = first(|rate| rate.high).unwrap_or(value).min(value);
    let most = rates.last().map_or(value, |(count, _)| f64::from(*count));
    Some(Interval { value, low, high: first(|rate| rate.low).unwrap_or(most).max(value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(value: f64) -> Interval<f64> {
        Interval { value, low: value * 0.95, high: value * 1.05 }
    }

    #[test]
    fn least_count_near_the_peak_has_the_bounds_of_the_noise() {
        let rates = [(1, about(50.0)), (2, about(91.0)), (4, about(100.0)), (8, about(99.0))];
        assert_eq!(near_full_count(&rates), Some(Interval { value: 2.0, low: 2.0, high: 4.0 }));
        assert_eq!(near_full_count(&[(1, about(50.0))]), None, "one number can't be compared");
        let noisy = [
            (1, Interval { value: 10.0, low: 0.0, high: 99.0 }),
            (8, Interval { value: 12.0, low: 0.0, high: 99.0 }),
        ];
        assert_eq!(near_full_count(&noisy), Some(Interval { value: 8.0, low: 1.0, high: 8.0 }));
    }
}
