//! Measurement of slices of cells on one lane, including the reference cell.

use std::collections::BTreeMap;

use nandle_io::Nanos;
use nandle_profile::{OperationKind, ReferenceCell, ReferenceSlice};

use super::CellKey;
use super::estimate::{Slice, median};
use super::pace::correct_pace;
use crate::load::{Cancel, ClosedLoop, Contents, Counting, Lane, LoadError, Measurement, Refill, Stop, Work};
use crate::pattern::{Area, Sequential};

/// Requests before a device has recognised a pattern.
const FIRST_REQUESTS: u64 = 3;
/// Reference slices on either side that define the pace.
const PACE_REACH: usize = 2;

/// Block size and queue depth of the initial pass over the whole area.
const TOUCH_BLOCK_BYTES: u64 = 1 << 20;
const TOUCH_QUEUE_DEPTH: u32 = 8;

/// Area and limits of the reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadArea {
    pub(super) area_bytes: u64,
    pub(super) contents: Option<Contents>,
    pub(super) seed: u64,
    pub(super) outstanding_bytes_max: u64,
}

impl ReadArea {
    /// Queue depth up to `wanted` within the limit of outstanding bytes; `None` if a single block
    /// exceeds it.
    pub(super) fn depth_of(&self, block_bytes: u64, wanted: u32) -> Option<u32> {
        let most = self.outstanding_bytes_max / block_bytes.max(1);
        let depth = wanted.min(u32::try_from(most).unwrap_or(u32::MAX));
        (depth > 0).then_some(depth)
    }
}

/// Slices of one cell. Their measurements are summed at once, since a histogram per slice would use
/// more and more memory.
#[derive(Default)]
struct RawCell {
    slices: Vec<RawSlice>,
    sum: Measurement,
}

struct RawSlice {
    began: Nanos,
    bandwidth_bytes_per_s: f64,
    elapsed: Nanos,
}

/// Observations beyond a quantile that make it reliable.
const OBSERVATIONS_BEYOND: u64 = 10;

/// Latency quantile of one cell.
#[derive(Debug, Clone, Copy)]
pub(super) enum Quantile {
    Median,
    /// The 99th percentile.
    Tail,
}

/// Slices measured so far.
pub(super) struct Slicer<'a> {
    pub(super) lane: &'a mut Lane,
    pub(super) area: ReadArea,
    cancel: &'a Cancel,
    reference: CellKey,
    /// Start time and bandwidth of each reference slice.
    reference_series: Vec<(Nanos, f64)>,
    raw: BTreeMap<CellKey, RawCell>,
    /// Target duration of a slice.
    pub(super) slice_time: Nanos,
    count: u64,
    pub(super) errors: u64,
    pub(super) first_error: Option<String>,
}

impl<'a> Slicer<'a> {
    pub(super) fn new(
        lane: &'a mut Lane,
        area: ReadArea,
        reference: CellKey,
        slice_time: Nanos,
        cancel: &'a Cancel,
    ) -> Self {
        Self {
            slice_time,
            lane,
            area,
            cancel,
            reference,
            reference_series: Vec::new(),
            raw: BTreeMap::new(),
            count: 0,
            errors: 0,
            first_error: None,
        }
    }

    pub(super) fn now(&mut self) -> Nanos {
        self.lane.io().now()
    }

    /// Reference cell, which shows the drift.
    pub(super) fn reference_key(&self) -> CellKey {
        self.reference
    }

    /// Returns true if the last reference slice is at least `every` old.
    pub(super) fn is_reference_due(&mut self, every: Nanos) -> bool {
        let now = self.now();
        self.reference_series.last().is_none_or(|(began, _)| now.since(*began) >= every)
    }

    /// Measures one slice of a cell.
    pub(super) fn measure(&mut self, key: CellKey) -> Result<(), LoadError> {
        let began = self.now();
        let measurement = self.slice(key)?;
        let (bandwidth_bytes_per_s, elapsed) = (measurement.bandwidth_bytes_per_s(), measurement.elapsed);
        let cell = self.raw.entry(key).or_default();
        cell.slices.push(RawSlice { began, bandwidth_bytes_per_s, elapsed });
        cell.sum.extend(&measurement);
        // Slices of a cell are seconds apart, so their seconds aren't a time series.
        cell.sum.seconds.clear();
        Ok(())
    }

