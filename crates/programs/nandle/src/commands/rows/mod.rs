//! Input, output and temporary data of rows: shared by sort and join.

mod args;
mod batch;
mod blocks;
mod costs;
mod direct_file;
mod input;
mod key;
mod maker;
mod number;
mod output;
mod part_writer;
mod records;
mod temporary;
mod threads;

use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::pin;
use std::task::Poll;
use std::time::SystemTime;

use nandle_session::Cancel;
use nandle_spill::{Budget, Place, SpillCosts, SpillError};
use nandle_terminal::interrupt::cancel_on_signals;
use serde::Serialize;

pub(crate) use self::args::{Cluster, SpillArgs, cluster};
pub(crate) use self::batch::Batch;
pub(crate) use self::costs::costs;
pub(crate) use self::input::{Batches, Input, Source};
pub(crate) use self::key::{Fields, KeySpec, Keys, check_specs};
pub(crate) use self::maker::Carried;
pub(crate) use self::output::{NewFile, Output};
pub(crate) use self::part_writer::{PartWriter, PartedFile};
pub(crate) use self::records::Format;
use self::temporary::ANOTHER_PLACE;
pub(crate) use self::temporary::{Temporary, world_of};
pub(crate) use self::threads::{Stop, in_threads, in_threads_beside, lock, threads};
use crate::error::CliError;

/// Bytes that threads pass on at once, unless memory is small.
const BATCH_BYTES_MAX: usize = 256 << 10;
/// Block of direct requests.
const PAGE_BYTES: usize = 4096;
/// Divisor of memory that bounds a batch.
const BATCH_PART: usize = 128;
/// Divisor of memory that bounds a record.
const RECORD_PART: usize = 8;

/// Memory of each component.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) budget: Budget,
    pub(crate) batch_bytes: usize,
    /// Buffers between input and output.
    pub(crate) passing_bytes: usize,
    all_bytes: usize,
}

impl Memory {
    /// Divides the memory that the user grants.
    pub(crate) fn of(bytes: u64) -> Result<Self, CliError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let batch_bytes = (bytes / BATCH_PART).clamp(PAGE_BYTES, BATCH_BYTES_MAX) / PAGE_BYTES * PAGE_BYTES;
        // Three more for input: one filling, one in use, one for an incomplete record. One more
        // for output, being filled.
        let passing_bytes = (direct_file::DEPTH + input::BATCHES + 3 + output::BUFFERS + 1) * batch_bytes;
        let budget = Budget::new(bytes - passing_bytes).map_err(spilled)?;
        Ok(Self { budget, batch_bytes, passing_bytes, all_bytes: bytes })
    }

    /// Longest record: memory divided by `memory_part`.
    pub(crate) fn record_limit(&self, memory_part: usize) -> RecordLimit {
        let memory_part = memory_part.max(RECORD_PART);
        RecordLimit { bytes: (self.all_bytes / memory_part).max(self.batch_bytes), memory_part }
    }
}

/// Bound on the length of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordLimit {
    pub(crate) bytes: usize,
    /// Divisor of the memory.
    pub(crate) memory_part: usize,
}

/// State of a command before it reads input.
pub(crate) struct Setup {
    pub(crate) cancel: Cancel,
    pub(crate) memory: Memory,
    pub(crate) costs: SpillCosts,
    pub(crate) temporary: Temporary,
}

impl Setup {
    /// Opens everything except the input, so that its errors appear before anything is read. Warns
    /// of fallbacks.
    pub(crate) fn open(args: &SpillArgs, output: Option<&Path>) -> Result<Self, CliError> {
        check_output(output)?;
        let cancel = cancel_on_signals()?;
        let memory = Memory::of(args.memory)?;
        let (costs, of_costs) = costs(args.profile.as_deref())?;
        let temporary = Temporary::open(args, output)?;
        let explained = temporary.remarks.iter().chain([&of_costs]).filter(|_| args.explain);
        for remark in temporary.stepped_down.iter().chain(explained) {
            nandle_terminal::output::note(remark);
        }
        Ok(Self { cancel, memory, costs, temporary })
    }
}

/// Prints the report: JSON if standard output isn't the result's, otherwise text if requested.
pub(crate) fn tell(
    file: &impl Serialize,
    lines: Vec<String>,
    (explain, json, has_output): (bool, bool, bool),
) -> Result<(), CliError> {
    if json && has_output {
        return Ok(nandle_terminal::output::json(file)?);
    }
    if explain || json {
        for line in lines {
            nandle_terminal::output::note(&line);
        }
    }
    Ok(())
}

/// All of the temporary space.
pub(crate) fn place(temporary: &Temporary) -> Place {
    Place {
        device: temporary.device,
        start_bytes: 0,
        length_bytes: temporary.bytes,
        salt: salt(),
        discards: false,
    }
}

/// Value unlike that of any earlier user of the space. In virtual time nothing depends on it.
fn salt() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or_default() ^ u64::from(std::process::id()) << 48
}

/// Error of an interrupted command.
pub(crate) fn interrupted() -> CliError {
    CliError::interrupted("interrupted; the temporary data are gone, and an output file is as it was")
}

/// Awaits `work` unless the user interrupts.
pub(crate) async fn unless_cancelled<T>(
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Result<T, CliError> {
    let mut work = pin!(work);
    poll_fn(|context| {
        if cancel.is_cancelled() {
            Poll::Ready(Err(interrupted()))
        } else {
            work.as_mut().poll(context).map(Ok)
        }
    })
    .await
}

/// Checks that the output's directory exists before anything is read.
fn check_output(output: Option<&Path>) -> Result<(), CliError> {
    let Some(output) = output else { return Ok(()) };
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(CliError::failed(format!("writing to {}: its directory isn't there", output.display())));
    }
    Ok(())
}

/// Adds the option that helps.
pub(crate) fn spilled(error: SpillError) -> CliError {
    match error {
        SpillError::Memory { .. } => CliError::failed(format!("{error} (--memory)")),
        SpillError::Full { .. } | SpillError::Io(_) => CliError::failed(format!("{error} {ANOTHER_PLACE}")),
        SpillError::Options { .. } => CliError::usage(error.to_string()),
        error => CliError::failed(error.to_string()),
    }
}

/// Parses a single-byte field separator.
pub(crate) fn one_byte(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        b"\\0" => Ok(0),
        _ => Err("expected one byte, \\t or \\0".into()),
    }
}
