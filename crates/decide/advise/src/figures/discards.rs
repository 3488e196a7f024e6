use nandle_profile::experiments::DiscardCosts;
use nandle_profile::{Interval, LatencySummary};
use nandle_units::format_bytes;

use super::Figures;
use super::physics::non_falling;
use super::words::{bounded, number, time};
use crate::settings::{Confidence, Figure, MissingFigure};

const MISSING: MissingFigure = MissingFigure {
    needs: "the cost of discards",
    how: "measure discards: nandle probe TARGET --only discard --budget 1m --resume",
};
const IN_A_FILE: &str = "a discard in a file includes the file system's work";

impl Figures<'_> {
    fn discards(&self) -> Result<&DiscardCosts, MissingFigure> {
        let conducted = self.profile.experiments.discard.as_ref();
        conducted.map(|conducted| &conducted.findings).ok_or(MISSING)
    }

    /// Tail latency of each discard size. Times don't fall with the size.
    pub(crate) fn discard_times(&self) -> Result<Vec<(u64, Figure)>, MissingFigure> {
        let found = self.discards()?.discards.iter().filter_map(|row| {
            let (_, tail_ns) = tail(&row.latency_ns)?;
            Some((row.discard_bytes, self.within_noise(tail_ns)))
        });
        let figure = |(bytes, span): (u64, Interval<f64>)| {
            let says = format!("a discard of {} takes {}", format_bytes(bytes), bounded(&span, time));
            (bytes, self.limit_in_file(Figure::new("discard_ns", span, says)))
        };
        let times: Vec<_> = non_falling(found.collect()).into_iter().map(figure).collect();
        if times.is_empty() { Err(MISSING) } else { Ok(times) }
    }

    /// Latency of reads queued behind discards divided by the latency of reads alone, at the
    /// highest quantile that both have.
    pub(crate) fn reads_beside_discards(&self) -> Result<Figure, MissingFigure> {
        let found = self.discards()?;
        let both = tail_of_both(&found.read_latency_beside_ns, &found.read_latency_alone_ns);
        let (quantile, beside, alone) = both.ok_or(MISSING)?;
        let slower = self.within_noise(beside).over(&self.within_noise(alone));
        let says = format!(
            "{quantile} of random reads take at most {} behind a discard of 1MiB and {} alone: {} \
            times as long",
            time(beside),
            time(alone),
            bounded(&slower, number)
        );
        Ok(self.limit_in_file(Figure::new("read_latency_beside_discards_ratio", slower, says)))
    }

    fn limit_in_file(&self, figure: Figure) -> Figure {
        let in_file = self.profile.system.file_system.is_some();
        if in_file { figure.no_surer_than(Confidence::Low, IN_A_FILE) } else { figure }
    }
}

type Quantile = (&'static str, fn(&LatencySummary) -> Option<u64>);

const QUANTILES: [Quantile; 3] =
    [("99 %", |summary| summary.p99), ("90 %", |summary| summary.p90), ("half", |summary| summary.p50)];

/// Highest quantile with enough observations.
fn tail(latency: &LatencySummary) -> Option<(&'static str, f64)> {
    QUANTILES.iter().find_map(|(name, of)| Some((*name, of(latency)? as f64)))
}

fn tail_of_both(one: &LatencySummary, other: &LatencySummary) -> Option<(&'static str, f64, f64)> {
    QUANTILES.iter().find_map(|(name, of)| Some((*name, of(one)? as f64, of(other)?.max(1) as f64)))
}
