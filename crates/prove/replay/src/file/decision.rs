//! Chooses a policy by the figures of a replay.

use std::fmt::Write as _;

use nandle_pages::PolicyKind;
use nandle_units::format_bytes;
use serde::{Deserialize, Serialize};

use super::ReplayFile;
use super::policy_name;
use crate::{PolicyOutcome, StoreUsage};

/// Prefix of the names of modelled drives, also in an array.
const MODEL: &str = "model:";

/// A policy and its time per page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyTime {
    /// Policy.
    #[serde(with = "policy_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub policy: PolicyKind,
    /// Elapsed time divided by pages written, in nanoseconds.
    pub page_ns: f64,
}

/// Recommended policy for a store with the trace's workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyDecision {
    /// Fastest policy in this replay.
    #[serde(flatten)]
    pub best: PolicyTime,
    /// Time per page of `direct` divided by that of the fastest policy; `null` if `direct` didn't
    /// run.
    pub speedup_over_direct: Option<f64>,
    /// Fastest policy with atomic batches; `null` if that is `best`, or none ran.
    pub best_with_whole_batches: Option<PolicyTime>,
    /// A faster policy whose figures don't include cleaning, and therefore don't count.
    pub before_cleaning: Option<PolicyTime>,
    /// Share of the store's pages written before the trace began, in percent.
    pub fill_percent: u8,
    /// Share of the store's pages with contents at the end, in percent.
    pub living_percent: u8,
    /// Mean pages of a write.
    pub batch_pages: f64,
    /// Mean pages between two syncs; `null` without syncs.
    pub sync_pages: Option<f64>,
    /// Predictions of the target's profile for the policies that ran; empty without a profile, or
    /// if it lacks a figure.
    pub predicted: Vec<PolicyTime>,
}

impl PolicyDecision {
    /// Decides by the outcomes. Returns `None` if only one policy ran.
    pub fn of(policies: &[PolicyOutcome], usage: StoreUsage, predicted: Vec<PolicyTime>) -> Option<Self> {
        let (uncleaned, counted): (Vec<_>, Vec<_>) =
            policies.iter().partition(|policy| policy.is_before_cleaning());
        let (counted, uncleaned) =
            if counted.is_empty() { (uncleaned, Vec::new()) } else { (counted, uncleaned) };
        let best = quickest(counted.iter().copied()).filter(|_| policies.len() > 1)?;
        let whole = quickest(counted.iter().copied().filter(|policy| policy.atomic_batch));
        let ran = |time: &PolicyTime| policies.iter().any(|policy| policy.policy == time.policy);
        Some(Self {
            best,
            speedup_over_direct: speedup_of(policies, best.policy),
            best_with_whole_batches: whole.filter(|whole| whole.policy != best.policy),
            before_cleaning: quickest(uncleaned.into_iter()).filter(|time| time.page_ns < best.page_ns),
            fill_percent: usage.fill_percent,
            living_percent: usage.living_percent,
            batch_pages: usage.batch_pages,
            sync_pages: usage.sync_pages,
            predicted: predicted.into_iter().filter(ran).collect(),
        })
    }
}

/// Speed-up over `direct` in the same run.
fn speedup_of(policies: &[PolicyOutcome], policy: PolicyKind) -> Option<f64> {
    policies.iter().find(|outcome| outcome.policy == policy)?.speedup_over_direct
}

fn time_of(policy: &PolicyOutcome) -> PolicyTime {
    PolicyTime { policy: policy.policy, page_ns: policy.elapsed_ns as f64 / policy.writes.max(1) as f64 }
}

fn quickest<'a>(policies: impl Iterator<Item = &'a PolicyOutcome>) -> Option<PolicyTime> {
    policies.map(time_of).min_by(|one, other| one.page_ns.total_cmp(&other.page_ns))
}

impl ReplayFile {
    /// Returns true if time was virtual, so that the figures are reproducible.
    fn is_modelled(&self) -> bool {
        self.target.contains(MODEL)
    }

