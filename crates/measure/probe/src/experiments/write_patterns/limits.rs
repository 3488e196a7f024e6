//! Limits of cheap writes: focused area, number of streams, strides.

use nandle_profile::experiments::{MicroBenchmark, PatternCost, WritePatterns};
use nandle_profile::{
    CHEAP_ORDERED, Derived, Interval, OperationKind, WritePatternCost, is_cheap_stride, weighted_isotonic,
};

use super::rows::{Row, focused, partitioned};
use crate::pattern::PatternSpec;

/// Largest cost of a cheap focused or partitioned write, in sequential writes (`StableBuffer` §3.1:
/// 1–2 C).
const CHEAP: f64 = 2.0;
/// Smallest assumed relative uncertainty of a cost.
const LEAST_REACH: f64 = 0.05;
/// Ratio of two neighbouring points below which the limit is precise enough.
const CLOSE: f64 = 1.26;

/// Point of a curve: the varied parameter and the cost.
type Point = (u64, Interval<f64>);

/// Measured focused areas or numbers of streams in order, with non-decreasing costs. If a point
/// costs more than a larger one, the difference is noise and is averaged out. The last focused area
/// is the whole area, which means general random writes.
fn curve(findings: &WritePatterns, micro_benchmark: MicroBenchmark) -> Vec<Point> {
    let varied = |pattern: &PatternCost| match pattern.pattern.parse().ok()? {
        PatternSpec::Focused { focus_bytes } => Some(focus_bytes),
        PatternSpec::Partitioned { streams } => Some(streams),
        _ => None,
    };
    let of_it = findings.patterns.iter().filter(|pattern| pattern.micro_benchmark == micro_benchmark);
    let mut points: Vec<Point> =
        of_it.filter_map(|pattern| Some((varied(pattern)?, pattern.relative_cost?))).collect();
    if micro_benchmark == MicroBenchmark::Locality {
        let whole = baseline(&findings.patterns, PatternSpec::Random);
        points.extend(whole.and_then(|random| Some((findings.area_bytes, random.relative_cost?))));
    }
    points.sort_by_key(|(varied, _)| *varied);
    smooth(&points)
}

fn smooth(points: &[Point]) -> Vec<Point> {
    // More certain points have more weight.
    let weight = |cost: &Interval<f64>| ((cost.high - cost.low) / cost.value).max(LEAST_REACH).powi(-2);
    let of = |figure: fn(&Interval<f64>) -> f64| {
        weighted_isotonic(points.iter().map(|(_, cost)| (figure(cost), weight(cost))))
    };
    let (values, lows, highs) = (of(|cost| cost.value), of(|cost| cost.low), of(|cost| cost.high));
    let costs = values.into_iter().zip(lows).zip(highs);
    let costs = costs.map(|((value, low), high)| Interval { value, low, high });
    points.iter().map(|(varied, _)| *varied).zip(costs).collect()
}

/// Last point of the cheap prefix, and the first point after it.
fn edge(points: &[Point]) -> (Option<Point>, Option<Point>) {
    let cheap = points.iter().take_while(|(_, cost)| cost.value <= CHEAP).count();
    (cheap.checked_sub(1).and_then(|last| points.get(last)).copied(), points.get(cheap).copied())
}

/// Rows between the last cheap and the first expensive one, if they are far apart.
pub(super) fn between(findings: &WritePatterns, unit_bytes: u64) -> Vec<Row> {
    let block_bytes = findings.block_bytes;
    let middle = |micro_benchmark| match edge(&curve(findings, micro_benchmark)) {
        (Some((cheap, _)), Some((expensive, _))) if expensive as f64 > cheap as f64 * CLOSE => {
            Some(cheap.midpoint(expensive))
        }
        _ => None,
    };
    let focus = middle(MicroBenchmark::Locality)
        .map(|focus_bytes| focused(focus_bytes.next_multiple_of(unit_bytes.max(1)), block_bytes));
    let streams = middle(MicroBenchmark::Partitioning).map(|streams| partitioned(streams, block_bytes));
    focus.into_iter().chain(streams).collect()
}

/// Returns true if a stride's cost is cheap but its upper bound isn't, so that it needs more
/// visits. Areas and streams have their own search ([`between`]).
pub(super) fn is_open(row: &Row, cost: &Interval<f64>) -> bool {
    let is_stride = row.micro_benchmark == MicroBenchmark::Order;
    is_stride && cost.value <= CHEAP_ORDERED && CHEAP_ORDERED < cost.high
}

/// Sequential writes, the reference of all other costs.
fn base(patterns: &[PatternCost]) -> Option<&PatternCost> {
    baseline(patterns, PatternSpec::Sequential)
}

fn baseline(patterns: &[PatternCost], of: PatternSpec) -> Option<&PatternCost> {
    patterns.iter().find(|pattern| {
        pattern.micro_benchmark == MicroBenchmark::Baseline
            && pattern.operation == OperationKind::Write
            && pattern.pattern == of.to_string()
    })
}

