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
                            None => span.unknown { "not determined" },
                        }
                        " " span.sentence { (text::bind(&statement.sentence)) }
                        @if statement.term == DEPTH_TERM { (depth_table(&derived.saturating_queue_depth)) }
                    }
                } }
            }
            p.aside { "In parentheses: 95 % intervals; “unclear” if one reaches zero or spans a \
                factor of ten. “Near full” means within 10 % of the best bandwidth measured." }
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
            format!("is the best of random reads; sequential reads reached {sequential}."),
        ),
        (Some(random), None) => Statement::known(
            TERM,
            text::bandwidth(random),
            "is the best of random reads. The bandwidth of sequential reads was not determined.",
        ),
        (None, Some(sequential)) => Statement::known(
            TERM,
            sequential,
            "is the best of sequential reads. The bandwidth of random reads was not determined.",
        ),
        (None, None) => Statement::missing(TERM, "Too few cells to determine the best bandwidth."),
    }
}

fn rate(derived: &Derived) -> Statement {
    const TERM: &str = "Random reads";
    derived.random_read_iops_max.as_ref().map_or_else(
        || Statement::missing(TERM, "The peak rate of random reads is unknown."),
        |iops| {
            Statement::known(
                TERM,
                format!("{} reads/s", text::iops(iops)),
                "is the peak rate at any depth: the limit of index lookups.",
            )
        },
    )
}

fn latency(derived: &Derived) -> Statement {
    const TERM: &str = "Latency";
    derived.random_read_latency_ns.map_or_else(
        || Statement::missing(TERM, "The latency of a single random read is unknown."),
        |latency_ns| {
            Statement::known(
                TERM,
                text::time_ns(latency_ns),
                "is the median of one random read of the smallest block on an idle device.",
            )
        },
    )
}

fn efficient_block(derived: &Derived) -> Statement {
    const TERM: &str = "Efficient block";
    derived.efficient_block_bytes.as_ref().map_or_else(
        || {
            Statement::missing(
                TERM,
                "No block size was shown to reach near-full bandwidth in \
            random reads.",
            )
        },
        |block| {
            Statement::known(
                TERM,
                text::size(block),
                "is the smallest block with near-full bandwidth in random reads at sufficient \
                depth.",
            )
        },
    )
}

fn saturating_depth(derived: &Derived) -> Statement {
    let depths = &derived.saturating_queue_depth;
    if depths.is_empty() {
        return Statement::missing(DEPTH_TERM, "The saturating depth was not determined.");
    }
    let greatest = depths.iter().map(|depth| depth.queue_depth.value).max().unwrap_or_default();
    let least = depths.iter().map(|depth| depth.queue_depth.value).min().unwrap_or_default();
    let value = if least == greatest { least.to_string() } else { format!("{least} to {greatest}") };
    Statement::known(
        DEPTH_TERM,
        value,
        format!(
            "{} outstanding, depending on the block size: the least depth within 10 % of the \
            block size’s plateau.",
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
            Statement::missing(TERM, "Sequential reads were not measured.")
        }
        _ if regions.is_empty() => Statement::missing(
            TERM,
            "No combination was found with equal random and sequential reads, both near full \
            bandwidth.",
        ),
        _ => Statement::missing(TERM, "Single blocks never equal sequential reads; only groups do."),
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
        "blocks are as fast at random as in sequence, both near the device’s best bandwidth, from \
        depth {depth} on at the latest.{more}"
    )
}

fn group_penalty(derived: &Derived) -> Statement {
    const TERM: &str = "Group penalty";
    let penalties = &derived.group_penalty;
    let sure = penalties.iter().filter(|penalty| penalty.ratio.high < 1.0);
    match sure.min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value)) {
        _ if penalties.is_empty() => Statement::missing(
            TERM,
            "The cost of reading in groups was \
            not determined.",
        ),
        None => Statement::known(TERM, "none".to_owned(), "exceeds the noise."),
        Some(worst) => Statement::known(
            TERM,
            format!("× {}", text::factor(&worst.ratio)),
            format!(
                "is the worst: {} blocks in groups of {} at depth {}, compared with single blocks.",
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
        return Statement::missing(TERM, "It is unknown if the kernel splits long requests.");
    };
    let stated = split.stated_bytes.map(|bytes| Quantity::size(bytes).to_string());
    match (stated, &split.seen) {
        (Some(stated), Some(seen)) => Statement::known(
            TERM,
            stated,
            format!(
                "is the kernel’s stated split size; by the curve, blocks up to {} are whole. {}",
                Quantity::size(seen.whole_bytes),
                text::sentence(&seen.sign)
            ),
        ),
        (Some(stated), None) => Statement::known(
            TERM,
            stated,
            "is the kernel’s stated split size; the curve shows no sign of a split.",
        ),
        (None, Some(seen)) => Statement::known(
            TERM,
            Quantity::size(seen.whole_bytes).to_string(),
            format!(
                "is the largest block without a sign of a split; the kernel states no size. {}",
                text::sentence(&seen.sign)
            ),
        ),
        (None, None) => Statement::missing(
            TERM,
            "The kernel states no split size, and the curve shows no \
                sign of a split.",
        ),
    }
}

fn flexible_io(derived: &Derived) -> Vec<Statement> {
    const UNIT: &str = "Reading with gaps";
    const BREAK_EVEN: &str = "Break-even";
    let Some(flexible) = &derived.flexible_io else {
        return vec![Statement::missing(
            UNIT,
            "No unit for a column store could be determined, and so no break-even.",
        )];
    };
    let (block, group) = (text::size(&flexible.block_bytes), text::count(&flexible.group_blocks));
    let together = Quantity::size(flexible.block_bytes.value.saturating_mul(flexible.group_blocks.value));
    vec![
        Statement::known(
            UNIT,
            format!("{block} × {group}"),
            format!(
                "blocks: store {together} of a column together, and read any run of its blocks \
                with one request."
            ),
        ),
        Statement::known(
            BREAK_EVEN,
            format!("{} blocks", text::factor(&flexible.break_even_blocks)),
            format!(
                "of a group: from that number of scattered blocks on, one request for all \
                {together} is cheaper than one each."
            ),
        ),
    ]
}

fn first_touch(profile: &DeviceProfile) -> Statement {
    const TERM: &str = "First reads";
    profile.first_touch.as_ref().map_or_else(
        || {
            Statement::missing(
                TERM,
                "First and repeated reads of freshly written blocks were not \
            measured separately.",
            )
        },
        |touch| {
            Statement::known(
                TERM,
                format!("× {}", text::factor(&touch.ratio)),
                format!(
                    "is the bandwidth of the first reads after a write ({}) divided by that of \
                repeated reads ({}): {} blocks at depth {}.",
                    Quantity::bandwidth(touch.first_bandwidth_bytes_per_s),
                    Quantity::bandwidth(touch.again_bandwidth_bytes_per_s),
                    Quantity::size(touch.block_bytes),
                    touch.queue_depth,
                ),
            )
        },
    )
}

#[cfg(test)]
mod tests;
