//! Writing the sorted records.

use std::sync::atomic::{AtomicU64, Ordering};

use nandle_io::runtime::Handle;
use nandle_session::{Cancel, Observer as _};
use nandle_spill::{Row, SortReport, Sorted, SortedPart};

use super::SortArgs;
use crate::commands::rows::{Memory, NewFile, Output, interrupted, spilled};
use crate::error::CliError;
use crate::progress::Bar;

/// So many records are written between looks at what the user wants.
const RECORDS_BETWEEN_LOOKS: u64 = 1 << 16;

/// How records are written.
pub(super) struct Writing<'a> {
    pub(super) args: &'a SortArgs,
    pub(super) memory: &'a Memory,
    pub(super) cancel: &'a Cancel,
    pub(super) header: Option<Vec<u8>>,
}

/// A part of the result, and where it goes.
pub(super) struct PlacedPart {
    part: SortedPart,
    offset_bytes: u64,
    length_bytes: u64,
}

impl Writing<'_> {
    /// What stands behind each record.
    fn end(&self) -> &'static [u8] {
        if self.args.record.is_some() { &[] } else { b"\n" }
    }

    fn record<'r>(&self, row: &Row<'r>) -> &'r [u8] {
        if self.args.sorts_whole_records() { row.key } else { row.payload }
    }

    fn check_cancelled(&self) -> Result<(), CliError> {
        if self.cancel.is_cancelled() { Err(interrupted()) } else { Ok(()) }
    }

    /// Writes a result that one thread merges, while another one writes.
    pub(super) async fn whole(&self, sorted: &mut Sorted, bar: &mut Bar) -> Result<SortReport, CliError> {
        let mut output = Output::start(self.args.output.as_deref(), self.memory.batch_bytes)?;
        let end = self.end();
        let mut wants_more = self.header.as_ref().is_none_or(|header| output.push(header, end));
        let total = sorted.report().rows.max(1);
        let mut written: u64 = 0;
        while wants_more && let Some(row) = sorted.next().await.map_err(spilled)? {
            wants_more = output.push(self.record(&row), end);
            written += 1;
            if written.is_multiple_of(RECORDS_BETWEEN_LOOKS) {
                self.check_cancelled()?;
                bar.progress("writing", share(written, total));
            }
        }
        output.finish()?;
        Ok(sorted.report())
    }

    /// Where each part of the result goes: its length is known before it is merged.
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

    /// Writes what stands in front of all records.
    pub(super) fn write_header(&self, file: &NewFile) -> Result<(), CliError> {
        match &self.header {
            Some(header) => file.write_at(&[header, self.end()].concat(), 0),
            None => Ok(()),
        }
    }

    /// Merges a part and writes it. Several threads do so at the same time.
    pub(super) async fn part(
        &self,
        PlacedPart { part, offset_bytes, length_bytes }: PlacedPart,
        handle: &Handle,
        file: &NewFile,
        tally: &Tally<'_>,
    ) -> Result<(), CliError> {
        let mut sorted = part.open(handle).map_err(spilled)?;
        let end = self.end();
        let mut into = Positioned::new(file, offset_bytes, self.memory.batch_bytes);
        let mut written = 0_u64;
        while let Some(row) = sorted.next().await.map_err(spilled)? {
            into.push(self.record(&row))?;
            into.push(end)?;
            written += 1;
            if written.is_multiple_of(RECORDS_BETWEEN_LOOKS) {
                self.check_cancelled()?;
                tally.add(RECORDS_BETWEEN_LOOKS);
            }
        }
        let at = into.finish()?;
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

/// Bytes that are written from some place in a file on.
struct Positioned<'a> {
    file: &'a NewFile,
    at: u64,
    buffer: Vec<u8>,
    buffer_bytes: usize,
}

impl<'a> Positioned<'a> {
    fn new(file: &'a NewFile, at: u64, buffer_bytes: usize) -> Self {
        Self { file, at, buffer: Vec::with_capacity(buffer_bytes), buffer_bytes }
    }

    /// What is longer than the buffer is written as it is.
    fn push(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        if self.buffer.len() + bytes.len() > self.buffer_bytes {
            self.flush()?;
        }
        if bytes.len() < self.buffer_bytes {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.file.write_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CliError> {
        self.file.write_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Where it ends.
    fn finish(mut self) -> Result<u64, CliError> {
        self.flush()?;
        Ok(self.at)
    }
}

/// What threads have written together.
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
        // Whoever shows it shows it for all.
        if let Ok(mut bar) = self.bar.try_lock() {
            bar.progress("writing", share(written, self.total));
        }
    }
}

fn share(written: u64, total: u64) -> f64 {
    0.5 + written as f64 / total as f64 / 2.0
}
