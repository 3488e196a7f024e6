//! What a figure of writing for long rests on: a drive that wasn't written to far enough may still have blocks to spare, and what
//! it gives until they are used up is no steady state.

use crate::{DeviceProfile, ROTATIONAL_LATENCY_NS_MIN};

/// A whole device that was written once in sequence has met its spare blocks when so much of it was written again at random.
const RANDOM_SHARE_MIN: f64 = 0.33;
/// An area is the whole device when it has at least so much of it.
const WHOLE_SHARE_MIN: f64 = 0.9;
/// A drive that writes more than this for each byte of the host cleans: its spare blocks are used up.
pub const CLEANING_FACTOR_MIN: f64 = 1.1;

/// Drives give as little as this part of the first second's rate once their spare blocks are used up.
const SLOWDOWN_MAX: u128 = 14;

/// Random writing over an area that shows the steady state of a device of so many bytes. What lies beside a file may all be spare,
/// so a file has to be written over by as much as the device holds; where that isn't known, the area stands for it.
pub fn random_bytes_needed(area_bytes: u64, device_bytes: Option<u64>) -> u64 {
    let device_bytes = device_bytes.filter(|bytes| *bytes > 0).unwrap_or(area_bytes);
    let is_whole = area_bytes as f64 >= WHOLE_SHARE_MIN * device_bytes as f64;
    if is_whole { share_of(device_bytes, RANDOM_SHARE_MIN) } else { device_bytes }
}

/// What the rounds of random writing can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// They are steady, and the drive was written to far enough.
    Steady,
    /// They are not steady yet, or not at all.
    Unsteady,
    /// Whatever they look like, too little was written.
    TooShort,
}

/// Random writing for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongWriting {
    /// Bytes that all rounds wrote.
    pub written_bytes: u64,
    /// How long they took.
    pub elapsed_ns: u64,
    /// The whole device; `None` where that isn't known.
    pub capacity_bytes: Option<u64>,
    /// Random writing that would show the steady state.
    pub needed_bytes: u64,
    /// What they show.
    pub steadiness: Steadiness,
}

impl DeviceProfile {
    /// What the steady state's rounds wrote; `None` where there were none.
    pub fn long_writing(&self) -> Option<LongWriting> {
        let found = &self.experiments.steady_state.as_ref()?.findings;
        let written_bytes = found.random_bytes();
        let capacity_bytes = self.identity.capacity_bytes.filter(|bytes| *bytes > 0);
        let needed_bytes = found.random_bytes_needed(capacity_bytes);
        // A drive that was called steady and cleans has cleaned like that from the first rounds on.
        let cleans = found.reached
            && found.write_amplification.as_ref().is_some_and(|written| written.factor > CLEANING_FACTOR_MIN);
        let is_known = capacity_bytes.is_some() && written_bytes >= needed_bytes;
        // What turns has no spare blocks that writing could use up.
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
    /// Whether the figure is that of the steady state.
    pub fn is_steady(&self) -> bool {
        self.steadiness == Steadiness::Steady
    }

    /// What was written by what the device holds.
    pub fn of_capacity(&self) -> Option<f64> {
        self.capacity_bytes.map(|capacity| self.written_bytes as f64 / capacity as f64)
    }

    /// Time in which the needed bytes are written, in whole minutes: at the rate of the rounds where they are steady, and
    /// otherwise at that of a drive that slows down as much as drives are known to.
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
