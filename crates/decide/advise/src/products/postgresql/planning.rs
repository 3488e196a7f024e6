//! What the planner takes a random page to cost.

use super::PAGE_BYTES;
use crate::economics::index_share;
use crate::figures::Figures;
use crate::figures::words::number;
use crate::rules::{CACHED_SHARE, page_cost};
use crate::settings::{Collector, Figure, Lack, Question, RuleSource, Setting};

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.add("random_page_cost", random_page_cost(figures, question));
}

fn random_page_cost(figures: &Figures<'_>, question: &Question) -> Result<Setting, Lack> {
    let (alone, together) = figures.page_cost_ratios(PAGE_BYTES)?;
    let busy = figures.page_cost_ratio_of(PAGE_BYTES, question.sessions)?;
    let cost = |ratio: &Figure| page_cost(ratio.value.value, CACHED_SHARE);
    let value = cost(&busy);
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
    let rule = format!(
        "what a random page takes of the device by a sequential one while the sessions read at once, one page each as index \
         scans do, by the {:.0} % of random reads that the documentation assumes to miss the caches; at least seq_page_cost \
         (1.0)",
        (1.0 - CACHED_SHARE) * 100.0
    );
    let break_even = format!(
        "For a session that is alone the value would be {:.1}. With nothing cached that ratio lets an index scan beat reading the \
         whole table up to {} % of its pages (1 / ratio), which is what nandle compare prints. {scans}",
        cost(&alone),
        share(&alone)
    );
    // With a session or so, or a knee of 1, it is one of the others.
    let is_another =
        [Some(&alone), together.as_ref()].into_iter().flatten().all(|other| other.value != busy.value);
    let seen = [alone].into_iter().chain(together).chain(is_another.then_some(busy)).collect();
    Ok(Setting::new("random_page_cost", format!("{value:.1}"), seen, RuleSource::Contested, rule)
        .default("4.0")
        .remark(break_even)
        .remark(
            "Contested: 1.1 is the custom for solid-state drives, and measurements on local ones found ratios of 25 to \
             35.",
        )
        .remark(
            "It is a ratio: a drive whose random reads are quick gets a high one where its sequential reads are quicker \
             still. A server that can't take rows as fast as the drive reads in sequence pays less than that.",
        ))
}
