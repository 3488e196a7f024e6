//! The planner's cost of a random page.

use super::PAGE_BYTES;
use crate::economics::index_share;
use crate::figures::Figures;
use crate::figures::words::number;
use crate::rules::{CACHED_SHARE, page_cost};
use crate::settings::{Collector, Figure, MissingFigure, Question, RuleSource, Setting};

/// Customary value for solid-state drives.
const COST_MIN: f64 = 1.1;

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.add("random_page_cost", random_page_cost(figures, question));
}

fn random_page_cost(figures: &Figures<'_>, question: &Question) -> Result<Setting, MissingFigure> {
    let (alone, together) = figures.page_cost_ratios(PAGE_BYTES)?;
    let busy = figures.page_cost_ratio_of(PAGE_BYTES, question.sessions)?;
    let cost = |ratio: &Figure| page_cost(ratio.value.value, CACHED_SHARE);
    // At the cost of a sequential page the planner has no reason to prefer sequential reads.
    let value = cost(&busy).max(COST_MIN);
    let share = |ratio: &Figure| number(index_share(ratio.value.value) * 100.0);
    let scans = together.as_ref().map_or_else(
        || "Scans that keep many reads outstanding gain nothing here: one read at a time is all that it takes.".into(),
        |together| {
            format!(
                "A scan that keeps many reads outstanding, such as a bitmap heap scan, pays the other ratio: by that the \
                 value would be {:.1}, and the break-even {} %.",
                cost(together),
                share(together)
            )
        },
    );
    let is_sure = is_sure([Some(&alone), Some(&busy), together.as_ref()].into_iter().flatten());
    let rule = format!(
        "how many times as much of the device's time a random page takes as a sequential one, while {} sessions read at once, \
         one page each as index scans do; of that {:.0} %, the share of random reads that the documentation assumes to miss the \
         caches; at least 1.1, a little more than seq_page_cost",
        question.sessions,
        (1.0 - CACHED_SHARE) * 100.0
    );
    let break_even = format!(
        "For a session that is alone the value would be {:.1}. With nothing cached that ratio lets an index scan beat reading the \
         whole table up to {} % of its pages (1 / ratio), which is what nandle compare prints. {scans}",
        cost(&alone),
        share(&alone)
    );
    // With few sessions or a knee of 1 this figure equals another one.
    let is_another =
        [Some(&alone), together.as_ref()].into_iter().flatten().all(|other| other.value != busy.value);
    let seen = [alone].into_iter().chain(together).chain(is_another.then_some(busy)).collect();
    let (source, contest) = contest(is_sure);
    Ok(Setting::new("random_page_cost", format!("{value:.1}"), seen, source, rule)
        .default("4.0")
        .remark(break_even)
        .remark(contest)
        .remark(
            "It is a ratio: a drive whose random reads are quick gets a high one where its sequential reads are quicker \
             still. A server that can't take rows as fast as the drive reads in sequence pays less than that.",
        ))
}

/// Source of the rule and a remark. If all read methods lead to one value, only the share of cache
/// misses is contested.
fn contest(is_sure: bool) -> (RuleSource, &'static str) {
    if is_sure {
        (
            RuleSource::Ours,
            "One session or many, page by page or with prefetching: the device's ratio leads to about the same value. What the \
             device doesn't decide is the share of reads that miss the caches; where it isn't a tenth, the value follows it.",
        )
    } else {
        (
            RuleSource::Contested,
            "Contested: the ratio depends on how many read at once, and one setting holds for all. 1.1 is the custom for \
             solid-state drives, and measurements on local ones found ratios of 25 to 35 (one page at a time, nothing cached).",
        )
    }
}

/// Returns true if all read methods lead to about the same value at the bounds of their ratios.
fn is_sure<'a>(ratios: impl Iterator<Item = &'a Figure>) -> bool {
    /// Spread that counts as sharp for all advice.
    const ABOUT_THE_SAME: f64 = 1.5;
    let costs: Vec<f64> = ratios
        .flat_map(|ratio| [ratio.value.low, ratio.value.high])
        .map(|ratio| page_cost(ratio, CACHED_SHARE))
        .collect();
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = costs.iter().copied().fold(0.0, f64::max);
    most <= least * ABOUT_THE_SAME
}