    /// States the recommended policy and its figures, in sentences.
    pub fn decision_in_words(&self) -> Option<String> {
        let decision = self.decision.as_ref()?;
        let PolicyTime { policy, page_ns } = decision.best;
        let direct = decision.speedup_over_direct.filter(|_| policy != PolicyKind::Direct);
        let direct =
            direct.map_or_else(String::new, |times| format!(", {} times as fast as direct", digits(times)));
        let syncs = match decision.sync_pages {
            Some(pages) => format!("{} between two syncs", digits(pages)),
            None => "no syncs".to_owned(),
        };
        let mut text = format!(
            "Use {policy}: a page of {} takes {}{direct}. Based on this replay, with {} % of the store written before, {} \
             pages a write and {syncs}",
            format_bytes(self.page_bytes),
            time(page_ns),
            decision.fill_percent,
            digits(decision.batch_pages),
        );
        if let Some(whole) = decision.best_with_whole_batches {
            let _ =
                write!(text, "; where batches must be whole, use {} ({})", whole.policy, time(whole.page_ns));
        }
        if let Some(early) = decision.before_cleaning {
            let _ = write!(
                text,
                "; {} ({}) doesn't count: its figures don't include cleaning",
                early.policy,
                time(early.page_ns)
            );
        }
        if let Some(first) = decision.predicted.first() {
            let best = decision.predicted.iter().find(|time| time.policy == policy);
            let own = best.map(|best| time(best.page_ns)).filter(|_| first.policy != policy);
            let own = own.map_or_else(String::new, |own| format!(", and {own} for {policy}"));
            let _ = write!(text, "; the profile predicts {} for {}{own}", time(first.page_ns), first.policy);
        }
        text.push('.');
        if !self.is_modelled() {
            text.push_str(&self.confidence(policy));
        }
        Some(text)
    }

    /// States the spread of the runs. A single run on a device that may have had other work is weak
    /// evidence.
    fn confidence(&self, best: PolicyKind) -> String {
        let outcome = self.policies.iter().find(|outcome| outcome.policy == best);
        let Some(repeats) = outcome.and_then(|outcome| outcome.repeats.as_ref()) else {
            return " Each policy ran once, on a device that may have had other work: use --repeats 5 to see the spread of the runs.".to_owned();
        };
        let speedup = repeats.speedup_over_direct.filter(|_| best != PolicyKind::Direct);
        let runs = repeats.runs;
        let Some(speedup) = speedup else {
            let seconds = |ns: u64| time(ns as f64);
            return format!(
                " Each policy ran {runs} times, in turns: {best} took {} in the median, {} to {}.",
                seconds(repeats.elapsed_ns.value),
                seconds(repeats.elapsed_ns.low),
                seconds(repeats.elapsed_ns.high)
            );
        };
        let sure = if speedup.low > 1.0 {
            "faster than direct in each"
        } else {
            "but not faster than direct in each, so the result is uncertain"
        };
        format!(
            " Each policy ran {runs} times, in turns: {best} was {} times as fast as direct in the median, {} to {}, {sure}.",
            digits(speedup.value),
            digits(speedup.low),
            digits(speedup.high)
        )
    }
}

/// Formats a time with three digits.
pub(super) fn time(ns: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    // Choose the unit after rounding.
    let unit = UNITS.into_iter().find(|(unit_ns, _)| ns >= 0.9995 * unit_ns);
    let (unit_ns, name) = unit.unwrap_or((1.0, "ns"));
    format!("{} {name}", digits(ns / unit_ns))
}

/// Formats a number with three digits; whole numbers have no decimals.
fn digits(value: f64) -> String {
    match value {
        ..9.995 if (value - value.round()).abs() > 0.005 => format!("{value:.2}"),
        9.995..99.95 if (value - value.round()).abs() > 0.05 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!([1.0, 1.234, 12.34, 130.4].map(digits), ["1", "1.23", "12.3", "130"]);
        let times = [12_345.0, 172_222.0, 10_471_900.0, 999_900.0];
        assert_eq!(times.map(time), ["12.3 us", "172 us", "10.5 ms", "1 ms"]);
    }
}
