use nandle_profile::LatencySummary;
use nandle_replay::PolicyOutcome;

use crate::figures::{Bar, Bars, Figure, Group};
use crate::text;

/// Speed-up of each policy over `direct`; the time if `direct` didn't run.
pub(super) fn times(policies: &[PolicyOutcome]) -> Option<Figure> {
    let fastest = policies.iter().min_by_key(|policy| policy.elapsed_ns)?;
    let compared = policies.iter().all(|policy| policy.speedup_over_direct.is_some());
    let bar = |(kind, policy): (usize, &PolicyOutcome)| {
        let time = text::time_ns(policy.elapsed_ns);
        let (value, text) = match policy.speedup_over_direct.filter(|_| compared) {
            Some(times) => (times, format!("× {}{} ({time})", text::significant(times, 3), spread(policy))),
            None => (policy.elapsed_ns as f64, time),
        };
        Bar { label: policy.policy.to_string(), value, text, kind }
    };
    let quantity = if compared { "Speed-up over direct, ×" } else { "Total time" };
    Some(Figure::Bars(Bars {
        id: "speed-up",
        title: "Speed",
        finding: finding(fastest),
        note: "Includes the final checkpoint, which writes every page to its place.".to_owned(),
        quantity: quantity.to_owned(),
        groups: Group::single(policies.iter().enumerate().map(bar).collect()),
    }))
}

/// Least and greatest time of several runs.
fn spread(policy: &PolicyOutcome) -> String {
    let bounds = policy.repeats.as_ref().and_then(|repeats| repeats.speedup_over_direct);
    bounds.map_or_else(String::new, |all| {
        let [low, high] = [all.low, all.high].map(|times| text::significant(times, 3));
        format!(", {low} to {high} in {} runs", policy.repeats.as_ref().map_or(0, |repeats| repeats.runs))
    })
}

fn finding(fastest: &PolicyOutcome) -> String {
    let time = text::time_ns(fastest.elapsed_ns);
    match fastest.speedup_over_direct {
        Some(times) if fastest.policy.name() != "direct" => format!(
            "{} is the fastest: {time}, {} times as fast as direct.",
            fastest.policy,
            text::significant(times, 3)
        ),
        _ => format!("{} is the fastest: {time}.", fastest.policy),
    }
}

type Quantile = fn(&LatencySummary) -> Option<u64>;

const QUANTILES: [(&str, Quantile); 4] = [
    ("Median", |latency| latency.p50),
    ("99th percentile", |latency| latency.p99),
    ("99.9th percentile", |latency| latency.p999),
    ("Longest", |latency| latency.max),
];

/// Latency of a write for the client.
pub(super) fn latencies(policies: &[PolicyOutcome]) -> Option<Figure> {
    let p99 = policies.iter().filter_map(|policy| policy.latency_ns.p99).min()?;
    let longest = longest(policies).map_or_else(String::new, |sentence| format!(" {sentence}"));
    Some(Figure::LogBars(Bars {
        id: "write-latency",
        title: "Latency of a write",
        finding: shortest(policies, p99) + &longest,
        note: "As the client sees it: until the write was accepted, or durable with durable \
            writes."
            .to_owned(),
        quantity: "Time of a write".to_owned(),
        groups: groups(policies, |policy| Some(policy.latency_ns)),
    }))
}

/// Latency of a sync of the trace for the client.
pub(super) fn syncs(policies: &[PolicyOutcome]) -> Option<Figure> {
    let median = |policy: &PolicyOutcome| policy.sync_latency_ns?.p50;
    let known = policies.iter().filter_map(|policy| Some((policy, median(policy)?)));
    let (quickest, p50) = known.min_by_key(|(_, p50)| *p50)?;
    Some(Figure::LogBars(Bars {
        id: "sync-latency",
        title: "Latency of a sync",
        finding: format!("{} has the fastest syncs: {} (median).", quickest.policy, wait_text(p50)),
        note: "Until all previous writes are durable, as for a commit.".to_owned(),
        quantity: "Time of a sync".to_owned(),
        groups: groups(policies, |policy| policy.sync_latency_ns),
    }))
}

/// Latency in words. A write that waits for no device has no counted time.
fn wait_text(ns: u64) -> String {
    if ns == 0 { "in memory".to_owned() } else { text::time_ns(ns) }
}

/// Longest stall, which quantiles hide.
fn longest(policies: &[PolicyOutcome]) -> Option<String> {
    let known = policies.iter().filter_map(|policy| Some((policy, policy.latency_ns.max?)));
    let (policy, longest) = known.max_by_key(|(_, longest)| *longest)?;
    Some(format!("The longest wait of all is {}, with {}.", text::time_ns(longest), policy.policy))
}

fn groups(
    policies: &[PolicyOutcome],
    latency: impl Fn(&PolicyOutcome) -> Option<LatencySummary>,
) -> Vec<Group> {
    let group = |(name, quantile): &(&str, Quantile)| {
        let bar = |(kind, policy): (usize, &PolicyOutcome)| {
            let ns = quantile(&latency(policy)?)?;
            Some(Bar { label: policy.policy.to_string(), value: ns as f64, text: wait_text(ns), kind })
        };
        Group { name: (*name).to_owned(), bars: policies.iter().enumerate().filter_map(bar).collect() }
    };
    QUANTILES.iter().map(group).filter(|group| !group.bars.is_empty()).collect()
}

/// Policies with the shortest 99th percentile. Several may be equal if writes go into memory.
fn shortest(policies: &[PolicyOutcome], p99: u64) -> String {
    let best: Vec<_> = policies.iter().filter(|policy| policy.latency_ns.p99 == Some(p99)).collect();
    let names: Vec<_> = best.iter().map(|policy| policy.policy.to_string()).collect();
    let time = if p99 == 0 { "they accept writes in memory".to_owned() } else { wait_text(p99) };
    match best.as_slice() {
        [only] => format!(
            "{} has the shortest 99th percentile: {}{}.",
            only.policy,
            wait_text(p99),
            only.latency_ns.p999.filter(|p999| *p999 > 0).map_or_else(String::new, |p999| {
                format!("; 99.9 % of its writes complete within {}", text::time_ns(p999))
            })
        ),
        _ => format!("{} share the shortest 99th percentile: {time}.", text::join(&names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn equally_fast_policies_are_all_named() {
        let mut policies = made_up::policies();
        let text = shortest(&policies, policies[2].latency_ns.p99.unwrap());
        assert!(text.starts_with("stable-buffer has the shortest"), "{text}");
        for policy in policies.iter_mut().skip(1) {
            policy.latency_ns.p99 = Some(0);
        }
        let text = shortest(&policies, 0);
        assert_eq!(
            text,
            "doublewrite, stable-buffer and auto share the shortest 99th percentile: they accept writes in memory."
        );
    }
}
