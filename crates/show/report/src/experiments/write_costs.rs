use nandle_profile::experiments::{MicroBenchmark, PatternCost};
use nandle_profile::{Cheap, Interval, OperationKind, WritePatternCost};

use crate::device::Device;
use crate::figures::{Bar, Bars, Figure, Group};
use crate::text::{self, Quantity};

/// Cost of the good patterns of `StableBuffer` §3.1 and of random writes, divided by sequential
/// writes.
pub(super) fn patterns(device: &Device) -> Option<Figure> {
    let derived = &device.profile.derived;
    let cost = derived.write_pattern_cost.as_ref()?;
    let area = match derived.cheap_area_bytes() {
        Some(Cheap::UpTo { extent, .. }) => Quantity::size(extent.value).to_string(),
        _ => "a small area".to_owned(),
    };
    let streams = match derived.cheap_streams() {
        Some(Cheap::UpTo { extent, .. }) => extent.value.to_string(),
        _ => "several".to_owned(),
    };
    let named = [
        ("sequential".to_owned(), Some(Interval { value: 1.0, low: 1.0, high: 1.0 })),
        (format!("focused: at random within {area}"), cost.focused),
        (format!("partitioned: {streams} streams"), cost.partitioned),
        ("ordered: the cheapest stride except +1".to_owned(), cost.ordered),
        ("random, everywhere".to_owned(), Some(cost.random)),
    ];
    let known =
        named.into_iter().enumerate().filter_map(|(kind, (label, ratio))| Some((kind, label, ratio?)));
    let bars = known.map(|(kind, label, ratio)| bar(label, &ratio, kind)).collect();
    Some(Figure::Bars(Bars {
        id: "write-costs",
        title: "The patterns",
        finding: finding(cost),
        note: format!("Writes of {} at depth 1, after the start-up phase.", Quantity::size(cost.block_bytes)),
        quantity: "Time of a write divided by a sequential one, ×".to_owned(),
        groups: Group::single(bars),
    }))
}

fn bar(label: String, ratio: &Interval<f64>, kind: usize) -> Bar {
    Bar { label, value: ratio.value, text: format!("× {}", text::factor(ratio)), kind }
}

