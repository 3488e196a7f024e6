//! What was recorded, and what to do with it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nandle_io::Nanos;
use nandle_target::facts::{RequestQueue, request_queue};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::words::{bandwidth, counted, latency, paragraph, quoted, thousands};
use nandle_trace::{Operation, PageFit};
use nandle_units::{format_bytes, format_duration};
use serde_json::{Value, json};

use super::args::{CaptureArgs, Chosen};
use super::counts::Counts;
use crate::commands::replay::PAGES_BYTES;
use crate::error::CliError;

/// Programs that are named of those whose requests were left out.
const NAMED_MAX: usize = 3;
/// The modelled drive on which the trace is to be tried first.
const DRIVE: &str = "model:nvme-tlc";

/// A capture that is done.
pub(super) struct Captured {
    pub(super) queue: RequestQueue,
    pub(super) took: Nanos,
    pub(super) counts: Counts,
    pub(super) fit: PageFit,
    pub(super) lost_events: u64,
    /// Of the command.
    pub(super) exit_code: Option<u8>,
}

/// Prints the result: beside a command, which has standard output, to standard error.
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
    let Captured { queue, took, counts, .. } = captured;
    let mut text = format!(
        "{}: {} on {}, {}\n",
        args.output.display(),
        counted(counts.requests(), "request"),
        place(queue),
        format_duration(rounded(*took))
    );
    for operation in [Operation::Write, Operation::Read, Operation::Sync, Operation::Discard] {
        let kind = counts.of(operation);
        if kind.requests == 0 && operation == Operation::Discard {
            continue;
        }
        let bytes = match operation {
            Operation::Sync => String::new(),
            Operation::Read | Operation::Write | Operation::Discard => {
                format!(", {} MB", bandwidth(kind.bytes as f64))
            }
        };
        let mean = kind.mean_latency_ns().map(|mean| format!(", {} in the mean", latency(Some(Nanos(mean)))));
        let mean = mean.unwrap_or_default();
        text += &format!(
            "{:<10}{}{bytes}{mean}\n",
            format!("{}s", operation.name()),
            thousands(kind.requests as f64)
        );
    }
    for remark in remarks(args, captured) {
        paragraph(&mut text, "! ", &remark);
    }
    let next = next(args, captured);
    if !next.is_empty() {
        text += &format!("\nNext:\n  {}\n", next.join("\n  "));
    }
    text
}

/// To a tenth of a second.
fn rounded(time: Nanos) -> Nanos {
    const TENTH_NS: u64 = 100_000_000;
    Nanos((time.0 + TENTH_NS / 2) / TENTH_NS * TENTH_NS)
}

/// What was watched.
fn place(queue: &RequestQueue) -> String {
    let part = &queue.part;
    let below = if queue.above.is_empty() { "" } else { ", below " };
    format!("{} ({}{below}{})", part.name, format_bytes(part.length_bytes), queue.above.join(" and "))
}

/// What whoever uses the trace must know.
fn remarks(args: &CaptureArgs, captured: &Captured) -> Vec<String> {
    let counts = &captured.counts;
    let mut remarks = Vec::new();
    if captured.lost_events > 0 {
        remarks.push(format!(
            "{} were lost, because they came faster than they were read: requests or response times are missing in the \
             trace. A larger --buffer than {} keeps them.",
            counted(captured.lost_events, "event"),
            format_bytes(args.buffer)
        ));
    }
    if counts.bad_lines > 0 {
        let lines = counted(counts.bad_lines, "line");
        remarks.push(format!("{lines} of the kernel's could not be read, and what they tell is missing."));
    }
    if counts.failed > 0 {
        remarks.push(format!("{} failed; the kernel's log says why.", counted(counts.failed, "request")));
    }
    remarks.extend(of_others(args, counts));
    if counts.by_kernel > 0 {
        remarks.push(format!(
            "{} were asked for by the kernel itself (write-back, journal), for whichever program; they are in the trace.",
            counted(counts.by_kernel, "request")
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

/// What was left out, and how to have it.
fn of_others(args: &CaptureArgs, counts: &Counts) -> Option<String> {
    let left_out = counts.left_out();
    let named: Vec<String> = counts
        .others(NAMED_MAX)
        .into_iter()
        .map(|(name, requests)| format!("{name} {}", thousands(requests as f64)))
        .collect();
    let left =
        format!("{} of other programs were left out ({})", counted(left_out, "request"), named.join(", "));
    let most = left_out > counts.requests() - counts.by_kernel.min(counts.requests());
    match args.chosen() {
        _ if left_out == 0 => None,
        Chosen::Command if most => Some(format!(
            "{left}, more than the command itself asked for. If a server works for it, name the server's process by --pid \
             beside the command; --all-processes keeps everything."
        )),
        Chosen::Process(_) if most => Some(format!(
            "{left}, more than this process and those that it started asked for. If that is the work that you mean, name its \
             process by --pid; without --pid everything is kept."
        )),
        Chosen::Everybody | Chosen::Command | Chosen::Process(_) => Some(format!("{left}.")),
    }
}

/// The trace itself may lie on the disk that was watched.
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

/// Commands that work on this trace.
fn next(args: &CaptureArgs, captured: &Captured) -> Vec<String> {
    if captured.counts.requests() == 0 {
        return Vec::new();
    }
    let trace = quoted(&args.output.display().to_string());
    let usual = captured.fit.usual_bytes().filter(|usual| PAGES_BYTES.contains(usual) && *usual != 4096);
    let page = usual.map_or_else(String::new, |usual| format!(" --page {}", format_bytes(usual)));
    let stat = format!("nandle trace stat {trace}{page}");
    let replay = format!("nandle replay {trace} --on {DRIVE}{page}");
    if captured.counts.of(Operation::Write).requests == 0 { vec![stat] } else { vec![stat, replay] }
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
