use maud::{Markup, html};
use nandle_profile::{DeviceProfile, MeasuredCell, SkippedCell};

use super::Level;
use super::fold::{anchor_of, fold};
use crate::device::Device;
use crate::text::{self, Quantity};

const HEADS: [&str; 13] = [
    "Pattern",
    "Operation",
    "Block",
    "Group",
    "Depth",
    "Bandwidth",
    "Requests/s",
    "p50",
    "p99",
    "Slowest",
    "CPU per request",
    "Slices",
    "Errors",
];

/// Measured and skipped cells, folded.
pub(crate) fn cells(device: &Device, level: Level) -> Markup {
    let profile = device.profile;
    let body = html! {
        div.cells {
            @if profile.cells.is_empty() { p { "No cell was measured." } } @else { (measured(profile)) }
            @if !profile.skipped.is_empty() { (skipped(&profile.skipped)) }
            (fit(profile))
        }
    };
    fold(&anchor_of("cells", device, level), "All cells", level, &body)
}

fn measured(profile: &DeviceProfile) -> Markup {
    html! {
        details {
            summary { (text::plural(profile.cells.len() as u64, "measured cell")) }
            div.scroll tabindex="0" role="region" aria-label="Measured cells" {
                table.cell-table {
                    caption { span { "Bandwidths are corrected for drift, with their 95 % interval." } }
                    thead { tr { @for head in HEADS { th scope="col" { (head) } } } }
                    tbody { @for cell in &profile.cells { (row(cell)) } }
                }
            }
        }
    }
}

fn row(measured: &MeasuredCell) -> Markup {
    let cell = &measured.cell;
    let time = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), text::time_ns);
    html! {
        tr {
            td { bdi { (text::clean(&cell.pattern)) } }
            td { (cell.operation) }
            td { (Quantity::size(cell.block_bytes)) }
            td { (text::plain(cell.group_blocks)) }
            td { (cell.queue_depth) }
            td { (text::bandwidth(&measured.steady_bandwidth_bytes_per_s)) }
            td { (Quantity::bare(cell.iops)) }
            td { (time(cell.latency_ns.p50)) }
            td { (time(cell.latency_ns.p99)) }
            td { (time(cell.latency_ns.max)) }
            td { (Quantity::time_ns(cell.cpu_ns_per_request)) }
            td { (measured.slices) }
            td { (text::plain(cell.errors)) }
        }
    }
}

fn skipped(skipped: &[SkippedCell]) -> Markup {
    html! {
        details {
            summary { (text::plural(skipped.len() as u64, "cell")) " left out" }
            ul {
                @for cell in skipped {
                    li {
                        bdi { (text::clean(&cell.pattern)) } ", " (Quantity::size(cell.block_bytes)) " × "
                        (cell.group_blocks) " at depth " (cell.queue_depth) ": " bdi { (text::clean(&cell.reason)) }
                    }
                }
            }
        }
    }
}

fn fit(profile: &DeviceProfile) -> Markup {
    let percent = |share: f64| text::significant(100.0 * share, 2);
    html! {
        @match &profile.fit {
            None => p.aside { "There were too few cells to fit a curve." },
            Some(fit) => p.aside {
                "The fitted curve: " (Quantity::time_ns(fit.request_ns)) " for a request"
                // If bandwidth limits every cell, the time per byte can't be determined.
                @if fit.ns_per_byte * 1e6 > fit.request_ns * 1e-3 {
                    " and " (text::significant(fit.ns_per_byte, 3)) " ns for each byte"
                }
                " at depth 1, bounds of about "
                (Quantity::bare(fit.iops_max)) " reads/s and " (Quantity::bandwidth(fit.bandwidth_bytes_per_s_max))
                ". A measured cell that is left out of the fit is predicted with an error of " (percent(fit.error_median))
                " % (median; 90 % of them below " (percent(fit.error_p90)) " %)."
            },
        }
    }
}
