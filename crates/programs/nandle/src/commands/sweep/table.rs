use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_profile::{Cell, SweepFile};
use nandle_terminal::words::{bandwidth, latency, paragraph, thousands, to_the_right};
use nandle_units::format_bytes;

/// Table of the cells in 80 columns.
pub(super) fn table(file: &SweepFile) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["pattern", "block", "group", "depth", "MB/s", "IOPS", "mean", "p99", "CPU/req"]);
    for cell in &file.cells {
        table.add_row(row(cell));
    }
    to_the_right(&mut table, 1..);
    let operation = file.cells.first().map_or(String::new(), |cell| format!("{}, ", cell.operation));
    let how = if file.backend.direct { "direct" } else { "buffered" };
    let heading =
        format!("{}: {operation}{} ({how}), {}", file.target, file.backend.io, format_bytes(file.file_bytes));
    let mut text = String::new();
    paragraph(&mut text, "", &heading);
    format!("{text}{table}\n")
}

fn row(cell: &Cell) -> [String; 9] {
    let pattern = if cell.errors > 0 {
        format!("{} ({} errors)", cell.pattern, cell.errors)
    } else {
        cell.pattern.clone()
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive mean in nanoseconds"
    )]
    let mean = cell.latency_ns.mean.map(|mean| mean as u64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as above")]
    let cpu = cell.cpu_ns_per_request as u64;
    [
        pattern,
        format_bytes(cell.block_bytes),
        cell.group_blocks.to_string(),
        cell.queue_depth.to_string(),
        bandwidth(cell.bandwidth_bytes_per_s),
        thousands(cell.iops),
        latency(mean.map(Nanos)),
        latency(cell.latency_ns.p99.map(Nanos)),
        latency(Some(Nanos(cpu))),
    ]
}