fn finding(cost: &WritePatternCost) -> String {
    let random = cost.random.value;
    let sequential = Quantity::time_ns(cost.sequential_ns.value);
    let block = Quantity::size(cost.block_bytes);
    let told = if random < 1.25 {
        format!("A random write of {block} costs no more than a sequential one ({sequential}).")
    } else {
        let times = text::significant(random, 2);
        format!("A random write of {block} takes {times} times as long as a sequential one ({sequential}).")
    };
    let cheapest = [("focused", cost.focused), ("partitioned", cost.partitioned), ("ordered", cost.ordered)]
        .into_iter()
        .filter_map(|(name, ratio)| Some((name, ratio.filter(WritePatternCost::is_clear)?.value)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    match cheapest {
        Some((name, ratio)) if random >= 1.25 && ratio < random => format!(
            "{told} The cheapest alternative is {name} writing, at {} times the sequential cost.",
            text::significant(ratio, 2)
        ),
        _ if random >= 1.25 => format!("{told} No other pattern was cheaper."),
        _ => told,
    }
}

/// Cost of writes in uFLIP's other micro-benchmarks.
pub(super) fn circumstances(device: &Device) -> Option<Figure> {
    const BENCHMARKS: [(MicroBenchmark, &str); 6] = [
        (MicroBenchmark::Granularity, "By write size (divided by a sequential write of that size)"),
        (MicroBenchmark::Alignment, "Shifted from multiples of the block"),
        (
            MicroBenchmark::Parallelism,
            "With several outstanding (divided by sequential ones at \
            that depth)",
        ),
        (MicroBenchmark::Mix, "Mixed with reads"),
        (MicroBenchmark::Pause, "With a pause after each"),
        (MicroBenchmark::Bursts, "In bursts"),
    ];
    let found = &device.profile.experiments.write_patterns.as_ref()?.findings;
    let group = |(benchmark, name): &(MicroBenchmark, &str)| Group {
        name: (*name).to_owned(),
        bars: found
            .patterns
            .iter()
            .filter(|row| row.micro_benchmark == *benchmark)
            .filter_map(row_bar)
            .collect(),
    };
    let groups: Vec<_> = BENCHMARKS.iter().map(group).filter(|group| !group.bars.is_empty()).collect();
    if groups.is_empty() {
        return None;
    }
    let others =
        found.patterns.iter().filter(|row| BENCHMARKS.iter().any(|(kind, _)| *kind == row.micro_benchmark));
    Some(Figure::Bars(Bars {
        id: "write-circumstances",
        title: "Other influences",
        finding: most_expensive(others),
        note: "Pauses don't count as write time. Runs are short here and may miss pauses for \
            garbage collection that long random writing causes. Micro-benchmarks of uFLIP \
            (Bouganim, Jónsson and Bonnet, CIDR 2009)."
            .to_owned(),
        quantity: "Time of a request divided by a sequential write, ×".to_owned(),
        groups,
    }))
}

/// Row with the greatest lower bound. A mean would be distorted by a single pause for garbage
/// collection.
fn most_expensive<'a>(rows: impl Iterator<Item = &'a PatternCost>) -> String {
    let sure = |row: &PatternCost| row.relative_cost.as_ref().map_or(0.0, |ratio| ratio.low);
    let most_expensive = rows.filter(|row| sure(row) > 1.0).max_by(|a, b| sure(a).total_cmp(&sure(b)));
    most_expensive.and_then(row_bar).map_or_else(
        || "None of these is surely more expensive than a sequential write.".to_owned(),
        |bar| format!("Surely the most expensive of these is {}, at {}.", bar.label, bar.text),
    )
}

/// Bar of a row. Plain sequential writes are the reference, so they have none in their own
/// comparison.
fn row_bar(row: &PatternCost) -> Option<Bar> {
    let ratio = row.relative_cost.as_ref()?;
    let is_sequential = row.pattern == "sequential";
    let compared = matches!(row.micro_benchmark, MicroBenchmark::Granularity | MicroBenchmark::Parallelism);
    if compared && is_sequential {
        return None;
    }
    let pattern = text::clean(&row.pattern);
    let label = match row.micro_benchmark {
        MicroBenchmark::Granularity => format!("{pattern}, {}", Quantity::size(row.block_bytes)),
        MicroBenchmark::Alignment => format!("{pattern}, by {}", Quantity::size(row.shift_bytes)),
        MicroBenchmark::Parallelism => format!("{pattern}, depth {}", row.queue_depth),
        MicroBenchmark::Mix => {
            format!("{pattern}, {}, {}", mixed(row.operation), Quantity::size(row.block_bytes))
        }
        MicroBenchmark::Bursts => {
            format!("{pattern}, {} with pauses of {}", row.burst_requests, text::time_ns(row.pause_ns))
        }
        _ => format!("{pattern}, {}", text::time_ns(row.pause_ns)),
    };
    Some(bar(label, ratio, usize::from(!is_sequential)))
}

fn mixed(operation: OperationKind) -> String {
    match operation {
        OperationKind::Mixed { read_percent } => format!("{read_percent} % reads"),
        _ => operation.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;

    #[test]
    fn single_pause_makes_no_pattern_the_most_expensive() {
        let profile = crate::made_up::written();
        let row = &profile.experiments.write_patterns.as_ref().unwrap().findings.patterns[0];
        let with = |read_percent, value, low, high| PatternCost {
            micro_benchmark: MicroBenchmark::Mix,
            operation: OperationKind::Mixed { read_percent },
            relative_cost: Some(Interval { value, low, high }),
            ..row.clone()
        };
        let text = most_expensive([with(50, 21.1, 0.0, 270.0), with(90, 1.6, 1.4, 1.7)].iter());
        assert!(text.contains("90 % reads") && text.contains("Surely"), "{text}");
        let text = most_expensive([with(50, 21.1, 0.0, 270.0)].iter());
        assert_eq!(text, "None of these is surely more expensive than a sequential write.");
    }
}
