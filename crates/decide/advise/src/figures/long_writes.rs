//! Effects of long writing and of concurrent reads, as ratios without a unit.

use nandle_profile::arithmetic::map;
use nandle_profile::{LongWriting, ROTATIONAL_LATENCY_NS_MIN, Steadiness};
use nandle_units::{Nanos, format_bytes, format_duration};

use super::Figures;
use super::words::{bandwidth, bounded, number};
use crate::settings::{Confidence, Figure};

/// Steady-state share of the first second's rate from which short measurements count as steady.
const LASTING_SHARE_MIN: f64 = 0.8;

impl Figures<'_> {
    /// Rate of long random writing divided by its rate in the first second.
    pub(crate) fn steady_by_first(&self) -> Option<Figure> {
        let steady = self.profile.derived.steady_state.as_ref()?;
        let of_fresh = steady.of_fresh.filter(|share| *share > 0.0)?;
        let first = steady.random_write_bytes_per_s.value / of_fresh;
        let ratio = map(&steady.random_write_bytes_per_s, |rate| rate / first);
        let says = format!(
            "random writes of {} reach {} in the first second and {} {}",
            format_bytes(steady.block_bytes),
            bandwidth(first),
            bandwidth(steady.random_write_bytes_per_s.value),
            self.long_writing_phase()
        );
        Some(Figure::new("steady_by_first_ratio", ratio, says))
    }

    /// Returns true if random writing was measured in the steady state.
    pub(crate) fn steady_state_is_shown(&self) -> bool {
        let reached = self.profile.derived.steady_state.as_ref().is_some_and(|steady| steady.reached);
        self.profile.long_writing().map_or(reached, |writing| writing.is_steady())
    }

    /// Returns true if reads take as long as on a rotating disk. Such a device has no spare blocks
    /// that writing could use up.
    pub(crate) fn is_rotational(&self) -> bool {
        self.profile.derived.random_read_latency_ns.is_some_and(|ns| ns >= ROTATIONAL_LATENCY_NS_MIN)
    }

    /// Phase in which long random writing was measured: `in the steady state`, or after how much
    /// writing.
    pub(super) fn long_writing_phase(&self) -> String {
        match self.profile.long_writing() {
            Some(writing) if !writing.is_steady() => {
                let why = if writing.steadiness == Steadiness::TooShort && !self.is_rotational() {
                    "too little to show the steady state"
                } else {
                    "not yet steady"
                };
                format!("after {}, {why}", amount(&writing))
            }
            None if !self.steady_state_is_shown() => "at the end, not yet steady".to_owned(),
            Some(_) | None => "in the steady state".to_owned(),
        }
    }

    /// Limits the confidence in a figure of long random writing if the steady state wasn't reached.
    pub(super) fn limit_by_writing_length(&self, figure: Figure) -> Figure {
        if self.steady_state_is_shown() || self.is_rotational() {
            return figure;
        }
        figure.no_surer_than(
            Confidence::Low,
            "too little was written to reach the steady state, which may be many times slower",
        )
    }

    /// Limits the confidence in random writes that were timed before the steady state, unless the
    /// drive sustains their rate.
    pub(super) fn limit_by_sustained_rate(&self, figure: Figure) -> Figure {
        let lasts = self.steady_state_is_shown()
            && self.steady_by_first().is_some_and(|ratio| ratio.value.value >= LASTING_SHARE_MIN);
        if lasts || self.is_rotational() {
            return figure;
        }
        figure.no_surer_than(
            Confidence::Low,
            "the writes were timed before the drive's steady state, in which they may take many \
            times as long",
        )
    }

    /// Write amplification of long random writing.
    pub(crate) fn write_amplification(&self) -> Option<Figure> {
        let factor = self.profile.derived.steady_state.as_ref()?.write_amplification.as_ref()?.factor;
        let says = format!("each byte written at random causes {} bytes of flash writes", number(factor));
        Some(Figure::stated("write_amplification_ratio", factor, says))
    }

    /// Largest share of the peak write rate at which the tail latency of reads at most doubles. At
    /// least 1 %, because smaller shares can't be told from 0.
    pub(crate) fn undisturbing_write_share(&self) -> Option<Figure> {
        const LEAST: f64 = 0.01;
        let limit = self.profile.derived.interference?;
        let share = limit.write_share;
        let percent = |share: f64| number(100.0 * share);
        let writes = if share.high <= 0.0 {
            "no measured write rate keeps".to_owned()
        } else {
            format!("writes up to {} % of the peak rate keep", bounded(&share, percent))
        };
        let says = format!(
            "at {} reads a second {writes} the latency of {} % of the reads within twice its value",
            number(limit.read_rate_per_s),
            percent(limit.quantile)
        );
        Some(Figure::new("write_share", map(&share, |share| share.max(LEAST)), says))
    }
}

/// `3.2GiB in 1.5 s (0.8 % of the device)`.
fn amount(writing: &LongWriting) -> String {
    let share = writing
        .of_capacity()
        .map_or_else(String::new, |share| format!(" ({} % of the device)", number(100.0 * share)));
    format!(
        "{} in {}{share}",
        format_bytes(writing.written_bytes),
        format_duration(Nanos(writing.elapsed_ns))
    )
}
