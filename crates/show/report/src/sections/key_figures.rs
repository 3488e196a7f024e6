use maud::{Markup, html};
use nandle_profile::{CommitTime, Derived, Experiments, SteadyStateFigures};

use super::Level;
use super::fold::fold;
use crate::device::Device;
use crate::text::{self, Quantity};

/// Tile with a name, a large value, and a detail.
struct KeyFigure {
    name: &'static str,
    value: Option<Quantity>,
    detail: String,
}

/// Key figures of a device.
pub(crate) fn key_figures(device: &Device) -> Markup {
    let derived = &device.profile.derived;
    let reads = [random_bandwidth(derived), rate(derived), latency(device), block(derived), depth(derived)];
    let figures = reads.into_iter().chain(writes(device));
    let body = html! {
        div.key-figures {
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
    };
    fold("key-figures", "Key figures", Level::Two, &body)
}

/// Description of a figure with its bounds, for the line below the value.
fn with_bounds(what: &str, bounds: Option<String>) -> String {
    [Some(what.to_owned()), bounds].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn random_bandwidth(derived: &Derived) -> KeyFigure {
    let best = derived.random_bandwidth_bytes_per_s_max.as_ref();
    KeyFigure {
        name: "Random bandwidth",
        value: best.map(|best| Quantity::bandwidth(best.value)),
        detail: best.map_or_else(String::new, |best| {
            with_bounds("best plateau", text::bounds(best, Quantity::bandwidth))
        }),
    }
}

fn rate(derived: &Derived) -> KeyFigure {
    let best = derived.random_read_iops_max.as_ref();
    let quantity = |value| Quantity { unit: "\u{a0}/s", ..Quantity::bare(value) };
    KeyFigure {
        name: "Random reads",
        value: best.map(|best| quantity(best.value)),
        detail: best.map_or_else(String::new, |best| with_bounds("at most", text::bounds(best, quantity))),
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
            with_bounds("smallest near full", text::bounds(block, Quantity::size))
        }),
    }
}

/// Key figures of writes: cost of random writes, steady state and commit time, if they were
/// measured.
fn writes(device: &Device) -> impl Iterator<Item = KeyFigure> {
    let profile = device.profile;
    let (derived, found) = (&profile.derived, &profile.experiments);
    let cost = derived.write_pattern_cost.as_ref();
    let random = found.write_patterns.as_ref().map(|_| KeyFigure {
        name: "Random write cost",
        value: cost.map(|cost| Quantity { unit: "\u{a0}× sequential", ..Quantity::bare(cost.random.value) }),
        detail: cost.map_or_else(String::new, |cost| {
            let block = format!("{} writes", Quantity::size(cost.block_bytes));
            with_bounds(&block, text::bounds(&cost.random, Quantity::bare))
        }),
    });
    let steady = derived.steady_state.as_ref();
    let for_long = found.steady_state.as_ref().map(|_| KeyFigure {
        name: if profile.long_writing().is_none_or(|writing| writing.is_steady()) {
            "Sustained random writes"
        } else {
            "Random writes, at the end"
        },
        value: steady.map(|steady| Quantity::bandwidth(steady.random_write_bytes_per_s.value)),
        detail: steady.map_or_else(String::new, for_long_detail),
    });
    let commit = device.profile.commit();
    let durable = found.timed_commits().then(|| KeyFigure {
        name: "Commit",
        value: commit.map(|commit| Quantity::time_ns(commit.median_ns.value)),
        detail: commit.map_or_else(String::new, |commit| commit_detail(&commit, found)),
    });
    [random, for_long, durable].into_iter().flatten()
}

fn for_long_detail(steady: &SteadyStateFigures) -> String {
    let block = format!("{} writes", Quantity::size(steady.block_bytes));
    with_bounds(&block, text::bounds(&steady.random_write_bytes_per_s, Quantity::bandwidth))
}

/// Tail of the commits; the tile shows their median.
fn commit_detail(commit: &CommitTime, found: &Experiments) -> String {
    let place = if commit.in_file { " in a file" } else { "" };
    let what = format!("median, {} by {}{place}", Quantity::size(commit.write_bytes), commit.method);
    let mean_ns = found.commits().find(|cost| commit.is_of(cost)).and_then(|cost| cost.latency_ns.mean);
    let mean = mean_ns.map_or_else(String::new, |ns| format!("; mean {}", Quantity::time_ns(ns)));
    let tail = commit.p99_ns.map_or_else(
        || "; too few for a 99th percentile".to_owned(),
        |p99| format!("; 99\u{a0}% within {}", text::time_ns(p99)),
    );
    what + &mean + &tail
}

/// Least depth at which the efficient block is near full bandwidth, as framed in the grid below.
fn depth(derived: &Derived) -> KeyFigure {
    let near_full = derived.near_full_depth();
    KeyFigure {
        name: "Near-full depth",
        value: near_full.map(|(_, depth)| text::plain(u64::from(depth))),
        detail: near_full.map_or_else(String::new, |(block, _)| {
            format!("least depth at which {} blocks are near the device’s best", Quantity::size(block))
        }),
    }
}
