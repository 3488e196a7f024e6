//! At which share of jumps the faster of two devices changes, by playing the same leaves with more and more of them.

use nandle_flights::{turning_share, with_jumps};
use nandle_predict::{Player, PredictError};
use nandle_reads::PlanOptions;
use nandle_reads::recording::{RecordedQuery, Recording};
use serde::Serialize;

/// Shares of leaves that don't follow the one before.
const SHARES: [f64; 11] = [0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
/// So many leaves tell the times apart: at the least share above none 20 of them jump.
const LEAVES_MAX: usize = 20_000;
/// With fewer the least shares have no jump.
const LEAVES_MIN: usize = 1_000;
const SEED: u64 = 1;

/// Pages of one size.
#[derive(Debug, Serialize)]
pub(super) struct Turning {
    pub(super) page_bytes: u64,
    /// How many were read at each share.
    pub(super) pages: u64,
    /// Modelled devices in the order of --on.
    pub(super) devices: Vec<DeviceTimes>,
    /// The share of jumps above which one of the first two devices is faster than the other; `null` where neither overtakes the other.
    pub(super) turns_at_share: Option<f64>,
    /// The device that is the faster one above it.
    pub(super) faster_above: Option<String>,
}

/// What a page takes on a device.
#[derive(Debug, Serialize)]
pub(super) struct DeviceTimes {
    pub(super) target: String,
    pub(super) times: Vec<TimeAtShare>,
}

/// A share of jumps, and the time that a page takes with it.
#[derive(Debug, Serialize)]
pub(super) struct TimeAtShare {
    pub(super) share_of_jumps: f64,
    pub(super) page_s: f64,
}

impl Turning {
    pub(super) fn of_pages(page_bytes: u64) -> Self {
        Self { page_bytes, pages: 0, devices: Vec::new(), turns_at_share: None, faster_above: None }
    }

    /// Plays the leaves of the largest index on a device, which is modelled: on a real one that would take minutes.
    pub(super) fn add(
        &mut self,
        target: &str,
        player: &mut Player,
        recording: &Recording,
        options: PlanOptions,
    ) -> Result<(), PredictError> {
        let Some(leaves) = leaves(recording).filter(|_| player.is_modelled()) else { return Ok(()) };
        let pages = leaves.wants.len().min(LEAVES_MAX);
        let times = SHARES.into_iter().map(|share| {
            let took = player.play(&with_jumps(leaves, share, SEED, LEAVES_MAX), options, 1.0)?;
            let time_s = took.time_ns as f64 * 1e-9;
            Ok(TimeAtShare { share_of_jumps: share, page_s: time_s / pages as f64 })
        });
        let times = times.collect::<Result<_, PredictError>>()?;
        self.pages = pages as u64;
        self.devices.push(DeviceTimes { target: target.to_owned(), times });
        (self.turns_at_share, self.faster_above) = self.turns().unzip();
        Ok(())
    }

    /// Whether these two devices were compared.
    pub(super) fn is_of(&self, first: &str, second: &str) -> bool {
        let [one, other, ..] = self.devices.as_slice() else { return false };
        one.target == first && other.target == second
    }

    fn turns(&self) -> Option<(f64, String)> {
        let [first, second, ..] = self.devices.as_slice() else { return None };
        let overtakes = |one: &DeviceTimes, other: &DeviceTimes| {
            let pairs = one.times.iter().zip(&other.times);
            let times = pairs.map(|(one, other)| (one.share_of_jumps, one.page_s, other.page_s));
            Some((turning_share(&times.collect::<Vec<_>>())?, one.target.clone()))
        };
        overtakes(first, second).or_else(|| overtakes(second, first))
    }
}

/// Of the index that has most; `None` where all have few.
fn leaves(recording: &Recording) -> Option<&RecordedQuery> {
    let most = recording.queries.iter().max_by_key(|query| query.wants.len())?;
    (most.wants.len() >= LEAVES_MIN).then_some(most)
}
