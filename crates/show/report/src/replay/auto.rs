//! Choices of `auto` and its measured times of both write paths.

use nandle_replay::{AutoFindings, Method, PolicyOutcome};

use super::over_time::TIME;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, YAxis};
use crate::text;

/// Share of page writes in place, by stretch; the others were staged.
pub(super) fn path_shares(policies: &[PolicyOutcome]) -> Option<Figure> {
    let (kind, policy) = policies.iter().enumerate().find(|(_, policy)| policy.auto.is_some())?;
    let shares = shares(policy);
    let points = shares.iter().map(|(at_s, share)| Point::bare(*at_s, *share)).collect();
    let curve = Curve::joined(policy.policy.name(), Look::Kind(kind), points);
    let axes = (TIME, YAxis::Share("Share of the page writes in place"));
    let plot = Plot::joined("auto-ways", "Staged or in place", axes, "", View::single(vec![curve]));
    let finding = [chosen(policy)?, measured(&policy.auto?), changed(&shares)].join(" ");
    let note = "By stretch of the work. auto keeps to one path and tries the other at intervals: \
        the longer a trial took, the later the next one."
        .to_owned();
    Plot { finding, note, ..plot }.into_figure()
}

fn chosen(policy: &PolicyOutcome) -> Option<String> {
    let percent = 100.0 * policy.pages_straight as f64 / policy.writes.max(1) as f64;
    let way = match policy.auto?.chosen {
        Some(Method::Staging) => "auto ended with staging as its choice",
        Some(Method::Straight) => "auto ended with writing in place as its choice",
        None => "auto made no choice, because the work ended before it had tried both paths",
    };
    Some(format!("{way}; {} % of its page writes went in place.", text::significant(percent, 3)))
}

/// Time of a page on each path.
fn measured(found: &AutoFindings) -> String {
    let trials = text::plural(found.trials, "trial");
    match (found.staged_page_ns, found.straight_page_ns) {
        (Some(staged_ns), Some(straight_ns)) => format!(
            "At the last measurement a page took {} staged and {} in place ({trials}).",
            text::time_ns(staged_ns),
            text::time_ns(straight_ns)
        ),
        (Some(staged_ns), None) => {
            format!("A page took {} staged; it never wrote in place ({trials}).", text::time_ns(staged_ns))
        }
        (None, Some(straight_ns)) => {
            format!("A page took {} in place; it never staged ({trials}).", text::time_ns(straight_ns))
        }
        (None, None) => "Neither way was measured.".to_owned(),
    }
}

/// Times at which most writes moved to the other path.
fn changed(shares: &[(f64, f64)]) -> String {
    let is_straight = |(_, share): &(f64, f64)| *share > 0.5;
    let pairs = shares.iter().zip(shares.iter().skip(1));
    let changes: Vec<_> = pairs.filter(|(before, after)| is_straight(before) != is_straight(after)).collect();
    match changes.as_slice() {
        [] => "Most writes took the same path in all stretches.".to_owned(),
        [(before, after)] => format!(
            "From {} s on most writes {}.",
            text::significant(before.0, 3),
            if is_straight(after) { "went in place" } else { "were staged" }
        ),
        all => format!("The path of most writes changed {} times.", all.len()),
    }
}

/// End of each stretch with writes, in seconds, and the share of writes in place.
fn shares(policy: &PolicyOutcome) -> Vec<(f64, f64)> {
    let mut before = (0, 0);
    let mut shares = Vec::new();
    for sample in &policy.samples {
        let (writes, straight) = (sample.writes - before.0, sample.pages_straight - before.1);
        if writes > 0 {
            shares.push((sample.elapsed_ns as f64 / 1e9, straight as f64 / writes as f64));
        }
        before = (sample.writes, sample.pages_straight);
    }
    shares
}
