//! The result on a terminal.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_io::units::{format_bytes, format_duration};
use nandle_replay::PolicyOutcome;

use super::Told;
use crate::words::{latency, paragraph, thousands, to_the_right};

/// The whole text.
pub(super) fn text(told: &Told) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &heading(told));
    let _ = writeln!(text, "\n{}\n", table(told));
    let verified: Vec<_> = told.policies.iter().map(|policy| policy.verified_pages).collect();
    if let Some(fewest) = verified.iter().min().filter(|pages| **pages > 0) {
        let sentence = format!(
            "Every written page ({}) was read back from each store and held what was written last.",
            thousands(*fewest as f64)
        );
        paragraph(&mut text, "", &sentence);
    }
    for remark in &told.remarks {
        paragraph(&mut text, "* ", remark);
    }
    text
}

fn heading(told: &Told) -> String {
    format!(
        "{} on {}: {} writes of {} to {} of pages, depth {}, durable {}.",
        told.trace,
        told.target,
        thousands(told.page_writes as f64),
        format_bytes(told.page_bytes),
        format_bytes(told.pages * told.page_bytes),
        told.queue_depth,
        told.durable()
    )
}

fn table(told: &Told) -> Table {
    let drive = told.policies.iter().any(|policy| policy.drive.is_some());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["policy", "buffer", "time", "by direct", "p50", "p99", "written", "flushes"];
    header.extend(drive.then_some("flash"));
    table.set_header(header);
    for policy in told.policies {
        table.add_row(row(policy, drive));
    }
    to_the_right(&mut table, 1..);
    table
}

fn row(policy: &PolicyOutcome, drive: bool) -> Vec<String> {
    let latencies = policy.latency_ns;
    let mut row = vec![
        policy.policy.to_owned(),
        if policy.buffer_bytes > 0 { format_bytes(policy.buffer_bytes) } else { "–".into() },
        format_duration(Nanos(policy.elapsed_ns / 1_000_000 * 1_000_000)),
        policy.speedup_over_direct.map_or("–".into(), |times| format!("{times:.2} x")),
        latency(latencies.p50.map(Nanos)),
        latency(latencies.p99.map(Nanos)),
        format!("{:.2} x", policy.write_amplification),
        thousands(policy.flushes as f64),
    ];
    let flash = policy.drive.map(|drive| format!("{:.2} x", drive.flash_bytes_by_page_bytes));
    row.extend(drive.then(|| flash.unwrap_or("–".into())));
    row
}
