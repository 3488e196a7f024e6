mod writes;

use maud::{Markup, html};
use nandle_profile::{DepthForBlock, Derived, DeviceProfile, EqualRegion};

use super::Level;
use super::fold::{anchor_of, fold};
use super::statement::Statement;
use crate::device::Device;
use crate::text::{self, Quantity};

/// Derived parameters as sentences with intervals; missing ones are named.
pub(crate) fn in_words(device: &Device, level: Level) -> Markup {
    let derived = &device.profile.derived;
    let body = html! {
        div.words {
            dl.statements {
                @for statement in statements(device.profile) { div {
                    dt { (statement.term) }
                    dd {
                        @match &statement.value {
                            Some(value) => strong.value { (value) },
                            None => span.unknown { "not concluded" },
                        }
                        " " span.sentence { (text::bind(&statement.sentence)) }
                        @if statement.term == DEPTH_TERM { (depth_table(&derived.saturating_queue_depth)) }
                    }
                } }
            }
            p.aside { "In parentheses: 95 % intervals; “unclear” where one reaches zero or spans a factor of ten. “Near full” is within 10 % of the best bandwidth seen." }
        }
    };
    fold(&anchor_of("words", device, level), "Derived figures, in words", level, &body)
}

const DEPTH_TERM: &str = "Saturating depth";

fn statements(profile: &DeviceProfile) -> Vec<Statement> {
    let derived = &profile.derived;
    let mut all = vec![
        bandwidth(derived),
        rate(derived),
        latency(derived),
        efficient_block(derived),
        saturating_depth(derived),
        equal_region(derived),
        group_penalty(derived),
        split(derived),
    ];
    all.extend(flexible_io(derived));
    // A modelled drive has no file that is loaded lazily.
    all.extend((!profile.backend.is_modelled()).then(|| first_touch(profile)));
    all.extend(writes::statements(profile));
    all
}

fn bandwidth(derived: &Derived) -> Statement {
    const TERM: &str = "Bandwidth";
    let sequential = derived.sequential_bandwidth_bytes_per_s_max.as_ref().map(text::bandwidth);
    match (&derived.random_bandwidth_bytes_per_s_max, sequential) {
        (Some(random), Some(sequential)) => Statement::known(
            TERM,
            text::bandwidth(random),
            format!("is the best that random reading reached; sequential reading reached {sequential}."),
        ),
        (Some(random), None) => Statement::known(
            TERM,
            text::bandwidth(random),
            "is the best that random reading reached. Sequential reading was not concluded.",
        ),
        (None, Some(sequential)) => Statement::known(
            TERM,
            sequential,
            "is the best that sequential reading reached. Random reading was not concluded.",
        ),
        (None, None) => Statement::missing(TERM, "Too few cells to name a best bandwidth."),
    }
}

fn rate(derived: &Derived) -> Statement {
    const TERM: &str = "Random reads";
    derived.random_read_iops_max.as_ref().map_or_else(
        || Statement::missing(TERM, "The greatest rate of random reads is not known."),
        |iops| {
            Statement::known(
                TERM,
                format!("{} reads/s", text::iops(iops)),
                "is the most that the device did, at any depth: the ceiling for index look-ups.",
            )
        },
    )
}

fn latency(derived: &Derived) -> Statement {
    const TERM: &str = "Latency";
    derived.random_read_latency_ns.map_or_else(
        || Statement::missing(TERM, "The latency of a single random read is not known."),
        |latency_ns| {
            Statement::known(
                TERM,
                text::time_ns(latency_ns),
                "is the median of one random read of the smallest block with nothing else outstanding.",
            )
        },
    )
}

fn efficient_block(derived: &Derived) -> Statement {
    const TERM: &str = "Efficient block";
    derived.efficient_block_bytes.as_ref().map_or_else(
        || Statement::missing(TERM, "No block size could be shown to be near full bandwidth at random."),
        |block| {
            Statement::known(
                TERM,
                text::size(block),
                "is the smallest block that random reading brings near full bandwidth, given the depth for it.",
            )
        },
    )
}

fn saturating_depth(derived: &Derived) -> Statement {
    let depths = &derived.saturating_queue_depth;
    if depths.is_empty() {
        return Statement::missing(
            DEPTH_TERM,
            "No depth could be named from which on the queue is deep enough.",
        );
    }
    let greatest = depths.iter().map(|depth| depth.queue_depth.value).max().unwrap_or_default();
    let least = depths.iter().map(|depth| depth.queue_depth.value).min().unwrap_or_default();
    let value = if least == greatest { least.to_string() } else { format!("{least} to {greatest}") };
    Statement::known(
        DEPTH_TERM,
        value,
        format!(
            "{} outstanding, by block size: the least depth within 10 % of that block size’s plateau.",
            if greatest == 1 { "request" } else { "requests" }
        ),
    )
}

