//! Use of a profile's batches: the time to fill and drain a queue, and corrected costs of full
//! queues.
//!
//! A cell is measured in slices not much longer than the latency at a deep queue. If some requests
//! take several times as long as most, as in an array whose drives have queues of their own, a
//! slice misses too many of the slow ones. A long batch waits for all of them. So its time beyond
//! that of a batch of a single queue corrects the cells.

use std::collections::BTreeMap;

use nandle_profile::{Batch, DeviceProfile};
use nandle_reads::{BatchCost, Estimate, RequestCost};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Standard errors in an interval of 95 % and of 90 %.
const OF_95: f64 = 1.96;
const OF_90: f64 = 1.645;

pub(crate) struct Batches {
    /// Batches of requests sent at once, and long batches.
    at_once: Vec<Measured>,
    long: Vec<Measured>,
}

/// Time of a batch, as the mean of its logarithm.
#[derive(Debug, Clone, Copy)]
struct Measured {
    request_bytes: u64,
    requests: u64,
    depth: u32,
    log_seconds: f64,
    runs: f64,
    /// Standard deviation of the logarithm over runs.
    deviation: f64,
}

impl Batches {
    pub(crate) fn of(profile: &DeviceProfile) -> Self {
        let is_usable = |batch: &&Batch| {
            batch.block_bytes > 0
                && batch.requests > 0
                && batch.queue_depth > 0
                && !batch.elapsed_ns.is_empty()
                && !batch.elapsed_ns.contains(&0)
        };
        let usable = || profile.batches.iter().filter(is_usable);
        let Some(deviations) = Deviations::of(usable()) else {
            return Self { at_once: Vec::new(), long: Vec::new() };
        };
        let measured = |batch: &Batch| Measured {
            request_bytes: batch.block_bytes,
            requests: batch.requests,
            depth: batch.queue_depth,
            log_seconds: mean(&logarithms(batch)),
            runs: batch.elapsed_ns.len() as f64,
            deviation: deviations.at(batch.requests),
        };
        let (at_once, mut long): (Vec<_>, Vec<_>) =
            usable().map(measured).partition(|batch| batch.requests <= u64::from(batch.depth));
        long.sort_by_key(|batch| batch.request_bytes);
        Self { at_once, long }
    }

    pub(crate) fn costs(&self) -> Vec<BatchCost> {
        let cost = |batch: &Measured| {
            let value = batch.log_seconds.exp();
            let far = (OF_90 * batch.deviation * (1.0 + 1.0 / batch.runs).sqrt()).exp();
            BatchCost {
                request_bytes: batch.request_bytes,
                requests: u32::try_from(batch.requests).unwrap_or(u32::MAX),
                seconds: Estimate { value, low: value / far, high: value * far },
            }
        };
        self.at_once.iter().map(cost).collect()
    }

    /// Corrects random requests by the long batches. The correction is zero at depth 1, where a
    /// slice has no ends, and grows with the depth.
    pub(crate) fn correct(&self, random: &mut [RequestCost]) {
        let corrections: Vec<Correction> =
            self.long.iter().filter_map(|long| self.correction(long, random)).collect();
        for cost in random {
            let Some(correction) = Correction::at(&corrections, cost.request_bytes) else { continue };
            let share = if correction.depth > 1 {
                (f64::from(cost.depth).ln() / f64::from(correction.depth).ln()).min(1.0)
            } else {
                1.0
            };
            let factor = (correction.log_factor * share).exp();
            let wider = (correction.log_wider * share).exp();
            cost.seconds = Estimate {
                value: cost.seconds.value * factor,
                low: cost.seconds.low * factor / wider,
                high: cost.seconds.high * factor * wider,
            };
        }
    }

