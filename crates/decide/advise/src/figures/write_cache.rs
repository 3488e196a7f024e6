use nandle_profile::Interval;
use nandle_profile::experiments::WriteCacheFindings;
use nandle_units::format_bytes;

use super::Figures;
use super::words::{bandwidth, bounded, bytes, time};
use super::writes::PROBE_WRITES;
use crate::settings::{Figure, MissingFigure};

const MISSING: MissingFigure = MissingFigure { needs: "what the write cache absorbs", how: PROBE_WRITES };

/// By less than this a burst is no faster than what comes after it.
const FASTER_MIN: f64 = 1.25;

/// Random writes that a cache takes in faster than the device goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Burst {
    /// Bytes of one write.
    pub(crate) block_bytes: u64,
    /// Bytes until it is full.
    pub(crate) absorbed: Interval<u64>,
    /// Bandwidth until then.
    pub(crate) taken: Interval<f64>,
    /// Bandwidth from then on.
    pub(crate) sustained: Interval<f64>,
}

impl Burst {
    /// The three figures in a clause. Without the size of a write no reader can tell them from others of random writing.
    pub(crate) fn clause(&self) -> String {
        format!(
            "random writes of {} are taken in at {} up to {}, then at {}",
            format_bytes(self.block_bytes),
            bandwidth(self.taken.value),
            bytes(self.absorbed.value as f64),
            bandwidth(self.sustained.value)
        )
    }
}

impl Figures<'_> {
    /// What the cache takes in, where that is surely faster than what comes after it.
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

    /// Bandwidth of random writing once the cache is full.
    pub(crate) fn write_bandwidth_behind_cache(&self) -> Result<Figure, MissingFigure> {
        let found = self.write_cache()?;
        let sustained = found.absorbed_bytes.and(found.sustained_bytes_per_s).ok_or(MISSING)?;
        let says =
            format!("random writes go on at {} once the cache is full", bounded(&sustained, bandwidth));
        Ok(Figure::new("write_bandwidth_behind_cache_bytes_per_s", sustained, says))
    }

    /// Time of a flush right after writing that the cache took in.
    pub(crate) fn flush_of_full_cache(&self) -> Result<Figure, MissingFigure> {
        let took = self.write_cache()?.flush_of_full_cache_ns.ok_or(MISSING)?;
        let span = self.within_noise(took as f64);
        Ok(Figure::new(
            "flush_of_full_cache_ns",
            span,
            format!("a flush behind it takes {}", bounded(&span, time)),
        ))
    }

    /// Whether the kernel takes the device's cache for one that a power cut empties; `None` where it says nothing.
    pub(crate) fn cache_is_volatile(&self) -> Option<bool> {
        self.queue().ok()?.write_cache.as_deref().map(|kind| kind == "write back")
    }
}