fn depth_table(depths: &[DepthForBlock]) -> Markup {
    let depth = |of: &DepthForBlock| {
        let text = text::depth(&of.queue_depth);
        if of.plateau_reached { text } else { format!("more than {}", of.queue_depth.value) }
    };
    html! {
        @if !depths.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Saturating depth by block size" {
                table.small {
                    thead { tr { th scope="col" { "Block" } th scope="col" { "Depth" } th scope="col" { "Plateau" } } }
                    tbody {
                        @for of in depths {
                            tr {
                                th scope="row" { (Quantity::size(of.block_bytes)) }
                                td { (depth(of)) }
                                td { (text::bandwidth(&of.plateau_bytes_per_s)) @if !of.plateau_reached { ", still growing" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn equal_region(derived: &Derived) -> Statement {
    const TERM: &str = "Random = sequential";
    let regions = &derived.random_equals_sequential;
    let single: Vec<_> = regions.iter().filter(|region| region.group_blocks == 1).collect();
    match regions.as_slice() {
        _ if !single.is_empty() => {
            Statement::known(TERM, blocks_of(&single), equal_sentence(&single, regions.len() - single.len()))
        }
        _ if derived.sequential_bandwidth_bytes_per_s_max.is_none() => {
            Statement::missing(TERM, "Sequential reading was not measured.")
        }
        _ if regions.is_empty() => Statement::missing(
            TERM,
            "No combination was found at which random reading equals sequential reading, both near full.",
        ),
        _ => Statement::missing(
            TERM,
            "Single blocks never equal sequential reading; only groups of several do.",
        ),
    }
}

fn blocks_of(single: &[&EqualRegion]) -> String {
    text::block_runs(single.iter().map(|region| region.block_bytes).collect())
}

fn equal_sentence(single: &[&EqualRegion], in_groups: usize) -> String {
    let depth = single.iter().map(|region| region.queue_depth_min).max().unwrap_or_default();
    let more = match in_groups {
        0 => String::new(),
        1 => " So are groups of blocks, at one block size, group size and depth.".to_owned(),
        more => format!(" So are groups of blocks, at {more} block sizes, group sizes and depths."),
    };
    format!(
        "blocks read at random are as fast as in sequence, both near the device’s best bandwidth, from depth {depth} on at the latest.{more}"
    )
}

fn group_penalty(derived: &Derived) -> Statement {
    const TERM: &str = "Group penalty";
    let penalties = &derived.group_penalty;
    let sure = penalties.iter().filter(|penalty| penalty.ratio.high < 1.0);
    match sure.min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value)) {
        _ if penalties.is_empty() => Statement::missing(TERM, "Reading in groups was not concluded."),
        None => {
            Statement::known(TERM, "none".to_owned(), "was found that the measurement can tell from noise.")
        }
        Some(worst) => Statement::known(
            TERM,
            format!("× {}", text::factor(&worst.ratio)),
            format!(
                "is the worst: {} blocks in groups of {} at depth {}, against the same blocks one at a time.",
                Quantity::size(worst.block_bytes),
                worst.group_blocks,
                worst.queue_depth
            ),
        ),
    }
}

fn split(derived: &Derived) -> Statement {
    const TERM: &str = "Split size";
    let Some(split) = &derived.split_bytes else {
        return Statement::missing(TERM, "Whether the kernel splits long requests is not known.");
    };
    let stated = split.stated_bytes.map(|bytes| Quantity::size(bytes).to_string());
    match (stated, &split.seen) {
        (Some(stated), Some(seen)) => Statement::known(
            TERM,
            stated,
            format!(
                "is where the kernel says that it splits a request; by the curve, blocks up to {} are whole. {}",
                Quantity::size(seen.whole_bytes),
                text::sentence(&seen.sign)
            ),
        ),
        (Some(stated), None) => Statement::known(
            TERM,
            stated,
            "is where the kernel says that it splits a request; the curve shows no sign of it.",
        ),
        (None, Some(seen)) => Statement::known(
            TERM,
            Quantity::size(seen.whole_bytes).to_string(),
            format!(
                "is the largest block without a sign of splitting; the kernel states no size. {}",
                text::sentence(&seen.sign)
            ),
        ),
        (None, None) => {
            Statement::missing(TERM, "The kernel states no split size, and the curve shows no sign of one.")
        }
    }
}

fn flexible_io(derived: &Derived) -> Vec<Statement> {
    const UNIT: &str = "Reading with gaps";
    const BREAK_EVEN: &str = "Break-even";
    let Some(flexible) = &derived.flexible_io else {
        return vec![Statement::missing(
            UNIT,
            "No unit for a column store could be concluded, and so no break-even.",
        )];
    };
    let (block, group) = (text::size(&flexible.block_bytes), text::count(&flexible.group_blocks));
    let together = Quantity::size(flexible.block_bytes.value.saturating_mul(flexible.group_blocks.value));
    vec![
        Statement::known(
            UNIT,
            format!("{block} × {group}"),
            format!(
                "blocks: keep {together} of a column together, and ask for any run of blocks in it with one request."
            ),
        ),
        Statement::known(
            BREAK_EVEN,
            format!("{} blocks", text::factor(&flexible.break_even_blocks)),
            format!(
                "of a group: from so many scattered blocks on, one request for all {together} is cheaper than one each."
            ),
        ),
    ]
}

fn first_touch(profile: &DeviceProfile) -> Statement {
    const TERM: &str = "First reads";
    profile.first_touch.as_ref().map_or_else(
        || Statement::missing(TERM, "Freshly written blocks were not read for the first time apart from again."),
        |touch| {
            Statement::known(TERM, format!("× {}", text::factor(&touch.ratio)), format!(
                "is the bandwidth of blocks read for the first time after they were written ({}) by that of reading \
                 them again ({}): {} blocks at depth {}.",
                Quantity::bandwidth(touch.first_bandwidth_bytes_per_s),
                Quantity::bandwidth(touch.again_bandwidth_bytes_per_s),
                Quantity::size(touch.block_bytes),
                touch.queue_depth,
            ))
        },
    )
}

#[cfg(test)]
mod tests;
