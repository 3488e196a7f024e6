//! Summary of a capture, and the next commands.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nandle_io::Nanos;
use nandle_target::facts::{RequestQueue, request_queue};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::words::{bandwidth, counted, latency, paragraph, quoted_os, thousands};
use nandle_trace::{Operation, PageFit};
use nandle_units::{format_bytes, format_duration};
use serde_json::{Value, json};

use super::args::{CaptureArgs, Chosen};
use super::counts::Counts;
use crate::commands::replay::PAGES_BYTES;
use crate::error::CliError;

/// Most programs named whose requests were omitted.
const NAMED_MAX: usize = 3;
/// Modelled drive suggested for the first replay.
const DRIVE: &str = "model:nvme-tlc";

/// A finished capture.
pub(super) struct Captured {
    pub(super) queue: RequestQueue,
    pub(super) took: Nanos,
    pub(super) counts: Counts,
    pub(super) fit: PageFit,
    pub(super) lost_events: u64,
    /// Exit code of the command.
    pub(super) exit_code: Option<u8>,
}

/// Prints the result; to standard error if a command owns standard output.
pub(super) fn print(args: &CaptureArgs, common: Common, captured: &Captured) -> Result<(), CliError> {
    if common.json {
        return Ok(output::json(&as_json(args, captured))?);
    }
    let text = text(args, captured);
    if args.command.is_empty() {
        return Ok(output::result(&text)?);
    }
    output::note(text.trim_end());
    Ok(())
}

fn text(args: &CaptureArgs, captured: &Captured) -> String {
    let mut text = heading(args, captured);
    for remark in remarks(args, captured) {
        paragraph(&mut text, "! ", &remark);
    }
    let next = next(args, captured);
    if !next.is_empty() {
        let _ = writeln!(text, "\nNext:\n  {}", next.join("\n  "));
    }
    text
}

/// Operations listed even with a count of zero.
const ALWAYS: [Operation; 3] = [Operation::Write, Operation::Read, Operation::Sync];

fn plural(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Sync => "syncs",
        Operation::Discard => "discards",
        Operation::Append => "appends",
        Operation::ZoneReset => "resets",
        Operation::ZoneFinish => "finishes",
        Operation::ZoneOpen => "opens",
        Operation::ZoneClose => "closes",
    }
}

fn heading(args: &CaptureArgs, captured: &Captured) -> String {
    let Captured { queue, took, counts, .. } = captured;
    let requests = counted(counts.requests(), "request");
    let (output, place) = (args.output.display(), place(queue));
    let mut lines = vec![format!("{output}: {requests} on {place}, {}", format_duration(rounded(*took)))];
    let others = Operation::ALL.into_iter().filter(|operation| !ALWAYS.contains(operation));
    for operation in ALWAYS.into_iter().chain(others) {
        let kind = counts.of(operation);
        if kind.requests == 0 && !ALWAYS.contains(&operation) {
            continue;
        }
        let bytes = match operation {
            Operation::Sync => String::new(),
            _ => format!(", {} MB", bandwidth(kind.bytes as f64)),
        };
        let mean = kind.mean_latency_ns().map(|mean| format!(", mean {}", latency(Some(Nanos(mean)))));
        let (name, requests) = (plural(operation), thousands(kind.requests as f64));
        lines.push(format!("{name:<10}{requests}{bytes}{}", mean.unwrap_or_default()));
    }
    if counts.durable_writes > 0 {
        let durable = thousands(counts.durable_writes as f64);
        lines.push(format!("durable   {durable} of the writes, each with a sync behind it in the trace"));
    }
    if counts.by_kernel > 0 {
        let by_kernel = thousands(counts.by_kernel as f64);
        lines.push(format!("kernel    {by_kernel} of these (write-back, journal: for whichever program)"));
    }
    if counts.left_out() > 0 {
        let named = counts.others(NAMED_MAX).into_iter();
        let named: Vec<_> =
            named.map(|(name, requests)| format!("{name} {}", thousands(requests as f64))).collect();
        let left_out = thousands(counts.left_out() as f64);
        lines.push(format!("left out  {left_out} of other programs: {}", named.join(", ")));
    }
    lines.push(format!("lost      {}", counted(captured.lost_events, "event")));
    lines.join("\n") + "\n"
}

/// Rounds to a tenth of a second.
fn rounded(time: Nanos) -> Nanos {
    const TENTH_NS: u64 = 100_000_000;
    Nanos((time.0 + TENTH_NS / 2) / TENTH_NS * TENTH_NS)
}

/// Description of the recorded disk.
fn place(queue: &RequestQueue) -> String {
    let part = &queue.part;
    let below = if queue.above.is_empty() { "" } else { ", below " };
    format!("{} ({}{below}{})", part.name, format_bytes(part.length_bytes), queue.above.join(" and "))
}

