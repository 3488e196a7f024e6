//! Writes the sorted records.

use std::sync::atomic::{AtomicU64, Ordering};

use nandle_io::runtime::Handle;
use nandle_session::{Cancel, Observer as _};
use nandle_spill::{Row, SortReport, Sorted, SortedPart};
use nandle_terminal::progress::Bar;

use super::SortArgs;
use crate::commands::rows::{Memory, NewFile, Output, PartWriter, Stop, interrupted, spilled};
use crate::error::CliError;

/// Bytes written between checks for Ctrl-C.
const BYTES_BETWEEN_LOOKS: usize = 4 << 20;

/// Output settings.
pub(super) struct Writing<'a> {
    pub(super) args: &'a SortArgs,
    pub(super) memory: &'a Memory,
    pub(super) cancel: &'a Cancel,
    pub(super) header: Option<Vec<u8>>,
}

/// A part of the result and its offset.
pub(super) struct PlacedPart {
    part: SortedPart,
    offset_bytes: u64,
    length_bytes: u64,
}

impl PlacedPart {
    /// End offset in the file.
    pub(super) fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }
}

impl Writing<'_> {
    /// Bytes after each record.
    fn end(&self) -> &'static [u8] {
        if self.args.record.is_some() { &[] } else { b"\n" }
    }

    fn record<'r>(&self, row: &Row<'r>) -> &'r [u8] {
        if self.args.sorts_whole_records() { row.key } else { row.payload }
    }

    fn check_cancelled(&self) -> Result<(), CliError> {
        if self.cancel.is_cancelled() { Err(interrupted()) } else { Ok(()) }
    }

    /// Writes a result merged by this thread; the output thread writes.
    pub(super) async fn whole(&self, sorted: &mut Sorted, bar: &mut Bar) -> Result<SortReport, CliError> {
        let mut output = Output::start(self.args.output(), self.memory.batch_bytes)?;
        let end = self.end();
        let mut wants_more = self.header.as_ref().is_none_or(|header| output.push(header, end));
        let total = sorted.report().rows.max(1);
        let (mut written, mut written_bytes): (u64, usize) = (0, 0);
        while wants_more && let Some(row) = sorted.next().await.map_err(spilled)? {
            let record = self.record(&row);
            wants_more = output.push(record, end);
            written += 1;
            written_bytes += record.len() + 1;
            if written_bytes >= BYTES_BETWEEN_LOOKS {
                written_bytes = 0;
                self.check_cancelled()?;
                bar.progress("writing", share(written, total));
            }
        }
        output.finish()?;
        Ok(sorted.report())
    }

    /// Assigns an offset to each part: its length is known before the merge.
    pub(super) fn place(&self, parts: Vec<SortedPart>) -> Vec<PlacedPart> {
        let end_bytes = self.end().len() as u64;
        let mut offset_bytes = self.header.as_ref().map_or(0, |header| header.len() as u64 + end_bytes);
        let place = |part: SortedPart| {
            let is_key = self.args.sorts_whole_records();
            let record_bytes = if is_key { part.key_bytes() } else { part.payload_bytes() };
            let length_bytes = record_bytes + part.rows() * end_bytes;
            let placed = PlacedPart { part, offset_bytes, length_bytes };
            offset_bytes += length_bytes;
            placed
        };
        parts.into_iter().map(place).collect()
    }

    /// Writes the header, before all records.
    pub(super) fn write_header(&self, file: &NewFile) -> Result<(), CliError> {
        match &self.header {
            Some(header) => file.write_at(&[header, self.end()].concat(), 0),
            None => Ok(()),
        }
    }

    /// Merges and writes a part. Several threads may do so at once.
    pub(super) async fn part<'f>(
        &self,
        PlacedPart { part, offset_bytes, length_bytes }: PlacedPart,
        handle: &Handle,
        writer: impl FnOnce(u64) -> Result<PartWriter<'f>, CliError>,
        (tally, stop): (&Tally<'_>, &Stop),
    ) -> Result<(), CliError> {
        let mut sorted = part.open(handle).map_err(spilled)?;
        let end = self.end();
        let mut writer = writer(offset_bytes)?;
        let (mut written, mut written_bytes) = (0, 0);
        while let Some(row) = sorted.next().await.map_err(spilled)? {
            let record = self.record(&row);
            writer.push(record).await?;
            writer.push(end).await?;
            written += 1;
            written_bytes += record.len() + 1;
            if written_bytes >= BYTES_BETWEEN_LOOKS {
                stop.check()?;
                self.check_cancelled()?;
                tally.add(written);
                (written, written_bytes) = (0, 0);
            }
        }
        let at = writer.finish().await?;
        tally.read_requests.fetch_add(sorted.report().read_requests, Ordering::Relaxed);
        if at == offset_bytes + length_bytes {
            return Ok(());
        }
        Err(CliError::failed(format!(
            "writing the result: a part of {length_bytes} bytes has {} bytes; this is an error in nandle",
            at - offset_bytes
        )))
    }
}

/// Progress of all threads.
pub(super) struct Tally<'a> {
    total: u64,
    records: AtomicU64,
    pub(super) read_requests: AtomicU64,
    bar: std::sync::Mutex<&'a mut Bar>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(total: u64, bar: &'a mut Bar) -> Self {
        Self {
            total: total.max(1),
            records: AtomicU64::new(0),
            read_requests: AtomicU64::new(0),
            bar: bar.into(),
        }
    }

    fn add(&self, records: u64) {
        let written = self.records.fetch_add(records, Ordering::Relaxed) + records;
        // One thread shows it for all.
        if let Ok(mut bar) = self.bar.try_lock() {
            bar.progress("writing", share(written, self.total));
        }
    }
}

fn share(written: u64, total: u64) -> f64 {
    0.5 + written as f64 / total as f64 / 2.0
}
