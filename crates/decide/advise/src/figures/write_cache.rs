use nandle_profile::experiments::WriteCacheFindings;

use super::Figures;
use super::words::{bandwidth, bounded, time};
use super::writes::PROBE_WRITES;
use crate::settings::{Figure, MissingFigure};

const MISSING: MissingFigure = MissingFigure { needs: "what the write cache absorbs", how: PROBE_WRITES };

impl Figures<'_> {
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
