//! Read strategies on one device, over shares of wanted pages.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::Outcome;
use crate::bench::stats::Spread;

/// A run of the example `strategies`.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    query: String,
    strategy: String,
    seconds: f64,
    predicted: f64,
    low: f64,
    high: f64,
    requests: u64,
}

const FLEXIBLE: &str = "flexible";

/// Table of medians, with a summary.
pub(super) fn section(target: &str, runs: &[Run]) -> Outcome<String> {
    let mut text = format!(
        "\n## {target}\n\nSeconds for pages of 8 KiB of a file of 1 GiB, with 64 MiB of memory.\n\n| wanted | flexible | fixed-block | whole-group | one-by-one:1 | one-by-one:32 | by the best rival | predicted | by actual |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let (mut by_rival, mut errors, mut within) = (Vec::new(), Vec::new(), 0_usize);
    for of_query in runs.chunk_by(|one, other| one.query == other.query) {
        let Some(first) = of_query.first().filter(|run| run.requests > 0) else { continue };
        let seconds = strategies(of_query).map(|strategy| median(of_query, &strategy, |run| run.seconds));
        let seconds: Vec<f64> = seconds.collect::<Outcome<_>>()?;
        let (Some((flexible, rivals)), true) = (seconds.split_first(), first.strategy == FLEXIBLE) else {
            return Err("the first way of reading is the flexible one".into());
        };
        let best = rivals.iter().copied().fold(f64::INFINITY, f64::min);
        let predicted = median(of_query, FLEXIBLE, |run| run.predicted)?;
        let bounds =
            [median(of_query, FLEXIBLE, |run| run.low)?, median(of_query, FLEXIBLE, |run| run.high)?];
        by_rival.push(flexible / best);
        errors.push((predicted / flexible - 1.0).abs());
        within += usize::from(bounds[0] <= *flexible && *flexible <= bounds[1]);
        write!(text, "| {} |", first.query)?;
        for seconds in &seconds {
            write!(text, " {seconds:.4} |")?;
        }
        writeln!(text, " {:.2} | {predicted:.4} | {:.2} |", flexible / best, predicted / flexible)?;
    }
    let worst = by_rival.iter().copied().fold(0.0, f64::max);
    errors.sort_by(f64::total_cmp);
    let nine_in_ten = errors.get(errors.len() * 9 / 10).copied().unwrap_or_default();
    let error = Spread::of(&errors).ok_or("nothing was read")?.median;
    writeln!(
        text,
        "\n`flexible` takes at most {worst:.2} of the best rival. Predictions of it: median error {:.1} %, nine in ten within {:.1} %, {within} of {} within their bounds.",
        error * 100.0,
        nine_in_ten * 100.0,
        errors.len()
    )?;
    Ok(text)
}

/// Names in the order of their first runs.
fn strategies(runs: &[Run]) -> impl Iterator<Item = String> {
    let mut names: Vec<String> = Vec::new();
    for run in runs {
        if !names.contains(&run.strategy) {
            names.push(run.strategy.clone());
        }
    }
    names.into_iter()
}

fn median(runs: &[Run], strategy: &str, figure: impl Fn(&Run) -> f64) -> Outcome<f64> {
    let figures: Vec<f64> = runs.iter().filter(|run| run.strategy == strategy).map(figure).collect();
    Ok(Spread::of(&figures).ok_or("a way of reading has no runs")?.median)
}
