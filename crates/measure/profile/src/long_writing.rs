//! Reliability of sustained write figures. A drive without enough writes may still have spare
//! blocks, and its speed until they are used up isn't the steady state.

use crate::{DeviceProfile, ROTATIONAL_LATENCY_NS_MIN};

/// Share of a whole, sequentially filled device to overwrite at random before its spare blocks are
/// used up.
const RANDOM_SHARE_MIN: f64 = 0.33;
/// Smallest share of the device at which an area counts as the whole device.
const WHOLE_SHARE_MIN: f64 = 0.9;
/// Write amplification from which a drive is collecting garbage, so its spare blocks are used up.
pub const CLEANING_FACTOR_MIN: f64 = 1.1;

/// Largest known slowdown of drives once their spare blocks are used up.
const SLOWDOWN_MAX: u128 = 14;

/// Bytes of random writes over an area that show the steady state of a device of `device_bytes`.
/// The device outside of a file may be spare, so a file must be overwritten by the whole device's
/// capacity. If that is unknown, the area's size is used.
pub fn random_bytes_needed(area_bytes: u64, device_bytes: Option<u64>) -> u64 {
    let device_bytes = device_bytes.filter(|bytes| *bytes > 0).unwrap_or(area_bytes);
    let is_whole = area_bytes as f64 >= WHOLE_SHARE_MIN * device_bytes as f64;
    if is_whole { share_of(device_bytes, RANDOM_SHARE_MIN) } else { device_bytes }
}

/// Conclusion from the rounds of random writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// Steady, after enough writes.
    Steady,
    /// Not steady.
    Unsteady,
    /// Too few writes for a conclusion.
    TooShort,
}

/// Summary of sustained random writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongWriting {
    /// Bytes written by all rounds.
    pub written_bytes: u64,
    /// Total time of the rounds.
    pub elapsed_ns: u64,
    /// Capacity of the device, if known.
    pub capacity_bytes: Option<u64>,
    /// Bytes of random writes that would show the steady state.
    pub needed_bytes: u64,
    /// Conclusion from the rounds.
    pub steadiness: Steadiness,
}

impl DeviceProfile {
    /// Summary of the steady-state rounds; `None` if there were none.
    pub fn long_writing(&self) -> Option<LongWriting> {
        let found = &self.experiments.steady_state.as_ref()?.findings;
        let written_bytes = found.random_bytes();
        let capacity_bytes = self.identity.capacity_bytes.filter(|bytes| *bytes > 0);
        let needed_bytes = found.random_bytes_needed(capacity_bytes);
        // If the experiment reported a steady state with garbage collection, that has been constant
        // since the first rounds.
        let cleans = found.reached
            && found.write_amplification.as_ref().is_some_and(|written| written.factor > CLEANING_FACTOR_MIN);
        let is_known = capacity_bytes.is_some() && written_bytes >= needed_bytes;
        // Rotating disks have no spare blocks to use up.
        let turns = self.derived.random_read_latency_ns.is_some_and(|ns| ns >= ROTATIONAL_LATENCY_NS_MIN);
        let steadiness = match (cleans || is_known || turns, found.ends_even()) {
            (true, true) => Steadiness::Steady,
            (true, false) => Steadiness::Unsteady,
            (false, _) => Steadiness::TooShort,
        };
        let elapsed_ns = found.rounds.iter().map(|round| round.elapsed_ns).sum();
        (written_bytes > 0).then_some(LongWriting {
            written_bytes,
            elapsed_ns,
            capacity_bytes,
            needed_bytes,
            steadiness,
        })
    }
}

impl LongWriting {
    /// Returns true if the figure is that of the steady state.
    pub fn is_steady(&self) -> bool {
        self.steadiness == Steadiness::Steady
    }

    /// Bytes written relative to the capacity.
    pub fn of_capacity(&self) -> Option<f64> {
        self.capacity_bytes.map(|capacity| self.written_bytes as f64 / capacity as f64)
    }

    /// Time for writing the needed bytes, in whole minutes. It uses the rate of the rounds if they
    /// are steady, and otherwise assumes the largest known slowdown.
    pub fn needed_minutes(&self) -> u64 {
        const MINUTE_NS: u128 = 60_000_000_000;
        let slower = if self.is_steady() { 1 } else { SLOWDOWN_MAX };
        let time_ns = u128::from(self.needed_bytes) * u128::from(self.elapsed_ns) * slower
            / u128::from(self.written_bytes.max(1));
        u64::try_from(time_ns.div_ceil(MINUTE_NS)).unwrap_or(u64::MAX)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a size")]
fn share_of(bytes: u64, share: f64) -> u64 {
    (bytes as f64 * share).ceil() as u64
}
