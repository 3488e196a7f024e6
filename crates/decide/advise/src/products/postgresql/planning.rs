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
        || {
            "Scans with many outstanding reads gain nothing here, because the device saturates \
            with one."
                .into()
        },
        |together| {
            format!(
                "Scans with many outstanding reads, such as bitmap heap scans, have another \
                ratio: it would give {:.1}, and a break-even of {} %.",
                cost(together),
                share(together)
            )
        },
    );
    let is_sure = is_sure([Some(&alone), Some(&busy), together.as_ref()].into_iter().flatten());
    let rule = format!(
        "the device time of a random page divided by a sequential one, while {} sessions read one \
        random page each, as index scans do. It is multiplied by {:.0} %, the share of random \
        reads that miss the caches according to the documentation; at least 1.1, slightly more \
        than seq_page_cost",
        question.sessions,
        (1.0 - CACHED_SHARE) * 100.0
    );
    let break_even = format!(
        "A single session would give {:.1}. With cold caches its ratio lets an index scan beat a \
        full scan up to {} % of the table's pages (1 / ratio), as nandle compare prints. {scans}",
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
            "It is a ratio: a drive with fast random reads gets a high value if its sequential \
            reads are much faster. A server that processes rows more slowly than the drive reads \
            them pays a smaller ratio.",
        ))
}

/// Source of the rule and a remark. If all read methods lead to one value, only the share of cache
/// misses is contested.
fn contest(is_sure: bool) -> (RuleSource, &'static str) {
    if is_sure {
        (
            RuleSource::Ours,
            "The device's ratio leads to about the same value for one session or many, page by \
            page or with prefetching. The share of cache misses isn't the device's; if it isn't a \
            tenth, scale the value by it.",
        )
    } else {
        (
            RuleSource::Contested,
            "Contested: the ratio depends on the number of readers, and one setting applies to \
            all. 1.1 is customary for solid-state drives; measurements on local drives gave 25 to \
            35 (one page at a time, cold caches).",
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