/// Limit of a curve: the largest cheap value. Its lower bound is the largest value that is
/// certainly cheap. Its upper bound is the smallest value that is certainly expensive, or else the
/// largest tried value. `None` if not even the smallest value is cheap.
fn limit(points: &[Point]) -> Option<Interval<u64>> {
    let (value, _) = edge(points).0?;
    let surely = points.iter().take_while(|(_, cost)| cost.high <= CHEAP).last();
    let expensive = points.iter().find(|(_, cost)| cost.low > CHEAP).or(points.last());
    let bound = |point: Option<&Point>| point.map_or(value, |(varied, _)| *varied);
    Some(Interval {
        value,
        low: bound(surely.or(points.first())).min(value),
        high: bound(expensive).max(value),
    })
}

fn narrow(limit: Interval<u64>) -> Interval<u32> {
    let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    Interval { value: narrow(limit.value), low: narrow(limit.low), high: narrow(limit.high) }
}

/// Strides other than sequential, with their costs.
fn strides(patterns: &[PatternCost]) -> impl Iterator<Item = (i64, Interval<f64>)> {
    patterns.iter().filter_map(|pattern| match pattern.pattern.parse().ok()? {
        PatternSpec::Ordered { stride_blocks } => Some((stride_blocks, pattern.relative_cost?)),
        _ => None,
    })
}

/// Derives figures from the costs.
pub(super) fn derive(findings: &WritePatterns, derived: &mut Derived) {
    let patterns = &findings.patterns;
    if !is_known(patterns) {
        return;
    }
    let (focuses, counts) =
        (curve(findings, MicroBenchmark::Locality), curve(findings, MicroBenchmark::Partitioning));
    derived.focused_area_bytes = limit(&focuses);
    derived.partition_count_max = limit(&counts).map(narrow);
    derived.cheap_strides_blocks = strides(patterns)
        .filter(|(_, cost)| is_cheap_stride(cost) == Some(true))
        .map(|(stride, _)| stride)
        .collect();
    derived.cheap_strides_blocks.sort_unstable();
    derived.write_pattern_cost = cost(findings, &focuses, &counts);
}

/// Returns true if the cost of random writes is precise enough for conclusions.
pub(super) fn is_known(patterns: &[PatternCost]) -> bool {
    let cost = baseline(patterns, PatternSpec::Random).and_then(|random| random.relative_cost);
    cost.is_some_and(|cost| WritePatternCost::is_clear(&cost))
}

fn cost(findings: &WritePatterns, focuses: &[Point], counts: &[Point]) -> Option<WritePatternCost> {
    let patterns = &findings.patterns;
    let moving = || strides(patterns).filter(|(stride, _)| *stride != 0).map(|(_, cost)| cost);
    let cheapest = |least: &Interval<f64>, other: &Interval<f64>| least.value.total_cmp(&other.value);
    let clear = moving().filter(WritePatternCost::is_clear).min_by(cheapest);
    Some(WritePatternCost {
        block_bytes: findings.block_bytes,
        sequential_ns: base(patterns)?.request_ns,
        random: baseline(patterns, PatternSpec::Random)?.relative_cost?,
        focused: edge(focuses).0.map(|(_, cost)| cost),
        partitioned: edge(counts).0.map(|(_, cost)| cost),
        ordered: clear.or_else(|| moving().min_by(cheapest)),
    })
}

#[cfg(test)]
mod tests {
    use nandle_profile::LatencySummary;

    use super::*;

    fn row(micro_benchmark: MicroBenchmark, pattern: &str, cost: [f64; 3]) -> PatternCost {
        let [low, value, high] = cost;
        PatternCost {
            micro_benchmark,
            pattern: pattern.into(),
            operation: OperationKind::Write,
            block_bytes: 32_768,
            shift_bytes: 0,
            queue_depth: 1,
            pause_ns: 0,
            burst_requests: 0,
            start_up_requests: 0,
            requests: 100,
            request_ns: Interval { value: 1e5 * value, low: 1e5 * low, high: 1e5 * high },
            relative_cost: Some(Interval { value, low, high }),
            latency_ns: LatencySummary::default(),
        }
    }

    #[test]
    fn a_stride_that_may_be_expensive_is_not_cheap() {
        let findings = WritePatterns {
            block_bytes: 32_768,
            patterns: vec![
                row(MicroBenchmark::Baseline, "sequential", [1.0; 3]),
                row(MicroBenchmark::Baseline, "random", [9.0, 10.0, 11.0]),
                row(MicroBenchmark::Order, "ordered:2", [0.0, 0.8, 9.0]),
                row(MicroBenchmark::Order, "ordered:-2", [0.0, 2.5, 5.0]),
                row(MicroBenchmark::Order, "ordered:4", [1.9, 2.0, 2.1]),
                row(MicroBenchmark::Order, "ordered:8", [8.0, 9.0, 10.0]),
            ],
            ..WritePatterns::default()
        };
        let mut derived = Derived::default();
        derive(&findings, &mut derived);
        assert_eq!(derived.cheap_strides_blocks, [-2, 4]);
        let ordered = derived.write_pattern_cost.and_then(|cost| cost.ordered);
        assert_eq!(ordered.map(|cost| cost.value), Some(2.0));
    }
}
