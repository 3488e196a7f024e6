use nandle_trace::{SizeCount, TraceStatistics};

use crate::figures::{Bar, Bars, Figure, Group};
use crate::text::{self, Quantity};

/// Most frequent write sizes.
pub(super) fn bars(found: &TraceStatistics) -> Option<Figure> {
    let most = found.write_sizes.iter().max_by_key(|size| size.writes)?;
    let share = |size: &SizeCount| size.writes as f64 / found.writes.max(1) as f64;
    let percent = |size: &SizeCount| format!("{} %", text::significant(100.0 * share(size), 2));
    let bar = |size: &SizeCount| Bar {
        label: Quantity::size(size.bytes).to_string(),
        value: share(size),
        text: format!("{} ({})", percent(size), text::plural(size.writes, "write")),
        kind: 0,
    };
    Some(Figure::Bars(Bars {
        id: "write-sizes",
        title: "Sizes",
        finding: format!("{} of the writes are of {}.", percent(most), Quantity::size(most.bytes)),
        note: "The most frequent sizes.".to_owned(),
        quantity: "Share of the writes, %".to_owned(),
        groups: Group::single(found.write_sizes.iter().map(bar).collect()),
    }))
}
