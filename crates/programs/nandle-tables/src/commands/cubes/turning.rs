//! Turning point: share of jumps at which the faster of two devices changes, found by playing the
//! same leaves with increasing shares.

use nandle_flights::{turning_share, with_jumps};
use nandle_predict::{Player, PredictError};
use nandle_reads::PlanOptions;
use nandle_reads::recording::{RecordedQuery, Recording};
use serde::Serialize;

/// Shares of leaves that don't follow the previous one.
const SHARES: [f64; 11] = [0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
/// Leaves needed to separate the times: at the least positive share 20 of them jump.
const LEAVES_MAX: usize = 20_000;
/// With fewer leaves the least shares have no jump.
const LEAVES_MIN: usize = 1_000;
const SEED: u64 = 1;

/// Results for one page size.
#[derive(Debug, Serialize)]
pub(super) struct Turning {
    pub(super) page_bytes: u64,
    /// Pages read at each share.
    pub(super) pages: u64,
    /// Modelled devices in the order of --on.
    pub(super) devices: Vec<DeviceTimes>,
    /// Share of jumps above which the other of the first two devices is faster; `null` if neither
    /// overtakes the other.
    pub(super) turns_at_share: Option<f64>,
    /// Faster device above that share.
    pub(super) faster_above: Option<String>,
}

/// Time per page on a device.
#[derive(Debug, Serialize)]
pub(super) struct DeviceTimes {
    pub(super) target: String,
    pub(super) times: Vec<TimeAtShare>,
}

/// A share of jumps, and the time per page.
#[derive(Debug, Serialize)]
pub(super) struct TimeAtShare {
    pub(super) share_of_jumps: f64,
    pub(super) page_s: f64,
}

impl Turning {
    pub(super) fn of_pages(page_bytes: u64) -> Self {
        Self { page_bytes, pages: 0, devices: Vec::new(), turns_at_share: None, faster_above: None }
    }

    /// Plays the leaves of the largest index on modelled devices; a real one would take minutes.
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

    /// Returns true if these two devices were compared.
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

/// Leaves of the largest index; `None` if all are small.
fn leaves(recording: &Recording) -> Option<&RecordedQuery> {
    let most = recording.queries.iter().max_by_key(|query| query.wants.len())?;
    (most.wants.len() >= LEAVES_MIN).then_some(most)
}
