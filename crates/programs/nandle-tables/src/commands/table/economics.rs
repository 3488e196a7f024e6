//! Derives figures from a table and its stored profile: cell size, break-even of fetching rows by
//! number, and whether merging runs pays.

use std::path::Path;

use nandle_columns::Manifest;
use nandle_reads::{Pricing, ReadCosts};
use nandle_terminal::words::{counted, seconds, thousands};
use nandle_units::format_bytes;
use serde::Serialize;

use crate::costs::{FoundProfile, costs_of, flexible_block_bytes};
use crate::error::CliError;

/// Share of a scan's time spent on jumps above which runs are merged.
const JUMPS_SHARE_MAX: f64 = 0.1;

/// Figures of a table on its device.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Economics {
    pub(super) flexible_block_bytes: u64,
    /// Number of rows whose fetch by number takes as long as scanning all columns.
    pub(super) break_even_rows: u64,
}

impl Economics {
    /// Derives the figures from the table's stored profile; `None` without a profile or rows, or if
    /// the profile lacks a block size.
    pub(super) fn of(
        directory: &Path,
        manifest: &Manifest,
        column_bytes: &[u64],
    ) -> Result<Option<Self>, CliError> {
        let (rows, scan_bytes) = (manifest.rows(), column_bytes.iter().sum::<u64>());
        if manifest.profile.is_none() || rows == 0 {
            return Ok(None);
        }
        let found = FoundProfile::read(&directory.join("profile.json"), directory)?.told();
        let Some(flexible_block_bytes) = flexible_block_bytes(&found.profile) else { return Ok(None) };
        let (costs, _) = costs_of(&found, None)?;
        // The columns of a row lie in different places.
        let fetches = pricing(&costs)?.break_even_fetches(flexible_block_bytes, scan_bytes);
        let break_even_rows = whole(fetches / column_bytes.len().max(1) as f64).min(rows);
        Ok(Some(Self { flexible_block_bytes, break_even_rows }))
    }

    pub(super) fn sentence(&self) -> String {
        format!(
            "A block of this device ({}) holds as many rows of a column as its last figure says: cells of fewer share blocks. Rows fetched by number, a block for each column, are quicker than a scan of all columns up to {}.",
            format_bytes(self.flexible_block_bytes),
            counted(self.break_even_rows, "row")
        )
    }
}

fn pricing(costs: &ReadCosts) -> Result<Pricing, CliError> {
    Pricing::new(costs.clone()).map_err(|error| CliError::failed(error.to_string()))
}

/// Rows whose values in a column of `column_bytes` fill a block; `None` if nothing is stored.
pub(super) fn block_rows(block_bytes: u64, column_bytes: u64, rows: u64) -> Option<u64> {
    (column_bytes > 0 && rows > 0)
        .then(|| whole((block_bytes as f64 * rows as f64 / column_bytes as f64).ceil()))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond the range becomes its end"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Decision on merging runs, with its figures.
#[derive(Debug, Clone, Serialize)]
pub(super) struct MergeRule {
    pub(super) runs: u64,
    /// Separate pieces of a column, now and after merging.
    pub(super) pieces_now: u64,
    pub(super) pieces_merged: u64,
    /// Mean bytes per column.
    pub(super) column_bytes: u64,
    pub(super) scan_now_s: f64,
    pub(super) scan_merged_s: f64,
    /// Share of a scan's time that merging saves.
    pub(super) jumps_share: f64,
    pub(super) is_worth_it: bool,
}

impl MergeRule {
    /// Assumes a column of mean size, read in one piece per row group.
    pub(super) fn of(manifest: &Manifest, costs: &ReadCosts) -> Result<Self, CliError> {
        let group_rows = manifest.layout.row_group_rows.max(1);
        let files = || manifest.runs.iter().flat_map(|run| &run.files);
        let pieces_now: u64 = files().map(|file| file.rows.div_ceil(group_rows)).sum();
        let pieces_merged = manifest.rows().div_ceil(group_rows).max(1).min(pieces_now.max(1));
        let bytes: u64 = files().map(|file| file.bytes).sum();
        let column_bytes = bytes / (manifest.schema.len() as u64).max(1);
        let pricing = pricing(costs)?;
        let scan =
            |pieces: u64| pricing.extent_seconds((column_bytes / pieces.max(1)).max(1)) * pieces as f64;
        let (scan_now_s, scan_merged_s) = (scan(pieces_now), scan(pieces_merged));
        let jumps_share = if scan_now_s > 0.0 { 1.0 - scan_merged_s / scan_now_s } else { 0.0 };
        let runs = manifest.runs.len() as u64;
        let is_worth_it = runs > 1 && jumps_share > JUMPS_SHARE_MAX;
        Ok(Self {
            runs,
            pieces_now,
            pieces_merged,
            column_bytes,
            scan_now_s,
            scan_merged_s,
            jumps_share,
            is_worth_it,
        })
    }

    pub(super) fn sentence(&self) -> String {
        let verdict = if self.is_worth_it { "they are merged" } else { "they stay (--always merges them)" };
        format!(
            "Rule: runs are merged when jumping between them takes more than {:.0} % of a scan. A column of {} lies in {} and would in {}: {} against {}, {:.1} % for jumps in {}; {verdict}.",
            JUMPS_SHARE_MAX * 100.0,
            format_bytes(self.column_bytes),
            counted(self.pieces_now, "piece"),
            thousands(self.pieces_merged as f64),
            seconds(self.scan_now_s),
            seconds(self.scan_merged_s),
            self.jumps_share * 100.0,
            counted(self.runs, "run")
        )
    }
}
