//! How far the figures can be relied on, and what a first reading costs.

use nandle_profile::MeasuredCell;
use nandle_units::{counted, format_bytes};

use super::Figures;
use super::words::{bounded, number, time};
use crate::settings::Figure;

impl Figures<'_> {
    /// Reads that failed, or brought wrong contents; `None` when none did.
    pub(crate) fn failed_reads(&self) -> Option<Figure> {
        let errors = self.profile.conditions.errors;
        let says =
            format!("{} failed, or brought other contents than had been written", counted(errors, "read"));
        (errors > 0).then(|| Figure::stated("failed_reads", errors as f64, says))
    }

    /// How far equal slices of the reference cell were apart.
    pub(crate) fn variation(&self) -> Option<Figure> {
        let variation = self.profile.conditions.reference.as_ref()?.variation;
        let says = format!("equal measurements differ by {:.0} % (standard deviation)", 100.0 * variation);
        Some(Figure::stated("variation_share", variation, says))
    }

    /// Blocks read for the first time after they were written, by the same read again.
    pub(crate) fn first_touch(&self) -> Option<Figure> {
        let touch = self.profile.first_touch.as_ref()?;
        let says = format!(
            "blocks that are read for the first time give {} of the bandwidth of reading them again",
            bounded(&touch.ratio, number)
        );
        Some(Figure::new("first_by_again_ratio", touch.ratio, says))
    }

    /// The 99th percentile of random reads one at a time by their median, of the size nearest to `block_bytes` that has both.
    pub(crate) fn read_tail_ratio(&self, block_bytes: u64) -> Option<Figure> {
        let alone = self.read_cells("random").filter(|measured| measured.cell.queue_depth == 1);
        let both = alone.filter_map(|MeasuredCell { cell, .. }| {
            Some((cell.block_bytes, cell.latency_ns.p50? as f64, cell.latency_ns.p99? as f64))
        });
        let (bytes, p50, p99) = both.min_by_key(|(bytes, ..)| bytes.abs_diff(block_bytes))?;
        let says = format!(
            "99 % of random reads of {} take at most {}, half of them {}",
            format_bytes(bytes),
            time(p99),
            time(p50)
        );
        (p50 > 0.0).then(|| Figure::stated("read_p99_by_median_ratio", p99 / p50, says))
    }
}
