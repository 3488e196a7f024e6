//! Findings from slices: estimates, fitted curve, derived parameters, and missing parts.

use std::collections::BTreeMap;

use nandle_io::Nanos;
use nandle_profile::{Derived, FirstTouch, FittedCell, Interval, MeasuredCell, ReferenceCell, SkippedCell};
use nandle_units::format_bytes;

use super::batches::found;
use super::{Findings, ProbeOptions, Search};
use crate::load::{LoadError, Measurement};
use crate::search::derive::derive;
use crate::search::estimate::Estimate;
use crate::search::fit::is_random;
use crate::search::read_model::ReadModel;
use crate::search::{CellKey, Grid, Surfaces};
use crate::sweep::to_cell;

/// Relative standard deviation of equal slices above which a profile is partial.
const UNSTEADY_VARIATION: f64 = 0.3;

impl Search<'_> {
    pub(super) fn conclude(mut self, options: &ProbeOptions, first_touch: Option<FirstTouch>) -> Findings {
        let cells = self.cells();
        let model = ReadModel::of(&cells, &self.grid, &self.without);
        let surfaces = Surfaces::new(&model, options.seed);
        // Cells with an interpolated figure aren't missing, even if the device is too slow to
        // measure them.
        self.unaffordable.retain(|key, _| !model.cells.contains_key(key));
        let latency_ns = smallest_block_latency(self.slicer.sums());
        let derived = derive(&surfaces, &self.grid, options.stated_split_bytes, latency_ns);
        self.report_missing(&derived, first_touch.as_ref(), options);
        let reference = self.slicer.reference(self.began);
        self.judge_steadiness(reference.as_ref());
        let measured_cells =
            self.slicer.sums().filter_map(|(key, sum)| measured(key, sum, &model, &surfaces)).collect();
        let errors = self.slicer.errors;
        let first_error = self.slicer.first_error.clone();
        let failed = first_error.map(|first| LoadError::SomeFailed { requests: errors, first });
        self.partial.extend(failed.iter().map(|error| format!("while reading, {error}")));
        let elapsed = self.slicer.now().since(self.began);
        Findings {
            partial: self.partial,
            ended_by: None,
            failed,
            cells: measured_cells,
            batches: found(&self.batches),
            fitted_cells: fitted(&model, &surfaces),
            fit: model.fit(),
            derived,
            first_touch,
            reference,
            skipped: skipped(&self.grid, &self.unaffordable),
            rounds: self.rounds,
            errors,
            elapsed,
            remarks: self.remarks,
        }
    }

    /// Marks the findings partial if the device's speed fluctuated too much for a profile.
    fn judge_steadiness(&mut self, reference: Option<&ReferenceCell>) {
        if let Some(reference) = reference.filter(|reference| reference.variation > UNSTEADY_VARIATION) {
            self.partial.push(format!(
                "repeat slices vary by {:.0} % (standard deviation): other load on the machine or the device \
                 disturbs the figures; probe again when it is idle",
                reference.variation * 100.0
            ));
        }
    }

    fn report_missing(&mut self, derived: &Derived, touch: Option<&FirstTouch>, options: &ProbeOptions) {
        let mut missing = Vec::new();
        let mut check = |known: bool, what: &str| {
            if !known {
                missing.push(what.to_owned());
            }
        };
        check(derived.efficient_block_bytes.is_some(), "the efficient block size");
        check(!derived.saturating_queue_depth.is_empty(), "the saturating queue depths");
        check(derived.sequential_bandwidth_bytes_per_s_max.is_some(), "sequential bandwidth");
        check(!derived.group_penalty.is_empty(), "the group penalty");
        check(derived.flexible_io.is_some(), "the flexible I/O unit");
        check(touch.is_some() || !options.freshly_written, "first touch against re-read");
        if !missing.is_empty() {
            self.partial.push(format!("not concluded: {}; give a larger --budget", missing.join(", ")));
        }
    }
}

/// Median latency of the smallest block at depth 1, if there are enough observations.
fn smallest_block_latency<'a>(mut sums: impl Iterator<Item = (CellKey, &'a Measurement)>) -> Option<u64> {
    let (_, sum) = sums.find(|(key, _)| is_random(key) && key.queue_depth == 1)?;
    sum.latency_ns.summary().p50
}

fn measured(key: CellKey, sum: &Measurement, model: &ReadModel, surfaces: &Surfaces) -> Option<MeasuredCell> {
    let steady: Interval<f64> = surfaces.interval(|surface| surface.bandwidth(key))?;
    Some(MeasuredCell {
        cell: to_cell(&key.spec(), sum, None),
        slices: u32::try_from(model.cells.get(&key)?.slices).unwrap_or(u32::MAX),
        steady_bandwidth_bytes_per_s: steady,
    })
}

fn fitted(model: &ReadModel, surfaces: &Surfaces) -> Vec<FittedCell> {
    let unmeasured = model.cells.iter().filter(|(_, estimate)| estimate.slices == 0);
    let cell = |(key, _): (&CellKey, &Estimate)| {
        Some(FittedCell {
            block_bytes: key.block_bytes,
            queue_depth: key.queue_depth,
            bandwidth_bytes_per_s: surfaces.interval(|surface| surface.bandwidth(*key))?,
        })
    };
    unmeasured.filter_map(cell).collect()
}

fn skipped(grid: &Grid, unaffordable: &BTreeMap<CellKey, Nanos>) -> Vec<SkippedCell> {
    let too_slow = unaffordable.iter().map(|(key, ramp)| SkippedCell {
        pattern: key.spec().pattern.to_string(),
        block_bytes: key.block_bytes,
        group_blocks: key.group_blocks,
        queue_depth: key.queue_depth,
        reason: format!(
            "filling the queue with {} would take {:.1} s on this device",
            format_bytes(key.spec().outstanding_bytes()),
            ramp.as_secs_f64()
        ),
    });
    grid.skipped().into_iter().chain(too_slow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_latency_needs_ten_observations_beyond_it() {
        let latency = |requests: u64| {
            let mut sum = Measurement::new();
            sum.requests = requests;
            (0..requests).for_each(|_| sum.latency_ns.record(5_000_000));
            smallest_block_latency(std::iter::once((CellKey::random(4096, 1), &sum)))
        };
        assert_eq!(latency(19), None);
        assert!(latency(20).is_some());
    }
}
