//! Detection of write figures that come from a cache. Such writes complete sooner than the medium
//! allows, exceed its bandwidth, or fit into the measured cache. The figures hold for bursts only,
//! even if the cache is non-volatile.

use nandle_profile::experiments::PatternCost;
use nandle_profile::{Interval, ROTATIONAL_LATENCY_NS_MIN};
use nandle_units::format_bytes;

use super::sequential_writes::BestWrite;
use super::words::{bandwidth, bounded, bytes};
use super::{Burst, Figures, PROGRAM_NS_MIN};
use crate::settings::Figure;

/// Ratio above which sequential writes outrun sequential reads. The heads of a disk write no faster
/// than they read.
const FASTER_THAN_READS_MIN: f64 = 1.2;
/// Largest size taken for a cache. A drive that absorbs more may use spare blocks instead.
const CACHE_BYTES_MAX: u64 = 512 << 20;

impl Figures<'_> {
    /// Least time of a random write on the medium: half a rotation of a disk, or the programming of
    /// a flash page.
    pub(crate) fn medium_write_ns_min(&self) -> f64 {
        if self.is_rotational() { ROTATIONAL_LATENCY_NS_MIN as f64 } else { PROGRAM_NS_MIN }
    }

    /// Returns true if the measured write cache absorbs more than `written_bytes`.
    pub(crate) fn fits_in_cache(&self, written_bytes: u64) -> bool {
        let absorbed = self.write_cache().ok().and_then(|found| found.absorbed_bytes);
        absorbed.is_some_and(|absorbed| written_bytes <= absorbed.value && absorbed.value <= CACHE_BYTES_MAX)
    }

    /// Returns true if a cache absorbed the random writes of a row.
    pub(crate) fn cache_answers(&self, row: &PatternCost) -> bool {
        let is_quick = row.latency_ns.p50.is_some_and(|ns| (ns as f64) < self.medium_write_ns_min());
        let written = (row.start_up_requests + row.requests).saturating_mul(row.block_bytes);
        (row.queue_depth == 1 && is_quick) || self.fits_in_cache(written)
    }

    /// Returns true if a cache absorbed all random writes of a size at depth 1. Tests the mean,
    /// because it includes writes after the cache filled up.
    pub(crate) fn cache_answers_random_writes(&self, block_bytes: u64) -> bool {
        let mut of_size = self.random_writes_alone().filter(|row| row.block_bytes == block_bytes);
        of_size.any(|row| row.request_ns.value < self.medium_write_ns_min())
    }

    /// Returns true if a cache absorbed the sequential writes with the best bandwidth.
    pub(crate) fn cache_answers_sequential(&self, best: &BestWrite) -> bool {
        self.outruns_heads(&best.bytes_per_s).is_some() || self.fits_in_cache(best.written_bytes)
    }

    /// Sequential read bandwidth, if a rotational device writes faster than it reads.
    fn outruns_heads(&self, written: &Interval<f64>) -> Option<Interval<f64>> {
        let read = self.profile.derived.sequential_bandwidth_bytes_per_s_max?;
        (self.is_rotational() && written.value > FASTER_THAN_READS_MIN * read.value).then_some(read)
    }

    /// Explains why the sequential writes come from a cache.
    pub(crate) fn sequential_writes_outrun_reads(&self) -> Option<String> {
        let best = self.best_sequential_write()?;
        let read = self.outruns_heads(&best.bytes_per_s)?;
        Some(format!(
            "Sequential writes reach {}, sequential reads {}: a cache absorbs writes faster than \
            the heads can write them.",
            bandwidth(best.bytes_per_s.value),
            bounded(&read, bandwidth)
        ))
    }

    /// Marks a figure of writes that a cache absorbed.
    pub(crate) fn mark_cached(figure: Figure, by_cache: bool) -> Figure {
        if !by_cache {
            return figure;
        }
        let says = format!("{} (absorbed by a write cache)", figure.says);
        Figure { says, ..figure }
    }

    /// Describes the capacity of the cache and the bandwidth after it fills up.
    pub(crate) fn reach_of_cache(&self) -> String {
        if let Some(Burst { block_bytes, absorbed, taken, sustained }) = self.burst() {
            return format!(
                "It absorbs {} of random writes of {} at {}; after that they continue at {}.",
                bytes(absorbed.value as f64),
                format_bytes(block_bytes),
                bandwidth(taken.value),
                bandwidth(sustained.value)
            );
        }
        let Ok(found) = self.write_cache() else {
            return "Its capacity wasn't measured: nandle probe TARGET --only write-cache --budget \
                2m --resume."
                .to_owned();
        };
        let Some(absorbed) = found.absorbed_bytes else {
            return "It didn't fill up: the write rate stayed constant.".to_owned();
        };
        let sustained = found.sustained_bytes_per_s.map_or_else(String::new, |sustained| {
            format!("; after that random writes continue at {}", bandwidth(sustained.value))
        });
        format!("It absorbs {}{sustained}.", bytes(absorbed.value as f64))
    }
}
