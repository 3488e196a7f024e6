//! Pattern instances that the decompositors found, by stretch.

use nandle_replay::{InstanceCounts, PolicyOutcome};

use super::over_time::TIME;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, YAxis};
use crate::text;

/// Number of instances and of pages in them.
type Counts = fn(&InstanceCounts) -> (u64, u64);

const PATTERNS: [(&str, Counts); 4] = [
    ("sequential", |found| (found.sequential, found.sequential_pages)),
    ("partitioned", |found| (found.partitioned, found.partitioned_pages)),
    ("ordered", |found| (found.ordered, found.ordered_pages)),
    ("focused", |found| (found.focused, found.focused_pages)),
];

pub(super) fn has_any(policy: &PolicyOutcome) -> bool {
    PATTERNS.iter().any(|(_, counts)| counts(&policy.instances).0 > 0)
}

/// Share of the destaged pages by pattern.
pub(super) fn mix(policies: &[PolicyOutcome]) -> Option<Figure> {
    let share = |found: Stretch| (found.all_pages > 0).then(|| found.pages as f64 / found.all_pages as f64);
    let axes = (TIME, YAxis::Share("Share of the pages destaged"));
    let plot = Plot::joined("pattern-mix", "Mix of patterns", axes, "Policy", views(policies, share));
    let finding = sentences(policies, |policy| {
        let pages = |counts: &Counts| counts(&policy.instances).1;
        let all: u64 = PATTERNS.iter().map(|(_, counts)| pages(counts)).sum();
        let (name, counts) = PATTERNS.iter().max_by_key(|(_, counts)| pages(counts))?;
        let percent = text::significant(100.0 * pages(counts) as f64 / all.max(1) as f64, 2);
        Some(format!("{} destages {percent} % of its pages in {name} instances.", policy.policy))
    });
    let note = "By stretch of the work: patterns of the pages that left the staging area.".to_owned();
    Plot { finding, note, ..plot }.into_figure()
}

/// Mean number of pages in an instance.
pub(super) fn lengths(policies: &[PolicyOutcome]) -> Option<Figure> {
    let length = |found: Stretch| (found.instances > 0).then(|| found.pages as f64 / found.instances as f64);
    let axes = (TIME, YAxis::Number("Pages of an instance, mean"));
    let plot =
        Plot::joined("instance-lengths", "Length of instances", axes, "Policy", views(policies, length));
    let finding = sentences(policies, |policy| {
        let mean = |counts: &Counts| {
            let (instances, pages) = counts(&policy.instances);
            (instances > 0).then(|| pages as f64 / instances as f64)
        };
        let means = PATTERNS.iter().filter_map(|(name, counts)| Some((name, mean(counts)?)));
        let (name, longest) = means.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let pages = text::significant(longest, 3);
        Some(format!("{}: {name} instances are the longest, {pages} pages on average.", policy.policy))
    });
    let note = "The longer an instance, the more pages share the cost of a seek.".to_owned();
    Plot { finding, note, ..plot }.into_figure()
}

fn sentences(policies: &[PolicyOutcome], say: impl Fn(&PolicyOutcome) -> Option<String>) -> String {
    let text: Vec<_> = policies.iter().filter(|policy| has_any(policy)).filter_map(say).collect();
    text.join(" ")
}

/// Instances of a pattern between two samples.
#[derive(Clone, Copy)]
struct Stretch {
    instances: u64,
    pages: u64,
    all_pages: u64,
}

/// A view for each policy with instances, and a curve for each pattern it found.
fn views(policies: &[PolicyOutcome], value: impl Fn(Stretch) -> Option<f64>) -> Vec<View> {
    let found = policies.iter().filter(|policy| has_any(policy));
    let view = |policy: &PolicyOutcome| View {
        name: policy.policy.to_string(),
        curves: PATTERNS
            .iter()
            .enumerate()
            .filter(|(_, (_, counts))| counts(&policy.instances).0 > 0)
            .map(|(kind, (name, counts))| {
                let points = stretches(policy, *counts).into_iter();
                let points = points.filter_map(|(at_s, found)| Some(Point::bare(at_s, value(found)?)));
                Curve::joined(*name, Look::Kind(kind), points.collect())
            })
            .collect(),
    };
    found.map(view).collect()
}

fn stretches(policy: &PolicyOutcome, counts: Counts) -> Vec<(f64, Stretch)> {
    let all = |found: &InstanceCounts| PATTERNS.iter().map(|(_, counts)| counts(found).1).sum::<u64>();
    let mut before = InstanceCounts::default();
    let mut stretches = Vec::new();
    for sample in &policy.samples {
        let (now, then) = (counts(&sample.instances), counts(&before));
        let stretch = Stretch {
            instances: now.0.saturating_sub(then.0),
            pages: now.1.saturating_sub(then.1),
            all_pages: all(&sample.instances).saturating_sub(all(&before)),
        };
        stretches.push((sample.elapsed_ns as f64 / 1e9, stretch));
        before = sample.instances;
    }
    stretches
}
