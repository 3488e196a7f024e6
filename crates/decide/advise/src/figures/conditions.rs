//! Reliability of the figures, and the cost of first reads.

use nandle_profile::MeasuredCell;
use nandle_units::{counted, format_bytes};

use super::Figures;
use super::words::{bounded, number, time};
use crate::settings::Figure;

impl Figures<'_> {
    /// Reads that failed or returned wrong data; `None` if there were none.
    pub(crate) fn failed_reads(&self) -> Option<Figure> {
        let errors = self.profile.conditions.errors;
        let says = format!("{} failed or returned wrong data", counted(errors, "read"));
        (errors > 0).then(|| Figure::stated("failed_reads", errors as f64, says))
    }

    /// Variation between repeat runs of the reference cell.
    pub(crate) fn variation(&self) -> Option<Figure> {
        let variation = self.profile.conditions.reference.as_ref()?.variation;
        let says = format!("repeat runs vary by {:.0} % (standard deviation)", 100.0 * variation);
        Some(Figure::stated("variation_share", variation, says))
    }

    /// Bandwidth of first reads after a write divided by the bandwidth of repeated reads.
    pub(crate) fn first_touch(&self) -> Option<Figure> {
        let touch = self.profile.first_touch.as_ref()?;
        let says = format!(
            "the first read of a block after a write gives {} of the bandwidth of later reads",
            bounded(&touch.ratio, number)
        );
        Some(Figure::new("first_by_again_ratio", touch.ratio, says))
    }

    /// 99th percentile of random reads at depth 1 divided by their median, for the size nearest to
    /// `block_bytes` that has both.
    pub(crate) fn read_tail_ratio(&self, block_bytes: u64) -> Option<Figure> {
        let alone = self.read_cells("random").filter(|measured| measured.cell.queue_depth == 1);
        let both = alone.filter_map(|MeasuredCell { cell, .. }| {
            Some((cell.block_bytes, cell.latency_ns.p50? as f64, cell.latency_ns.p99? as f64))
        });
        let (bytes, p50, p99) = both.min_by_key(|(bytes, ..)| bytes.abs_diff(block_bytes))?;
        let says = format!(
            "99 % of random reads of {} take at most {}, half of them at most {}",
            format_bytes(bytes),
            time(p99),
            time(p50)
        );
        (p50 > 0.0).then(|| Figure::stated("read_p99_by_median_ratio", p99 / p50, says))
    }
}