    /// Returns the correction from a long batch to the cell of its size and depth. Each is weighted
    /// by its precision. If they differ by more than that allows, both precisions are lowered.
    fn correction(&self, long: &Measured, random: &[RequestCost]) -> Option<Correction> {
        let short = self.at_once.iter().find(|batch| {
            (batch.request_bytes, batch.requests) == (long.request_bytes, u64::from(long.depth))
        })?;
        let cell = random
            .iter()
            .find(|cost| (cost.request_bytes, cost.depth) == (long.request_bytes, long.depth))?;
        let (of_long, of_short) = (long.log_seconds.exp(), short.log_seconds.exp());
        let seconds = (of_long - of_short) / (long.requests.checked_sub(short.requests)? as f64);
        let error = (of_long * long.deviation / long.runs.sqrt())
            .hypot(of_short * short.deviation / short.runs.sqrt())
            / (of_long - of_short);
        if !(seconds > 0.0 && error.is_finite()) {
            return None;
        }
        let of_cell = (cell.seconds.high / cell.seconds.low).ln() / (2.0 * OF_95);
        let (error, of_cell) = (error.max(LEAST_ERROR), of_cell.max(LEAST_ERROR));
        let weight = of_cell.powi(2) / (error.powi(2) + of_cell.powi(2));
        let differ = (seconds / cell.seconds.value).ln();
        let surprise = (differ.abs() / error.hypot(of_cell) - 1.0).max(0.0);
        Some(Correction {
            request_bytes: long.request_bytes,
            depth: long.depth,
            log_factor: differ * weight,
            log_wider: surprise * error.min(of_cell),
        })
    }
}

/// Lower limit on the error of a measurement.
const LEAST_ERROR: f64 = 0.002;

#[derive(Debug, Clone, Copy)]
struct Correction {
    request_bytes: u64,
    depth: u32,
    log_factor: f64,
    log_wider: f64,
}

impl Correction {
    /// Interpolates for a size between two measured ones, by their logarithms. Beyond them the
    /// nearest correction holds.
    fn at(corrections: &[Self], request_bytes: u64) -> Option<Self> {
        let next = corrections.partition_point(|one| one.request_bytes < request_bytes);
        let (before, after) =
            (next.checked_sub(1).and_then(|index| corrections.get(index)), corrections.get(next));
        let (Some(before), Some(after)) = (before, after) else { return before.or(after).copied() };
        let log = |bytes: u64| (bytes as f64).ln();
        let share = (log(request_bytes) - log(before.request_bytes))
            / (log(after.request_bytes) - log(before.request_bytes));
        let between = |before: f64, after: f64| before + (after - before) * share;
        Some(Self {
            request_bytes,
            depth: before.depth.max(after.depth),
            log_factor: between(before.log_factor, after.log_factor),
            log_wider: between(before.log_wider, after.log_wider),
        })
    }
}

/// Degrees of freedom from which a spread is reliable.
const DEGREES_ENOUGH: f64 = 3.0;

/// Standard errors in an interval of 90 % with few degrees of freedom.
fn student_90(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |student| student.inverse_cdf(0.95))
}

/// Spread of repeated batches by their number of requests: larger batches vary less.
struct Deviations {
    /// Sum of squares and degrees of freedom.
    by_requests: BTreeMap<u64, (f64, f64)>,
}

impl Deviations {
    /// Returns `None` if no batch was measured more than once: without a spread, batches can't be
    /// weighted against cells.
    fn of<'a>(batches: impl Iterator<Item = &'a Batch>) -> Option<Self> {
        let mut by_requests: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for batch in batches {
            let logarithms = logarithms(batch);
            let mean = mean(&logarithms);
            let (squares, degrees) = by_requests.entry(batch.requests.ilog2().into()).or_default();
            *squares += logarithms.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
            *degrees += logarithms.len() as f64 - 1.0;
        }
        let deviations = Self { by_requests };
        (deviations.all().1 > 0.0).then_some(deviations)
    }

    fn all(&self) -> (f64, f64) {
        self.by_requests.values().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Spread of batches of this size, or of all batches if there are too few. Widened by Student's
    /// distribution for the number of runs.
    fn at(&self, requests: u64) -> f64 {
        let own = self.by_requests.get(&requests.ilog2().into()).copied();
        let all = self.all();
        let (squares, degrees) = own.filter(|(_, degrees)| *degrees >= DEGREES_ENOUGH).unwrap_or(all);
        (squares / degrees).sqrt() * student_90(degrees) / OF_90
    }
}

fn logarithms(batch: &Batch) -> Vec<f64> {
    batch.elapsed_ns.iter().map(|elapsed| (*elapsed as f64 * 1e-9).ln()).collect()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}
