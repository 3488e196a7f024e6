//! Counts of covering intervals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// A range of figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Bounds {
    pub(super) fn exact(value: f64) -> Self {
        Self { low: value, high: value }
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }

    fn meets(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// Bounds of a profile's interval.
pub(super) fn interval(value: &Value) -> Option<Bounds> {
    Some(Bounds { low: value["low"].as_f64()?, high: value["high"].as_f64()? })
}

/// Counts for one figure.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Count {
    cover: u32,
    of: u32,
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.of == 0 { write!(f, "–") } else { write!(f, "{} of {}", self.cover, self.of) }
    }
}

/// An interval that misses the truth.
#[derive(Debug, Serialize)]
struct Miss {
    figure: &'static str,
    seed: u64,
    place: String,
    interval: Bounds,
    truth: Bounds,
}

/// Counts of one drive.
#[derive(Debug, Default, Serialize)]
struct OfDrive {
    about: String,
    counts: BTreeMap<&'static str, Count>,
    misses: Vec<Miss>,
}

/// Counts of all drives.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tally {
    drives: Vec<OfDrive>,
}

impl Tally {
    /// Starts the counts of a new drive.
    pub(super) fn begin(&mut self, about: &str) {
        self.drives.push(OfDrive { about: about.to_owned(), ..OfDrive::default() });
    }

    pub(super) fn count(
        &mut self,
        figure: &'static str,
        seed: u64,
        interval: Bounds,
        truth: Bounds,
        place: &str,
    ) {
        let Some(drive) = self.drives.last_mut() else { return };
        let count = drive.counts.entry(figure).or_default();
        count.of += 1;
        if interval.meets(&truth) {
            count.cover += 1;
        } else {
            drive.misses.push(Miss { figure, seed, place: place.to_owned(), interval, truth });
        }
    }

    /// Counts of the current drive.
    pub(super) fn last_drive(&self) -> String {
        let counts = self.drives.last().into_iter().flat_map(|drive| &drive.counts);
        counts.map(|(figure, count)| format!("{figure}: {count}")).collect::<Vec<_>>().join(", ")
    }

    /// Table with a row for each drive, and one for all.
    pub(super) fn table(&self) -> String {
        let mut all: BTreeMap<&str, Count> = BTreeMap::new();
        for (figure, count) in self.drives.iter().flat_map(|drive| &drive.counts) {
            let sum = all.entry(figure).or_default();
            sum.cover += count.cover;
            sum.of += count.of;
        }
        let row = |name: &str, counts: &dyn Fn(&str) -> Count| {
            let cells: Vec<String> = all.keys().map(|figure| counts(figure).to_string()).collect();
            format!("| {name} | {} |\n", cells.join(" | "))
        };
        let figures: Vec<&str> = all.keys().copied().collect();
        let mut text =
            format!("| drive | {} |\n|---|{}\n", figures.join(" | "), "--:|".repeat(figures.len()));
        for (index, drive) in self.drives.iter().enumerate() {
            let name = format!("{}: {}", index + 1, drive.about);
            text += &row(&name, &|figure| drive.counts.get(figure).copied().unwrap_or_default());
        }
        text += &row("all", &|figure| all.get(figure).copied().unwrap_or_default());
        let (cover, of) =
            all.values().fold((0, 0), |(cover, of), count| (cover + count.cover, of + count.of));
        let _ = write!(text, "\n{cover} of {of} intervals cover the truth.");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_cover_a_truth_that_they_meet() {
        let mut tally = Tally::default();
        tally.begin("one");
        let bounds = |low, high| Bounds { low, high };
        tally.count("cells", 1, bounds(1.0, 2.0), bounds(2.0, 3.0), "");
        tally.count("cells", 2, bounds(1.0, 2.0), Bounds::exact(2.5), "");
        assert_eq!(tally.last_drive(), "cells: 1 of 2");
        assert!(tally.table().contains("1 of 2 intervals cover"), "{}", tally.table());
    }
}
