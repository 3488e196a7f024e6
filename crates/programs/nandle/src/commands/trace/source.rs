//! Reads a trace and shows progress.

use nandle_io::Nanos;
use nandle_session::Observer as _;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{counted, thousands};
use nandle_trace::{Format, ReadOptions, Reader, Record};
use nandle_units::format_duration;

use super::SourceArgs;
use crate::error::CliError;

/// Events between progress updates.
const STRIDE: u64 = 1 << 16;

/// Result of reading a trace.
pub(super) struct Gone {
    /// Name of the trace's format.
    pub(super) format: &'static str,
    /// Damaged lines that were skipped.
    pub(super) bad_lines: u64,
    /// Remarks, each a sentence.
    pub(super) remarks: Vec<String>,
}

pub(crate) fn reader(args: &SourceArgs) -> Result<Reader, CliError> {
    let columns = args.columns.as_ref().map(|named| Format::Columns(named.columns));
    let options = ReadOptions {
        format: args.format.map(Into::into).or(columns),
        device: args.device.clone(),
        skip_bad: args.skip_bad,
    };
    Ok(Reader::open(&args.trace, &options)?)
}

/// Passes every event to `each`, up to `limit` writes.
pub(super) fn go_through(
    mut reader: Reader,
    limit: Option<u64>,
    common: Common,
    mut each: impl FnMut(Record) -> Result<(), CliError>,
) -> Result<Gone, CliError> {
    let cancel = cancel_on_signals()?;
    let mut progress = Bar::new(!common.no_progress);
    let (mut events, mut writes) = (0_u64, 0_u64);
    while let Some(record) = reader.next().transpose()? {
        // A few events may span millions of pages, so the check runs for each.
        if cancel.is_cancelled() {
            return Err(CliError::interrupted("interrupted while the trace was read"));
        }
        if record.operation.is_write() {
            writes += 1;
            if limit.is_some_and(|limit| writes > limit) {
                break;
            }
        }
        each(record)?;
        events += 1;
        if events.is_multiple_of(STRIDE) {
            progress.progress(&format!("{} events read", thousands(events as f64)), 0.0);
        }
    }
    progress.finish();
    let (format, bad_lines) = (reader.format().name(), reader.bad_lines());
    Ok(Gone { format, bad_lines, remarks: remarks_of_reading(&reader) })
}

/// Remarks on a trace that was read.
pub(crate) fn remarks_of_reading(reader: &Reader) -> Vec<String> {
    let mut remarks = remarks_of_beginning(reader);
    let back = reader.backward_times();
    if back.events > 0 {
        remarks.push(format!(
            "{} earlier than one before, by up to {}, the first in line {}: they stay in the order of the lines. Sort the trace by time to \
             have them in that order.",
            if back.events == 1 { "1 event is".to_owned() } else { format!("{} events are", thousands(back.events as f64)) },
            format_duration(Nanos(back.back_us_max.saturating_mul(1000))),
            thousands(back.first_line as f64),
        ));
    }
    remarks
}

/// Remarks on a trace that was opened.
pub(crate) fn remarks_of_beginning(reader: &Reader) -> Vec<String> {
    let mut remarks = Vec::new();
    if reader.is_guessed() {
        remarks.push(format!(
            "Read as {}, whose columns it fits. If they mean something else, say so with --format or --columns.",
            reader.format().description()
        ));
    }
    if reader.lines_before() > 0 {
        let lines = counted(reader.lines_before(), "line");
        remarks.push(format!("{lines} before the first event passed over."));
    }
    remarks
}
