use nandle_profile::Interval;
use nandle_profile::experiments::WriteCacheFindings;
use nandle_units::format_bytes;

use super::Figures;
use super::words::{bandwidth, bounded, bytes, time};
use super::writes::PROBE_WRITES;
use crate::settings::{Figure, MissingFigure};

const MISSING: MissingFigure = MissingFigure { needs: "the capacity of the write cache", how: PROBE_WRITES };

/// Least speed-up of a burst compared with the rate after it.
const FASTER_MIN: f64 = 1.25;

/// Burst of random writes that a cache absorbs faster than the device sustains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Burst {
    /// Bytes of one write.
    pub(crate) block_bytes: u64,
    /// Bytes absorbed until the cache is full.
    pub(crate) absorbed: Interval<u64>,
    /// Bandwidth until the cache is full.
    pub(crate) taken: Interval<f64>,
    /// Bandwidth after the cache is full.
    pub(crate) sustained: Interval<f64>,
}

impl Burst {
    /// Formats the burst as a clause. It names the write size, because other figures of random
    /// writing differ in it.
    pub(crate) fn clause(&self) -> String {
        format!(
            "random writes of {} are absorbed at {} up to {}, then continue at {}",
            format_bytes(self.block_bytes),
            bandwidth(self.taken.value),
            bytes(self.absorbed.value as f64),
            bandwidth(self.sustained.value)
        )
    }
}

impl Figures<'_> {
    /// Burst that the cache absorbs, if it is surely faster than the rate after it.
    pub(crate) fn burst(&self) -> Option<Burst> {
        let found = self.write_cache().ok()?;
        let (absorbed, taken) = (found.absorbed_bytes?, found.absorbing_bytes_per_s?);
        let sustained = self.write_bandwidth_behind_cache().ok()?.value;
        let burst = Burst { block_bytes: found.block_bytes, absorbed, taken, sustained };
        (taken.low > FASTER_MIN * sustained.high).then_some(burst)
    }

    pub(crate) fn write_cache(&self) -> Result<&WriteCacheFindings, MissingFigure> {
        let found = self.profile.experiments.write_cache.as_ref();
        found.map(|conducted| &conducted.findings).ok_or(MISSING)
    }

    /// Bandwidth of random writes after the cache is full.
    pub(crate) fn write_bandwidth_behind_cache(&self) -> Result<Figure, MissingFigure> {
        let found = self.write_cache()?;
        let sustained = found.absorbed_bytes.and(found.sustained_bytes_per_s).ok_or(MISSING)?;
        let says =
            format!("random writes continue at {} once the cache is full", bounded(&sustained, bandwidth));
        Ok(Figure::new("write_bandwidth_behind_cache_bytes_per_s", sustained, says))
    }

    /// Time of a flush right after a burst that the cache absorbed.
    pub(crate) fn flush_of_full_cache(&self) -> Result<Figure, MissingFigure> {
        let took = self.write_cache()?.flush_of_full_cache_ns.ok_or(MISSING)?;
        let span = self.within_noise(took as f64);
        Ok(Figure::new(
            "flush_of_full_cache_ns",
            span,
            format!("a flush after them takes {}", bounded(&span, time)),
        ))
    }

    /// Returns true if the kernel reports a volatile write cache, and `None` if it reports nothing.
    pub(crate) fn cache_is_volatile(&self) -> Option<bool> {
        self.queue().ok()?.write_cache.as_deref().map(|kind| kind == "write back")
    }
}
