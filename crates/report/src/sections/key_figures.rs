use maud::{Markup, html};
use nandle_profile::{DepthForBlock, Derived};

use crate::device::Device;
use crate::text::{self, Quantity};

/// A figure at one glance: a name, the value in large, and what to know with it.
struct KeyFigure {
    name: &'static str,
    value: Option<Quantity>,
    detail: String,
}

/// The handful of figures that most readers came for.
pub(crate) fn key_figures(device: &Device) -> Markup {
    let derived = &device.profile.derived;
    let reads = [random_bandwidth(derived), rate(derived), latency(device), block(derived), depth(derived)];
    let figures = reads.into_iter().chain(writes(device));
    html! {
        section.key-figures aria-label="Key figures" {
            @for figure in figures {
                div.key-figure {
                    p.name { (figure.name) }
                    @match &figure.value {
                        Some(value) => p.figure { (value.number) span.unit { (value.unit) } },
                        None => p.figure.unknown { "unknown" },
                    }
                    p.detail { (figure.detail) }
                }
            }
        }
    }
}

/// The bounds alone, for the line below a value.
fn bounds(low: &Quantity, high: &Quantity) -> String {
    if low == high { String::new() } else { format!("{low} to {high}") }
}

fn random_bandwidth(derived: &Derived) -> KeyFigure {
    let best = derived.random_bandwidth_bytes_per_s_max.as_ref();
    KeyFigure {
        name: "Random bandwidth",
        value: best.map(|best| Quantity::bandwidth(best.value)),
        detail: best.map_or_else(String::new, |best| {
            bounds(&Quantity::bandwidth(best.low), &Quantity::bandwidth(best.high))
        }),
    }
}

fn rate(derived: &Derived) -> KeyFigure {
    let best = derived.random_read_iops_max.as_ref();
    let quantity = |value| Quantity { unit: "\u{a0}/s", ..Quantity::bare(value) };
    KeyFigure {
        name: "Random reads",
        value: best.map(|best| quantity(best.value)),
        detail: best.map_or_else(String::new, |best| bounds(&quantity(best.low), &quantity(best.high))),
    }
}

fn latency(device: &Device) -> KeyFigure {
    let latency_ns = device.profile.derived.random_read_latency_ns;
    let block = device.smallest_block().map_or_else(String::new, |b| format!("{}, ", Quantity::size(b)));
    KeyFigure {
        name: "Latency",
        value: latency_ns.map(|ns| Quantity::time_ns(ns as f64)),
        detail: format!("median, {block}depth 1"),
    }
}

fn block(derived: &Derived) -> KeyFigure {
    let block = derived.efficient_block_bytes.as_ref();
    KeyFigure {
        name: "Efficient block",
        value: block.map(|block| Quantity::size(block.value)),
        detail: block.map_or_else(String::new, |block| {
            match bounds(&Quantity::size(block.low), &Quantity::size(block.high)) {
                bounds if bounds.is_empty() => "smallest near full bandwidth".to_owned(),
                bounds => bounds,
            }
        }),
    }
}

/// What random writing costs, what it gives for long, and what a commit takes, of what was conducted.
fn writes(device: &Device) -> impl Iterator<Item = KeyFigure> {
    let (derived, found) = (&device.profile.derived, &device.profile.experiments);
    let cost = derived.write_pattern_cost.as_ref();
    let random = found.write_patterns.as_ref().map(|_| KeyFigure {
        name: "Random write cost",
        value: cost.map(|cost| Quantity { unit: "\u{a0}× sequential", ..Quantity::bare(cost.random.value) }),
        detail: cost.map_or_else(String::new, |cost| {
            bounds(&Quantity::bare(cost.random.low), &Quantity::bare(cost.random.high))
        }),
    });
    let steady = derived.steady_state.as_ref();
    let for_long = found.steady_state.as_ref().map(|_| KeyFigure {
        name: "Random writes for long",
        value: steady.map(|steady| Quantity::bandwidth(steady.random_write_bytes_per_s.value)),
        detail: steady
            .map_or_else(String::new, |steady| format!("in {} blocks", Quantity::size(steady.block_bytes))),
    });
    let commit = derived.flush_ns.as_ref();
    let durable = found.flush.as_ref().map(|_| KeyFigure {
        name: "Commit",
        value: commit.map(|commit| Quantity::time_ns(commit.median_ns.value)),
        detail: commit
            .map_or_else(String::new, |commit| format!("median, {}", Quantity::size(commit.write_bytes))),
    });
    [random, for_long, durable].into_iter().flatten()
}

/// The depth for the efficient block, or for the block next above it that has one.
fn depth(derived: &Derived) -> KeyFigure {
    let block = derived.efficient_block_bytes.map(|block| block.value);
    let fits = |depth: &&DepthForBlock| block.is_some_and(|block| depth.block_bytes >= block);
    let depth = derived.saturating_queue_depth.iter().filter(fits).min_by_key(|depth| depth.block_bytes);
    KeyFigure {
        name: "Saturating depth",
        value: depth.map(|depth| text::plain(u64::from(depth.queue_depth.value))),
        detail: depth
            .map_or_else(String::new, |depth| format!("for {} blocks", Quantity::size(depth.block_bytes))),
    }
}