    /// Measures one slice of the reference cell.
    pub(super) fn measure_reference(&mut self) -> Result<(), LoadError> {
        self.measure(self.reference)?;
        let last = self.raw.get(&self.reference).and_then(|cell| cell.slices.last());
        self.reference_series.extend(last.map(|slice| (slice.began, slice.bandwidth_bytes_per_s)));
        Ok(())
    }

    fn slice(&mut self, key: CellKey) -> Result<Measurement, LoadError> {
        let counting = Counting::Window { warm_up_requests: u64::from(key.queue_depth) + FIRST_REQUESTS };
        self.run(key, counting, Stop::after(self.slice_time))
    }

    /// Time of `requests` requests of a cell on the idle device, from first submission to last
    /// completion; `None` if one failed.
    pub(super) fn batch(&mut self, key: CellKey, requests: u64) -> Result<Option<Nanos>, LoadError> {
        let stop = Stop::after_bytes(requests.saturating_mul(key.block_bytes));
        match self.run(key, Counting::Whole, stop) {
            Ok(measurement) => {
                Ok((measurement.failed + measurement.damaged == 0).then_some(measurement.elapsed))
            }
            Err(LoadError::AllFailed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn run(&mut self, key: CellKey, counting: Counting, stop: Stop) -> Result<Measurement, LoadError> {
        self.count += 1;
        let spec = key.spec();
        let block_bytes = key.block_bytes;
        let area = Area::new(0, self.area.area_bytes, block_bytes).ok_or_else(|| LoadError::Block {
            block_bytes,
            reason: "the area is smaller than that".into(),
        })?;
        let seed = self.area.seed.wrapping_add(self.count.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let work = Work {
            pattern: spec.pattern.start(area, key.group_blocks, seed),
            block_bytes,
            operation: spec.operation,
            contents: self.area.contents,
            seed,
        };
        let run = ClosedLoop { queue_depth: key.queue_depth, refill: Refill::Exact, counting, stop };
        let measurement = run.run(self.lane, work, self.cancel)?;
        self.errors += measurement.failed + measurement.damaged;
        if self.first_error.is_none() {
            self.first_error.clone_from(&measurement.first_error);
        }
        Ok(measurement)
    }

    /// Best bandwidth of any slice of the given cells.
    pub(super) fn fastest_of(&self, keys: std::ops::Range<CellKey>) -> Option<f64> {
        let slices = self.raw.range(keys).flat_map(|(_, cell)| &cell.slices);
        slices.map(|slice| slice.bandwidth_bytes_per_s).reduce(f64::max)
    }

    /// Reads the area once from start to end, until `until`. Returns true if it reached the end.
    pub(super) fn touch(&mut self, until: Nanos) -> Result<bool, LoadError> {
        let block_bytes = self.touch_block_bytes();
        let area = Area::new(0, self.area.area_bytes, block_bytes);
        let queue_depth = self.area.depth_of(block_bytes, TOUCH_QUEUE_DEPTH);
        let (Some(area), Some(queue_depth)) = (area, queue_depth) else { return Ok(false) };
        let work = Work {
            pattern: Box::new(Sequential::from_start(area)),
            block_bytes,
            operation: OperationKind::Read,
            contents: self.area.contents,
            seed: self.area.seed,
        };
        let stop = Stop { bytes: Some(self.area.area_bytes), time: Some(until.since(self.now())) };
        let run = ClosedLoop { queue_depth, refill: Refill::Batched, counting: Counting::Whole, stop };
        let measurement = run.run(self.lane, work, self.cancel)?;
        Ok(measurement.bytes + block_bytes > self.area.area_bytes)
    }

    /// Block size of that pass: a power of two, or the whole of a small area.
    fn touch_block_bytes(&self) -> u64 {
        let most = self.area.outstanding_bytes_max;
        let power = most.checked_ilog2().map_or(0, |power| 1 << power);
        TOUCH_BLOCK_BYTES.min(power).min(self.area.area_bytes)
    }

    /// Returns true if a cell has enough observations for a quantile.
    pub(super) fn has(&self, quantile: Quantile, key: CellKey) -> bool {
        let latency = self.raw.get(&key).map(|cell| cell.sum.latency_ns.summary());
        latency.is_some_and(|latency| match quantile {
            Quantile::Median => latency.p50.is_some(),
            Quantile::Tail => latency.p99.is_some(),
        })
    }

    /// Returns true if `slices` more slices like the previous ones would give enough observations.
    pub(super) fn may_have(&self, quantile: Quantile, key: CellKey, slices: usize) -> bool {
        let Some(cell) = self.raw.get(&key) else { return true };
        let requests = cell.sum.latency_ns.len();
        let of_one = requests / (cell.slices.len() as u64).max(1);
        let in_all = requests + of_one * slices as u64;
        in_all
            >= match quantile {
                Quantile::Median => 2 * OBSERVATIONS_BEYOND,
                Quantile::Tail => 100 * OBSERVATIONS_BEYOND,
            }
    }

    pub(super) fn slice_count(&self, key: CellKey) -> usize {
        self.raw.get(&key).map_or(0, |cell| cell.slices.len())
    }

    /// Sum of each cell's slices.
    pub(super) fn sums(&self) -> impl Iterator<Item = (CellKey, &Measurement)> {
        self.raw.iter().map(|(key, cell)| (*key, &cell.sum))
    }

    /// All cells with their slices, each with the device's pace at its time.
    pub(super) fn cells(&self, follow: bool) -> BTreeMap<CellKey, Vec<Slice>> {
        let typical = median(self.reference_series.iter().map(|(_, bandwidth)| *bandwidth));
        let slice = |slice: &RawSlice| Slice {
            bandwidth_bytes_per_s: slice.bandwidth_bytes_per_s,
            elapsed_ns: slice.elapsed.0 as f64,
            pace: if follow { self.pace_at(slice.began, typical) } else { 1.0 },
        };
        // A slice without a counted success has no bandwidth.
        let counted = |cell: &RawCell| {
            cell.slices.iter().filter(|slice| slice.bandwidth_bytes_per_s > 0.0).map(slice).collect()
        };
        correct_pace(self.raw.iter().map(|(key, cell)| (*key, counted(cell))).collect(), self.reference)
    }

    /// Median of the reference slices around a time, relative to the typical one.
    fn pace_at(&self, time: Nanos, typical: f64) -> f64 {
        let series = &self.reference_series;
        if series.len() < 2 * PACE_REACH + 1 || typical <= 0.0 {
            return 1.0;
        }
        let after = series.partition_point(|(began, _)| *began < time);
        let first = after.saturating_sub(PACE_REACH).min(series.len() - (2 * PACE_REACH + 1));
        let near = series.iter().skip(first).take(2 * PACE_REACH + 1).map(|(_, bandwidth)| *bandwidth);
        let pace = median(near) / typical;
        if pace > 0.0 { pace } else { 1.0 }
    }

    /// Steadiness of the reference cell.
    pub(super) fn reference(&self, began: Nanos) -> Option<ReferenceCell> {
        let bandwidths = || self.reference_series.iter().map(|(_, bandwidth)| *bandwidth);
        let count = self.reference_series.len();
        let mean = bandwidths().sum::<f64>() / count.max(1) as f64;
        if count < 2 || mean <= 0.0 {
            return None;
        }
        let variance =
            bandwidths().map(|bandwidth| (bandwidth - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
        Some(ReferenceCell {
            block_bytes: self.reference.block_bytes,
            queue_depth: self.reference.queue_depth,
            slices: u32::try_from(count).unwrap_or(u32::MAX),
            bandwidth_bytes_per_s: median(bandwidths()),
            variation: variance.sqrt() / mean,
            series: self
                .reference_series
                .iter()
                .map(|(time, bandwidth)| ReferenceSlice {
                    began_ns: time.since(began).0,
                    bandwidth_bytes_per_s: *bandwidth,
                })
                .collect(),
        })
    }
}
