use nandle_replay::{LatencySummary, PolicyOutcome};

use crate::figures::{Bar, Bars, Figure, Group};
use crate::text;

/// How many times as fast as `direct` each policy is; its time where `direct` didn't run.
pub(super) fn times(policies: &[PolicyOutcome]) -> Option<Figure> {
    let fastest = policies.iter().min_by_key(|policy| policy.elapsed_ns)?;
    let compared = policies.iter().all(|policy| policy.speedup_over_direct.is_some());
    let bar = |(kind, policy): (usize, &PolicyOutcome)| {
        let time = text::time_ns(policy.elapsed_ns);
        let (value, said) = match policy.speedup_over_direct.filter(|_| compared) {
            Some(times) => (times, format!("× {} ({time})", text::significant(times, 3))),
            None => (policy.elapsed_ns as f64, time),
        };
        Bar { label: policy.policy.to_owned(), value, said, kind }
    };
    let quantity = if compared { "Speed by that of direct, ×" } else { "Time for all of it" };
    Some(Figure::Bars(Bars {
        id: "speed-up",
        title: "Speed",
        finding: finding(fastest),
        note: "The final checkpoint, which brings every page to its own place, is part of the time."
            .to_owned(),
        quantity: quantity.to_owned(),
        groups: Group::alone(policies.iter().enumerate().map(bar).collect()),
    }))
}

fn finding(fastest: &PolicyOutcome) -> String {
    let time = text::time_ns(fastest.elapsed_ns);
    match fastest.speedup_over_direct {
        Some(times) if fastest.policy != "direct" => format!(
            "{} is the fastest: {time}, {} times as fast as direct.",
            fastest.policy,
            text::significant(times, 3)
        ),
        _ => format!("{} is the fastest: {time}.", fastest.policy),
    }
}

type Quantile = fn(&LatencySummary) -> Option<u64>;

/// What a client waits for a write.
pub(super) fn latencies(policies: &[PolicyOutcome]) -> Option<Figure> {
    const QUANTILES: [(&str, Quantile); 3] = [
        ("Median", |latency| latency.p50),
        ("99th percentile", |latency| latency.p99),
        ("99.9th percentile", |latency| latency.p999),
    ];
    let group = |(name, quantile): &(&str, Quantile)| {
        let bar = |(kind, policy): (usize, &PolicyOutcome)| {
            let ns = quantile(&policy.latency_ns)?;
            let said = text::time_ns(ns);
            Some(Bar { label: policy.policy.to_owned(), value: ns as f64, said, kind })
        };
        Group { name: (*name).to_owned(), bars: policies.iter().enumerate().filter_map(bar).collect() }
    };
    let groups: Vec<_> = QUANTILES.iter().map(group).filter(|group| !group.bars.is_empty()).collect();
    let known = policies.iter().filter_map(|policy| Some((policy, policy.latency_ns.p99?)));
    let (best, p99) = known.min_by_key(|(_, p99)| *p99)?;
    Some(Figure::Bars(Bars {
        id: "write-latency",
        title: "Latency of a write",
        finding: format!(
            "{} has the shortest 99th percentile: {}{}.",
            best.policy,
            text::time_ns(p99),
            best.latency_ns.p999.map_or_else(String::new, |p999| {
                format!("; 99.9 % of its writes are done within {}", text::time_ns(p999))
            })
        ),
        note: "As its client sees it: until the write was accepted, or durable where each is.".to_owned(),
        quantity: "Time of a write".to_owned(),
        groups,
    }))
}
