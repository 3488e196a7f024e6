use nandle_profile::experiments::FillLevel;
use nandle_profile::{Interval, OperationKind};

use super::Figures;
use super::physics::non_falling;
use super::words::{bandwidth, bounded, number, whole};
use crate::settings::{Confidence, Figure, MissingFigure};
use nandle_profile::arithmetic::inverse;

/// Requests timed before and after the device is fragmented (`fill-level` of the probe).
const TIMED_REQUESTS: u64 = 20_000;

const MISSING: MissingFigure = MissingFigure {
    needs: "random writes at several fill levels",
    how: "fill a whole device of the same kind (this destroys its data): nandle probe DEVICE \
        --only fill-level --budget 5m --destroy-data",
};

/// Gain from a lower fill level.
#[derive(Debug, Clone)]
pub(crate) struct LowerFillLevel {
    /// Share of the device that holds data.
    pub(crate) fill_share: f64,
    /// Fill share of the fullest level divided by this level's.
    pub(crate) space_ratio: f64,
    /// Rate of random writes in the steady state divided by that of the fullest level.
    pub(crate) gain: Figure,
}

impl LowerFillLevel {
    /// Marks a gain that was measured within the write cache, so it doesn't describe the flash.
    fn answered_by_cache(self) -> Self {
        let gain = Figures::mark_cached(self.gain, true);
        let gain = gain.no_surer_than(
            Confidence::Low,
            "the write cache absorbed all measured \
            writes",
        );
        Self { gain, ..self }
    }
}

impl Figures<'_> {
    /// Fullest measured level, and the gain of each lower level compared with it. Times don't fall
    /// with the fill level.
    pub(crate) fn lower_fill_levels(&self) -> Result<(f64, Vec<LowerFillLevel>), MissingFigure> {
        let found = self.profile.experiments.fill_level.as_ref().ok_or(MISSING)?;
        let times = found.findings.levels.iter().filter_map(|level| Some((level, random_write(level)?)));
        let times = times
            .map(|(level, rate)| (per_mille(level.fill_share), inverse(1e9, &self.within_noise(rate))))
            .collect();
        let mut levels = non_falling(times);
        let (fullest, slowest) = levels.pop().filter(|_| !levels.is_empty()).ok_or(MISSING)?;
        let by_cache = self.fits_in_cache(TIMED_REQUESTS.saturating_mul(found.findings.block_bytes));
        let lower_fill_levels = levels.into_iter().map(|(full, time)| {
            let level = lower_fill_level(full, &time, fullest, &slowest);
            if by_cache { level.answered_by_cache() } else { level }
        });
        Ok((share(fullest), lower_fill_levels.collect()))
    }
}

fn lower_fill_level(
    full: u64,
    time: &Interval<f64>,
    fullest: u64,
    slowest: &Interval<f64>,
) -> LowerFillLevel {
    let gain = slowest.over(time);
    let percent = |per_mille: u64| number(per_mille as f64 / 10.0);
    let says = format!(
        "in the steady state random writes reach {} at a fill level of {} % and {} at {} %: {} \
        times as much",
        bandwidth(1e9 / time.value),
        percent(full),
        bandwidth(1e9 / slowest.value),
        percent(fullest),
        bounded(&gain, number)
    );
    LowerFillLevel {
        fill_share: share(full),
        space_ratio: fullest as f64 / full as f64,
        gain: Figure::new("random_write_gain_ratio", gain, says),
    }
}

/// Bandwidth of random writes after long random writing.
fn random_write(level: &FillLevel) -> Option<f64> {
    let is_it = |pattern: &str, operation| pattern == "random" && operation == OperationKind::Write;
    let change = level.changes.iter().find(|change| is_it(&change.pattern, change.operation))?;
    let is_a_level = level.fill_share > 0.0 && change.after_bytes_per_s > 0.0;
    is_a_level.then_some(change.after_bytes_per_s)
}

fn per_mille(share: f64) -> u64 {
    whole(share * 1e3).max(1)
}

fn share(per_mille: u64) -> f64 {
    per_mille as f64 / 1e3
}
