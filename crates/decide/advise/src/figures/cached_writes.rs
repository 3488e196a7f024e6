//! Which figures of writes a cache gave: writes that are answered sooner than any medium has them, faster than the medium
//! takes them, or that were no more than the cache was seen to take in. Volatile or not, such a figure holds for bursts.

use nandle_profile::experiments::PatternCost;
use nandle_profile::{Interval, ROTATIONAL_LATENCY_NS_MIN};
use nandle_units::format_bytes;

use super::sequential_writes::BestWrite;
use super::words::{bandwidth, bounded, bytes};
use super::{Burst, Figures, PROGRAM_NS_MIN};
use crate::settings::Figure;

/// A disk's heads write no faster than they read; by so many times more, it isn't the heads.
const FASTER_THAN_READS_MIN: f64 = 1.2;
/// What takes in more than this before random writes slow down may be spare blocks instead, which is no cache.
const CACHE_BYTES_MAX: u64 = 512 << 20;

impl Figures<'_> {
    /// No medium has a write at a random place sooner: an arm has to move, or flash to be programmed.
    pub(crate) fn medium_write_ns_min(&self) -> f64 {
        if self.turns() { ROTATIONAL_LATENCY_NS_MIN as f64 } else { PROGRAM_NS_MIN }
    }

    /// Whether a write cache was seen to fill up after more than so many bytes.
    pub(crate) fn fits_cache(&self, written_bytes: u64) -> bool {
        let absorbed = self.write_cache().ok().and_then(|found| found.absorbed_bytes);
        absorbed.is_some_and(|absorbed| written_bytes <= absorbed.value && absorbed.value <= CACHE_BYTES_MAX)
    }

    /// Whether a cache answered random writes of a row.
    pub(crate) fn cache_answers(&self, row: &PatternCost) -> bool {
        let is_quick = row.latency_ns.p50.is_some_and(|ns| (ns as f64) < self.medium_write_ns_min());
        let written = (row.start_up_requests + row.requests).saturating_mul(row.block_bytes);
        (row.queue_depth == 1 && is_quick) || self.fits_cache(written)
    }

    /// Whether a cache answered random writes of a size, one after the other, from the first to the last: by their mean, in which
    /// what it couldn't take in shows.
    pub(crate) fn cache_answers_random_writes(&self, block_bytes: u64) -> bool {
        let mut of_size = self.random_writes_alone().filter(|row| row.block_bytes == block_bytes);
        of_size.any(|row| row.request_ns.value < self.medium_write_ns_min())
    }

    /// Whether a cache answered the sequential writes with the best bandwidth.
    pub(crate) fn cache_answers_sequential(&self, best: &BestWrite) -> bool {
        self.outruns_heads(&best.bytes_per_s).is_some() || self.fits_cache(best.written_bytes)
    }

    /// The bandwidth of reading in sequence, where something that turns writes faster than that.
    fn outruns_heads(&self, written: &Interval<f64>) -> Option<Interval<f64>> {
        let read = self.profile.derived.sequential_bandwidth_bytes_per_s_max?;
        (self.turns() && written.value > FASTER_THAN_READS_MIN * read.value).then_some(read)
    }

    /// Why sequential writes are a cache's, in a sentence.
    pub(crate) fn sequential_writes_outrun_reads(&self) -> Option<String> {
        let best = self.best_sequential_write()?;
        let read = self.outruns_heads(&best.bytes_per_s)?;
        Some(format!(
            "It writes {} in sequence and reads {}: a cache takes in what the heads can't have written.",
            bandwidth(best.bytes_per_s.value),
            bounded(&read, bandwidth)
        ))
    }

    /// Names a figure of writes that a cache answered.
    pub(crate) fn named_as_cached(figure: Figure, by_cache: bool) -> Figure {
        if !by_cache {
            return figure;
        }
        let says = format!("{} (answered by a write cache)", figure.says);
        Figure { says, ..figure }
    }

    /// How far a cache that answers writes reaches, in a sentence.
    pub(crate) fn reach_of_cache(&self) -> String {
        if let Some(Burst { block_bytes, absorbed, taken, sustained }) = self.burst() {
            return format!(
                "{} of random writes of {} are taken in at {}; then they go on at {}.",
                bytes(absorbed.value as f64),
                format_bytes(block_bytes),
                bandwidth(taken.value),
                bandwidth(sustained.value)
            );
        }
        let Ok(found) = self.write_cache() else {
            return "How much it takes in wasn't measured: nandle probe TARGET --only write-cache --budget 2m --resume."
                .to_owned();
        };
        let Some(absorbed) = found.absorbed_bytes else {
            return "No end of it showed: writing went on as fast as it began.".to_owned();
        };
        let sustained = found.sustained_bytes_per_s.map_or_else(String::new, |sustained| {
            format!("; then random writes go on at {}", bandwidth(sustained.value))
        });
        format!("It takes in {}{sustained}.", bytes(absorbed.value as f64))
    }
}
