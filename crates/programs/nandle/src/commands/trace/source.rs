//! Goes through a trace, with progress.

use nandle_session::Observer as _;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::thousands;
use nandle_trace::{Operation, ReadOptions, Reader, Record};

use super::SourceArgs;
use crate::error::CliError;

/// Events between two words of progress.
const STRIDE: u64 = 1 << 16;

/// What was gone through.
pub(super) struct Gone {
    /// Name of the trace's format.
    pub(super) format: &'static str,
    /// Damaged lines that were passed over.
    pub(super) bad_lines: u64,
}

/// Opens the trace.
pub(crate) fn reader(args: &SourceArgs) -> Result<Reader, CliError> {
    let options = ReadOptions {
        format: args.format.map(Into::into),
        device: args.device.clone(),
        skip_bad: args.skip_bad,
    };
    Ok(Reader::open(&args.trace, &options)?)
}

/// Shows `each` every event, up to so many writes.
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
        // A few events may be of millions of pages, so each looks.
        if cancel.is_cancelled() {
            return Err(CliError::interrupted("interrupted while the trace was read"));
        }
        if record.operation == Operation::Write {
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
    Ok(Gone { format: reader.format().name(), bad_lines: reader.bad_lines() })
}
