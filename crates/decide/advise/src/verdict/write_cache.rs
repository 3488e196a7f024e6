//! Detection of a cache that completes writes before they reach the medium.

use nandle_units::format_bytes;

use super::finding::capitalised;
use crate::figures::Figures;
use crate::figures::words::{bytes, time};
use crate::settings::Figure;

/// Evidence for or against a write cache.
pub(super) struct WriteCacheEvidence {
    /// True if writes complete sooner than the medium allows.
    pub(super) by_cache: bool,
    /// Reasons from the measurements, in sentences.
    pub(super) says: String,
}

/// Returns `None` if no relevant figure was measured.
pub(super) fn write_cache_evidence(figures: &Figures<'_>) -> Option<WriteCacheEvidence> {
    let least_ns = figures.medium_write_ns_min();
    let medium =
        if figures.is_rotational() { "a seek of the arm" } else { "the programming of a flash page" };
    let commit = figures.commit().ok();
    let too_quick = commit.as_ref().filter(|commit| commit.value.high < least_ns).map(|commit| {
        format!(
            "A commit takes {}, less than {medium} ({}): a cache acknowledges even durable writes.",
            time(commit.value.value),
            time(least_ns)
        )
    });
    let sentences: Vec<String> = too_quick
        .or_else(|| quick_writes(figures, least_ns, medium))
        .into_iter()
        .chain(figures.sequential_writes_outrun_reads())
        .chain(burst(figures).or_else(|| absorbed(figures)))
        .collect();
    if !sentences.is_empty() {
        return Some(WriteCacheEvidence { by_cache: true, says: sentences.join(" ") });
    }
    let write = smallest_write(figures)?;
    let says = format!("{}, as long as its medium needs: no cache absorbs it.", capitalised(&write.says));
    Some(WriteCacheEvidence { by_cache: false, says })
}

/// Writes without a flush that complete sooner than the medium allows.
fn quick_writes(figures: &Figures<'_>, least_ns: f64, medium: &str) -> Option<String> {
    let write = smallest_write(figures).filter(|write| write.value.high < least_ns)?;
    let until = figures
        .commit()
        .map_or_else(|_| String::new(), |commit| format!(" A commit takes {}.", time(commit.value.value)));
    Some(format!(
        "{}, less than {medium} ({}): a cache absorbs it.{until}",
        capitalised(&write.says),
        time(least_ns)
    ))
}

/// Median time of the smallest random write at depth 1. A mean would include garbage collection.
fn smallest_write(figures: &Figures<'_>) -> Option<Figure> {
    let row = figures.random_writes_alone().min_by_key(|row| row.block_bytes)?;
    let median_ns = row.latency_ns.p50? as f64;
    let says =
        format!("a random write of {} takes {} (median)", format_bytes(row.block_bytes), time(median_ns));
    Some(Figure::stated("random_write_latency_ns", median_ns, says))
}

/// Burst that a cache absorbs faster than the rate after it.
fn burst(figures: &Figures<'_>) -> Option<String> {
    let burst = figures.burst()?;
    Some(format!("{}.", capitalised(&burst.clause())))
}

/// Capacity of a cache that is hardly faster than the medium.
fn absorbed(figures: &Figures<'_>) -> Option<String> {
    let absorbed = figures.write_cache().ok()?.absorbed_bytes?;
    Some(format!("A cache absorbs {} before the write rate changes.", bytes(absorbed.value as f64)))
}
