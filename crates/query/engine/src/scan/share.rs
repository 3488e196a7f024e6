//! Reads of one partition of a scan.

use std::ops::Range;
use std::sync::Arc;

use nandle_reads::{Estimate, HostCosts, Plan, PlanOptions, Prediction, Pricing, ReadsError, Strategy, Want};

use super::pieces::Piece;
use super::processor::known_seconds;
use super::steps::Steps;
use crate::table::TableFiles;

/// Share of a partition's memory (1 / n) for reads; the decoder uses the rest.
const ARENAS_PART: u64 = 2;
/// Maximum step, as a share (1 / n) of the memory for copies.
const STEP_PART: u64 = 8;
/// Steps that were read and not yet taken.
const STEPS_ON_THEIR_WAY: u64 = 2;
/// Time to open a row group without reads.
const LEAST_SECONDS: f64 = 1e-9;
/// Minimum memory for reads, below which plans are inefficient.
const ARENAS_BYTES_MIN: u64 = 1 << 20;

/// Pieces of a partition, and the plan of their reads.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) pieces: Vec<Piece>,
    /// Steps of each piece.
    pub(crate) steps: Vec<Range<u32>>,
    pub(crate) plan: Arc<Plan>,
    /// Memory for steps handed over by the reading thread.
    pub(crate) copies_bytes: u64,
    /// Maximum memory that the decoder holds of a row group.
    held_bytes: u64,
    arenas_bytes: u64,
    pub(crate) prediction: Prediction,
}

impl Share {
    pub(crate) fn new(
        pieces: Vec<Piece>,
        files: &TableFiles,
        strategy: Strategy,
        memory_bytes: u64,
    ) -> Result<Self, ReadsError> {
        let arenas_bytes = (memory_bytes / ARENAS_PART).max(ARENAS_BYTES_MIN);
        let step_bytes = arenas_bytes / STEP_PART;
        let Steps { wants, of_piece } = Steps::new(&pieces, step_bytes);
        let plan = plan(&wants, files, &files.access.pricing, strategy, arenas_bytes)?;
        Ok(Self {
            copies_bytes: (step_bytes * STEPS_ON_THEIR_WAY).min(plan.wanted_bytes()),
            held_bytes: pieces.iter().map(Piece::wanted_bytes).max().unwrap_or_default(),
            arenas_bytes,
            prediction: plan.predict(HostCosts::default(), |_| 0.0),
            plan: Arc::new(plan),
            steps: of_piece,
            pieces,
        })
    }

    /// Time of the same reads on another device.
    pub(crate) fn device_seconds_on(
        &self,
        pricing: &Pricing,
        files: &TableFiles,
        strategy: Strategy,
    ) -> Result<f64, ReadsError> {
        let wants = Steps::new(&self.pieces, self.arenas_bytes / STEP_PART).wants;
        let plan = plan(&wants, files, pricing, strategy, self.arenas_bytes)?;
        Ok(plan.predict(HostCosts::default(), |_| 0.0).device_seconds.value)
    }

    /// Time with a device and a processor to itself, including known decoding times.
    pub(crate) fn seconds(&self, files: &TableFiles) -> Estimate {
        let of_piece = |(piece, steps): (&Piece, &Range<u32>)| {
            let seconds = known_seconds(files, piece).unwrap_or_default();
            let count = steps.end - steps.start;
            (0..count).map(move |_| seconds * (1.0 / f64::from(count)))
        };
        let steps: Vec<Estimate> = self.pieces.iter().zip(&self.steps).flat_map(of_piece).collect();
        let of_step = |figure: fn(&Estimate) -> f64| {
            let steps = &steps;
            move |step: u32| steps.get(step as usize).map_or(0.0, figure)
        };
        let predict =
            |figure: fn(&Estimate) -> f64| self.plan.predict(HostCosts::default(), of_step(figure)).seconds;
        Estimate {
            value: predict(|of| of.value).value,
            low: predict(|of| of.low).low,
            high: predict(|of| of.high).high,
        }
    }

    /// Memory of its reads, including the bytes held by the decoder.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let all_bytes = self.prediction.memory_bytes + self.copies_bytes + self.held_bytes;
        if self.plan.reads().is_empty() { 0 } else { all_bytes }
    }
}

/// Plans the reads. Whole groups may exceed the steps that want them; in this case the plan gets
/// the memory that it needs.
fn plan(
    wants: &[Want],
    files: &TableFiles,
    pricing: &Pricing,
    strategy: Strategy,
    arenas_bytes: u64,
) -> Result<Plan, ReadsError> {
    let files = files.plan_files();
    let plan = |memory_bytes| {
        let options = PlanOptions { strategy, ..PlanOptions::new(memory_bytes) };
        pricing.plan(wants.to_vec(), &files, options)
    };
    match plan(arenas_bytes) {
        Err(ReadsError::Memory { memory_bytes, .. }) => plan(memory_bytes),
        planned => planned,
    }
}

