//! Interprets a trace's statistics for a page store, and suggests commands.

use std::path::Path;

use nandle_terminal::words::{counted, quoted, quoted_os};
use nandle_trace::TraceStatistics;
use nandle_units::format_bytes;

use super::SourceArgs;
use crate::commands::replay::PAGES_BYTES;

/// Modelled drive suggested for the first replay: it touches none of the user's data.
const DRIVE: &str = "model:nvme-tlc";
/// Share of reads below which they are few, and share above which they dominate.
const FEW_READS: f64 = 0.1;
const MOST_READS: f64 = 0.8;
/// Fraction of the pages whose share of the writes is judged. Writes are uneven from
/// `UNEVEN_SHARE`, and even up to `EVEN_SHARE`.
const FIFTH: f64 = 0.2;
const UNEVEN_SHARE: f64 = 0.6;
const EVEN_SHARE: f64 = 0.35;
/// From this share on a buffer is worth its memory, or sorted pages are contiguous.
const ABSORBED_SHARE: f64 = 0.25;
const SIDE_BY_SIDE_SHARE: f64 = 0.5;

/// Interpretation in sentences.
pub(super) fn sentences(s: &TraceStatistics) -> String {
    if s.reads + s.writes == 0 {
        return String::new();
    }
    let told = [Some(mix(s)), syncs(s), skew(s), gathered(s)];
    told.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn mix(s: &TraceStatistics) -> String {
    let reads = s.reads as f64 / ((s.reads + s.writes) as f64).max(1.0);
    let percent = format!("{:.0} %", 100.0 * reads);
    if s.reads == 0 {
        "The trace writes alone.".to_owned()
    } else if reads < FEW_READS {
        format!("It writes nearly all the time ({percent} are reads, the rest is cached or wasn't traced).")
    } else if reads > MOST_READS {
        format!("It reads most of the time ({percent}), so that how fast it is depends on reads above all.")
    } else {
        format!("It reads and writes ({percent} are reads).")
    }
}

fn syncs(s: &TraceStatistics) -> Option<String> {
    if s.writes == 0 {
        return None;
    }
    if s.syncs == 0 {
        return Some(
            "It never syncs, or its disk isn't told to: --durability each replays it as if each write were a commit."
                .to_owned(),
        );
    }
    let writes = s.writes as f64 / s.syncs as f64;
    Some(if writes < 2.0 {
        "Nearly each write is followed by a sync, so that what a commit takes decides.".to_owned()
    } else {
        format!("About {writes:.0} writes share a sync.")
    })
}

fn skew(s: &TraceStatistics) -> Option<String> {
    let fifth = s.skew.iter().find(|skew| (skew.of_pages - FIFTH).abs() < 1e-9)?.of_writes;
    let share = format!("{:.0} % of the writes", 100.0 * fifth);
    if fifth >= UNEVEN_SHARE {
        Some(format!(
            "A fifth of the pages takes {share}: some are hot, and a cache or buffer for these pays."
        ))
    } else if fifth <= EVEN_SHARE {
        Some(format!("A fifth of the pages takes {share}: none is hot."))
    } else {
        None
    }
}

/// Effect of the largest window on the writes.
fn gathered(s: &TraceStatistics) -> Option<String> {
    let largest = s.runs.last().filter(|_| s.pages_written > 0)?;
    let buffer = format!("a buffer of {}", counted(largest.window_writes, "page"));
    let absorbed = format!("{:.0} %", 100.0 * largest.rewritten);
    let saved = if largest.rewritten >= ABSORBED_SHARE {
        format!(
            "In {buffer} {absorbed} of the page writes are rewritten before they leave it, which staging saves the drive."
        )
    } else {
        format!("Even {buffer} absorbs only {absorbed} of the page writes.")
    };
    let order = if largest.in_runs_of_4 >= SIDE_BY_SIDE_SHARE {
        "Sorted in it, most pages lie side by side, so that staged writes reach the drive in long runs."
    } else {
        "Sorted in it, few pages lie side by side: they stay random writes however they are gathered, unless a store puts them elsewhere \
         (out-of-place)."
    };
    Some(format!("{saved} {order}"))
}

/// Commands for this trace; empty if it came through a pipe.
pub(super) fn next(source: &SourceArgs, s: &TraceStatistics) -> Vec<String> {
    if source.trace == Path::new("-") {
        return Vec::new();
    }
    let trace = format!("{}{}", quoted_os(source.trace.as_os_str()), options(source));
    let page_bytes = s.usual_write_bytes.filter(|bytes| PAGES_BYTES.contains(bytes) && *bytes != 4096);
    let page = page_bytes.map_or_else(String::new, |bytes| format!(" --page {}", format_bytes(bytes)));
    let durability = if s.syncs == 0 { " --durability each" } else { "" };
    let replay = format!("nandle replay {trace} --on {DRIVE}{page}{durability}");
    let play = format!("nandle trace play {trace} --on {DRIVE} --addresses compact");
    if s.writes == 0 { vec![play] } else { vec![replay, play] }
}

/// Options that describe how the trace was read.
fn options(source: &SourceArgs) -> String {
    let format = source.format.map_or_else(String::new, |format| {
        use clap::ValueEnum as _;
        let name = format.to_possible_value();
        name.map_or_else(String::new, |name| format!(" --format {}", name.get_name()))
    });
    let columns = source.columns.as_ref();
    let columns = columns.map_or_else(String::new, |columns| format!(" --columns {}", columns.text));
    let device =
        source.device.as_deref().map_or_else(String::new, |device| format!(" --device {}", quoted(device)));
    let skip = if source.skip_bad { " --skip-bad" } else { "" };
    format + &columns + &device + skip
}
