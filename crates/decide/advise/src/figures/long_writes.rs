//! What writing for long, and beside reads, changes: ratios without a unit.

use nandle_profile::arithmetic::map;
use nandle_units::format_bytes;

use super::Figures;
use super::words::{bandwidth, bounded, number};
use crate::settings::Figure;

impl Figures<'_> {
    /// Random writing for long by the first second of it.
    pub(crate) fn steady_by_first(&self) -> Option<Figure> {
        let steady = self.profile.derived.steady_state.as_ref()?;
        let of_fresh = steady.of_fresh.filter(|share| *share > 0.0)?;
        let first = steady.random_write_bytes_per_s.value / of_fresh;
        let ratio = map(&steady.random_write_bytes_per_s, |rate| rate / first);
        let says = format!(
            "random writes of {} give {} in the first second and {} in the steady state",
            format_bytes(steady.block_bytes),
            bandwidth(first),
            bandwidth(steady.random_write_bytes_per_s.value)
        );
        Some(Figure::new("steady_by_first_ratio", ratio, says))
    }

    /// Bytes that go to flash for one of the host's, in random writing for long.
    pub(crate) fn write_amplification(&self) -> Option<Figure> {
        let factor = self.profile.derived.steady_state.as_ref()?.write_amplification.as_ref()?.factor;
        let says = format!("for a byte that is written at random {} go to flash", number(factor));
        Some(Figure::stated("write_amplification_ratio", factor, says))
    }

    /// The share of the most writes a second up to which the slowest reads take no more than twice as long; no less than a
    /// hundredth, because none and hardly any are the same.
    pub(crate) fn undisturbing_write_share(&self) -> Option<Figure> {
        const LEAST: f64 = 0.01;
        let limit = self.profile.derived.interference?;
        let share = limit.write_share;
        let percent = |share: f64| number(100.0 * share);
        let writes = if share.high <= 0.0 {
            "no rate of writes that was tried leaves".to_owned()
        } else {
            format!("writes up to {} % of the most leave", bounded(&share, percent))
        };
        let says = format!(
            "beside {} reads a second {writes} the time that {} % of the reads take within twice what it is without",
            number(limit.read_rate_per_s),
            percent(limit.quantile)
        );
        Some(Figure::new("write_share", map(&share, |share| share.max(LEAST)), says))
    }
}