/// Predicted device time of each piece; includes decoding if that is known for all of them.
pub(crate) fn seconds(pieces: &[Piece], files: &TableFiles) -> Vec<f64> {
    let all_bytes: u64 = pieces.iter().map(Piece::wanted_bytes).sum();
    let of_byte = files.access.pricing.extent_seconds(all_bytes.max(1)) / all_bytes.max(1) as f64;
    let decoding: Option<Vec<Estimate>> = pieces.iter().map(|piece| known_seconds(files, piece)).collect();
    let decoding = decoding.unwrap_or_else(|| vec![Estimate::default(); pieces.len()]);
    let of_piece =
        |(piece, decoding): (&Piece, Estimate)| piece.wanted_bytes() as f64 * of_byte + decoding.value;
    pieces.iter().zip(decoding).map(of_piece).collect()
}

/// Distributes pieces among partitions: consecutive ones with equal total time, or in turns if the
/// most promising come first.
pub(crate) fn deal(
    pieces: Vec<Piece>,
    seconds: &[f64],
    partitions: usize,
    in_turns: bool,
) -> Vec<Vec<Piece>> {
    let partitions = partitions.max(1);
    if !in_turns {
        return deal_by(pieces, seconds, &vec![1.0; partitions]);
    }
    let mut shares = vec![Vec::new(); partitions];
    for (number, piece) in pieces.into_iter().enumerate() {
        if let Some(share) = shares.get_mut(number % partitions) {
            share.push(piece);
        }
    }
    shares
}

/// Distributes consecutive pieces by weight, in proportion to their time.
pub(crate) fn deal_by(pieces: Vec<Piece>, seconds: &[f64], weights: &[f64]) -> Vec<Vec<Piece>> {
    // A piece without reads takes some time as well.
    let seconds = seconds.iter().map(|seconds| seconds + LEAST_SECONDS);
    let all: f64 = seconds.clone().sum();
    let weight: f64 = weights.iter().sum();
    let mut shares = vec![Vec::new(); weights.len()];
    let (mut before, mut share, mut end) = (0.0, 0, weights.first().copied().unwrap_or_default() / weight);
    for (piece, seconds) in pieces.into_iter().zip(seconds) {
        let middle = (before + seconds / 2.0) / all;
        before += seconds;
        while middle >= end && share + 1 < weights.len() {
            share += 1;
            end += weights.get(share).copied().unwrap_or_default() / weight;
        }
        if let Some(share) = shares.get_mut(share) {
            share.push(piece);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use datafusion::datasource::listing::PartitionedFile;
    use nandle_columns::Place;

    use super::*;

    fn pieces(bytes: &[u64]) -> Vec<Piece> {
        let of = |bytes: &u64| Piece {
            file: PartitionedFile::new("a", 1),
            number: 0,
            ranges: std::iter::once(0..*bytes).collect(),
            rows: *bytes,
            place: Place::default(),
        };
        bytes.iter().map(of).collect()
    }

    fn dealt(bytes: &[u64], partitions: usize, in_turns: bool) -> Vec<Vec<u64>> {
        let seconds: Vec<f64> = bytes.iter().map(|bytes| *bytes as f64).collect();
        let shares = deal(pieces(bytes), &seconds, partitions, in_turns);
        shares.iter().map(|share| share.iter().map(|piece| piece.rows).collect()).collect()
    }

    #[test]
    fn partitions_take_equally_long() {
        assert_eq!(dealt(&[10, 10, 10, 10], 2, false), [[10, 10], [10, 10]]);
        assert_eq!(dealt(&[90, 10, 10, 70], 2, false), [vec![90], vec![10, 10, 70]]);
        assert_eq!(dealt(&[0, 0, 0], 3, false), [[0], [0], [0]]);
        assert_eq!(dealt(&[5], 3, false).concat(), [5]);
        assert_eq!(dealt(&[], 2, false), [[0; 0], [0; 0]]);
        assert_eq!(dealt(&[1, 2, 3], 2, true), [vec![1, 3], vec![2]]);
    }

    #[test]
    fn weights_are_parts_of_the_time() {
        let dealt = |weights: &[f64]| {
            let shares = deal_by(pieces(&[10; 8]), &[10.0; 8], weights);
            shares.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(dealt(&[1.0, 3.0]), [2, 6]);
        assert_eq!(dealt(&[3.0, 0.0, 1.0]), [6, 0, 2]);
        assert_eq!(dealt(&[0.5]), [8]);
    }
}