/// Remarks on the capture's limits.
fn remarks(args: &CaptureArgs, captured: &Captured) -> Vec<String> {
    let counts = &captured.counts;
    let mut remarks = Vec::new();
    if captured.lost_events > 0 {
        remarks.push(format!(
            "Events came faster than they were read, and some were lost: requests and response times are missing in the \
             trace. A larger --buffer than {} keeps more of them.",
            format_bytes(args.buffer)
        ));
    }
    if counts.bad_lines > 0 {
        let lines = counted(counts.bad_lines, "line");
        remarks.push(format!("What the kernel told in {lines} could not be understood, and is missing."));
    }
    if counts.failed > 0 {
        remarks.push(format!("{} failed; the kernel's log says why.", counted(counts.failed, "request")));
    }
    remarks.extend(of_others(args, counts));
    if lacks_syncs(captured) {
        remarks.push(format!(
            "{} has no cache that a power cut empties, so the kernel sends it no flushes: programs' syncs are not in the trace. \
             Each of its writes was durable when it completed, as --durability each has it in a replay.",
            captured.queue.disk
        ));
    }
    if counts.requests() == 0 && counts.left_out() == 0 {
        remarks.push(format!(
            "Nothing reached {}: what is read may lie in memory, and what is written wait there for a sync.",
            captured.queue.part.name
        ));
    }
    remarks.extend(of_own_writes(&args.output, &captured.queue));
    remarks
}

/// Returns true if the disk needs no syncs and the trace therefore has none.
fn lacks_syncs(captured: &Captured) -> bool {
    let has_syncs = captured.counts.of(Operation::Sync).requests + captured.counts.durable_writes > 0;
    captured.queue.has_volatile_cache == Some(false)
        && !has_syncs
        && captured.counts.of(Operation::Write).requests > 0
}

/// Remark if more requests were omitted than recorded: the user may have meant another program.
fn of_others(args: &CaptureArgs, counts: &Counts) -> Option<String> {
    let own = counts.requests() - counts.by_kernel;
    if counts.left_out() <= own {
        return None;
    }
    let advice = match args.chosen() {
        Chosen::Everybody => return None,
        Chosen::Command => {
            "the command asked for itself. If a server works for it, name the server's process by --pid beside the command; \
             --all-processes keeps everything."
        }
        Chosen::Process(_) => {
            "this process and those that it started asked for. If that is the work that you mean, name its process; without \
             --pid everything is kept."
        }
    };
    Some(format!("Other programs' requests were left out, and were more than {advice}"))
}

/// Remark if the trace file lies on the recorded disk.
fn of_own_writes(output: &Path, queue: &RequestQueue) -> Option<String> {
    let bytes = fs::metadata(output).ok()?.size();
    let is_there = request_queue(output).ok()?.disk == queue.disk;
    (is_there && bytes > 1 << 20).then(|| {
        format!(
            "The trace lies on {} itself: what the kernel wrote of its {} meanwhile is in it, too.",
            queue.disk,
            format_bytes(bytes)
        )
    })
}

/// Commands for this trace.
fn next(args: &CaptureArgs, captured: &Captured) -> Vec<String> {
    if captured.counts.requests() == 0 {
        return Vec::new();
    }
    let trace = quoted_os(args.output.as_os_str());
    let usual = captured.fit.usual_bytes().filter(|usual| PAGES_BYTES.contains(usual) && *usual != 4096);
    let page = usual.map_or_else(String::new, |usual| format!(" --page {}", format_bytes(usual)));
    let stat = format!("nandle trace stat {trace}{page}");
    let durability = if lacks_syncs(captured) { " --durability each" } else { "" };
    let replay = format!("nandle replay {trace} --on {DRIVE}{page}{durability}");
    let play = format!("nandle trace play {trace} --on {DRIVE} --addresses compact");
    if captured.counts.of(Operation::Write).requests == 0 {
        vec![stat, play]
    } else {
        vec![stat, replay, play]
    }
}

fn as_json(args: &CaptureArgs, captured: &Captured) -> Value {
    let Captured { queue, took, counts, lost_events, exit_code, .. } = captured;
    let kind = |operation: Operation| {
        let kind = counts.of(operation);
        json!({ "requests": kind.requests, "bytes": kind.bytes, "latency_mean_ns": kind.mean_latency_ns() })
    };
    let others = counts.others(NAMED_MAX);
    let others = others.into_iter().map(|(name, requests)| json!({ "program": name, "requests": requests }));
    json!({
        "schema_version": 1,
        "trace": args.output,
        "disk": queue.disk,
        "device": {
            "name": queue.part.name,
            "start_bytes": queue.part.start_bytes,
            "length_bytes": queue.part.length_bytes,
            "above": queue.above,
        },
        "duration_ns": took.0,
        "requests": counts.requests(),
        "reads": kind(Operation::Read),
        "writes": kind(Operation::Write),
        "syncs": kind(Operation::Sync),
        "discards": kind(Operation::Discard),
        "appends": kind(Operation::Append),
        "zone_resets": kind(Operation::ZoneReset),
        "durable_requests": counts.durable_writes,
        "kernel_requests": counts.by_kernel,
        "failed_requests": counts.failed,
        "left_out": { "requests": counts.left_out(), "programs": others.collect::<Vec<_>>() },
        "lost_events": lost_events,
        "bad_lines": counts.bad_lines,
        "exit_code": exit_code,
        "remarks": remarks(args, captured),
        "next": next(args, captured),
    })
}
