use nandle_replay::{PolicyOutcome, Sample};

use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::text;

pub(super) const TIME: XAxis = XAxis::Seconds("Time of the work, s");

/// Page writes done over time.
pub(super) fn progress(policies: &[PolicyOutcome]) -> Option<Figure> {
    let curves = curves(policies.iter().enumerate(), |sample| sample.writes as f64);
    let axes = (TIME, YAxis::Number("Page writes done"));
    let plot = Plot::joined("progress", "Progress", axes, "", View::alone(curves));
    let (first, last) = (slowest(policies.iter(), Pace::First)?, slowest(policies.iter(), Pace::Last)?);
    let finding = if first.0 == last.0 {
        format!("{} is the slowest from the first to the last stretch.", first.0)
    } else {
        format!("{} is the slowest in the first stretch, {} in the last.", first.0, last.0)
    };
    let note =
        "A straight line is an even pace; where it bends down, the policy or the drive has to catch up."
            .to_owned();
    Plot { finding, note, ..plot }.drawn()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    First,
    Last,
}

/// The policy with the least writes per second in a stretch.
fn slowest<'a>(policies: impl Iterator<Item = &'a PolicyOutcome>, pace: Pace) -> Option<(&'static str, f64)> {
    let rate = |policy: &PolicyOutcome| {
        let samples = &policy.samples;
        let (from, to) = match pace {
            Pace::First => ((0, 0), samples.first().map(|s| (s.writes, s.elapsed_ns))?),
            Pace::Last => {
                let before = samples.get(samples.len().checked_sub(2)?)?;
                ((before.writes, before.elapsed_ns), samples.last().map(|s| (s.writes, s.elapsed_ns))?)
            }
        };
        let elapsed_ns = (to.1 - from.1).max(1) as f64;
        Some((policy.policy, (to.0 - from.0) as f64 / elapsed_ns))
    };
    policies.filter_map(rate).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Pages in the staging areas over time, of the policies that have one.
pub(super) fn occupancy(policies: &[PolicyOutcome]) -> Option<Figure> {
    let staging = policies.iter().enumerate().filter(|(_, policy)| policy.buffer_bytes > 0);
    let fullest = |policy: &PolicyOutcome| policy.samples.iter().map(|sample| sample.staged_pages).max();
    let (most, pages) = staging
        .clone()
        .filter_map(|(_, policy)| Some((policy, fullest(policy)?)))
        .max_by_key(|(_, pages)| *pages)?;
    let curves = curves(staging, |sample| sample.staged_pages as f64);
    let axes = (TIME, YAxis::Number("Pages waiting to be brought home"));
    let plot = Plot::joined("occupancy", "Occupancy", axes, "", View::alone(curves));
    let room = most.buffer_bytes / most.page_bytes.max(1);
    let finding = format!(
        "{} keeps most: up to {}; its staging area has room for {}.",
        most.policy,
        text::plural(pages, "page"),
        text::plain(room)
    );
    let note = "At the end of each stretch, in the staging area or in memory.".to_owned();
    Plot { finding, note, ..plot }.drawn()
}

fn curves<'a>(
    policies: impl Iterator<Item = (usize, &'a PolicyOutcome)>,
    value: impl Fn(&Sample) -> f64,
) -> Vec<Curve> {
    let point = |sample: &Sample| Point::bare(sample.elapsed_ns as f64 / 1e9, value(sample));
    let curve = |(index, policy): (usize, &PolicyOutcome)| {
        Curve::joined(policy.policy, Look::Kind(index), policy.samples.iter().map(point).collect())
    };
    policies.map(curve).collect()
}
