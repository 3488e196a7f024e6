use nandle_profile::experiments::{FillChange, FillLevel};

use crate::device::Device;
use crate::figures::{Bar, Bars, Figure, Group};
use crate::text::{self, Quantity};

/// Share of each pattern's bandwidth that remains after long writing, by fill level.
pub(super) fn bars(device: &Device) -> Option<Figure> {
    let found = &device.profile.experiments.fill_level.as_ref()?.findings;
    let changes =
        || found.levels.iter().flat_map(|level| level.changes.iter().map(move |change| (level, change)));
    let worst = changes().min_by(|a, b| a.1.change().total_cmp(&b.1.change()))?;
    Some(Figure::Bars(Bars {
        id: "fill-levels",
        title: "Before and after, by fill level",
        finding: finding(worst.0, worst.1),
        note: format!(
            "Each level is filled in sequence and measured, then overwritten at random and \
            measured again. {} blocks; random patterns at depth {}.",
            Quantity::size(found.block_bytes),
            found.queue_depth
        ),
        quantity: "Bandwidth after divided by before, %".to_owned(),
        groups: found.levels.iter().map(group).collect(),
    }))
}

fn finding(level: &FillLevel, change: &FillChange) -> String {
    let full = percent(level.fill_share);
    if change.change() > -0.05 {
        return "Filling and overwriting changes no pattern by more than 5 %.".to_owned();
    }
    format!(
        "The greatest loss is that of {} {} at {full} full: it keeps {} of {}.",
        text::clean(&change.pattern),
        if change.operation.to_string() == "read" { "reading" } else { "writing" },
        percent(1.0 + change.change()),
        Quantity::bandwidth(change.before_bytes_per_s)
    )
}

fn percent(share: f64) -> String {
    format!("{} %", text::significant(100.0 * share, 2))
}

fn group(level: &FillLevel) -> Group {
    let bar = |(kind, change): (usize, &FillChange)| Bar {
        label: format!("{} {}", text::clean(&change.pattern), change.operation),
        value: 1.0 + change.change(),
        text: format!(
            "{} ({} → {})",
            percent(1.0 + change.change()),
            Quantity::bandwidth(change.before_bytes_per_s),
            Quantity::bandwidth(change.after_bytes_per_s)
        ),
        kind,
    };
    Group {
        name: format!("{} full", percent(level.fill_share)),
        bars: level.changes.iter().enumerate().map(bar).collect(),
    }
}
