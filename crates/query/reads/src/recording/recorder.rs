use std::io::Write;

use nandle_io::Nanos;
use zstd::stream::write::Encoder;

use super::format::{
    DoneLine, EndLine, FileLine, Header, Line, QueryLine, RECORDING_VERSION, StepLine, WINDOW_LOG_MAX,
    ZSTD_LEVEL,
};
use super::rules::{LINE_BYTES_MAX, Rules};
use super::{QueryTotals, RecordError, Violation};
use crate::{FileId, Groups, Want};

/// Inclusion of names and texts in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Names and texts are recorded.
    Kept,
    /// Files and queries have only numbers.
    Left,
}

/// Writes a recording while the queries run. Holds only the lengths of the files and the data to be
/// compressed.
///
/// A recording without [`finish`](Self::finish) has no end, and readers reject it.
pub struct Recorder<W: Write> {
    into: Encoder<'static, W>,
    names: Names,
    rules: Rules,
    crc32c: u32,
    /// Kept for its allocation.
    line: Vec<u8>,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// `into` can't be written.
    pub fn new(into: W, names: Names) -> Result<Self, RecordError> {
        let mut into = Encoder::new(into, ZSTD_LEVEL)?;
        into.include_checksum(true)?;
        into.window_log(WINDOW_LOG_MAX)?;
        let mut recorder = Self { into, names, rules: Rules::default(), crc32c: 0, line: Vec::new() };
        recorder.write(&Line::NandleNeeds(Header {
            version: RECORDING_VERSION,
            unknown: serde_json::Map::new(),
        }))?;
        Ok(recorder)
    }

    /// Adds a file and its groups.
    ///
    /// # Errors
    /// The recording can't be written, exceeds the limits on files or their bytes, or the groups
    /// aren't ascending, disjoint and within the file.
    pub fn file(&mut self, name: &str, length_bytes: u64, groups: &Groups) -> Result<FileId, RecordError> {
        let number = u32::try_from(self.rules.counts().files).unwrap_or(u32::MAX);
        let name = self.said(name);
        self.rules.file(length_bytes, groups, name.as_deref())?;
        self.write(&Line::File(FileLine { name, length_bytes, groups: groups.into() }))?;
        Ok(FileId(number))
    }

    /// Begins a query. `text` is its statement, if it has one besides its name.
    ///
    /// # Errors
    /// The recording can't be written, has too many queries, or the previous query isn't done.
    pub fn begin_query(&mut self, name: &str, text: Option<&str>) -> Result<(), RecordError> {
        let (name, text) = (self.said(name), text.and_then(|text| self.said(text)));
        self.rules.query(name.as_deref(), text.as_deref())?;
        self.write(&Line::Query(QueryLine { name, text }))
    }

    /// Adds the next step of the query: its wants, whose own step numbers are ignored, and the
    /// processor time after it.
    ///
    /// # Errors
    /// The recording can't be written, no query has begun, a want isn't within a file, or a limit
    /// is exceeded.
    pub fn step(&mut self, wants: &[Want], cpu_after: Nanos) -> Result<(), RecordError> {
        self.rules.step(wants)?;
        let wants = wants.iter().map(|want| (want.file.0, want.offset_bytes, want.length_bytes)).collect();
        self.write(&Line::Step(StepLine { wants, cpu_after_ns: cpu_after.0 }))
    }

    /// Ends the query.
    ///
    /// # Errors
    /// The recording can't be written, no query has begun, or the amount of temporary data is
    /// impossible.
    pub fn end_query(&mut self, totals: QueryTotals) -> Result<(), RecordError> {
        let QueryTotals { spilled_bytes, spill_read_bytes, result_rows, took_ns } = totals;
        self.rules.done([spilled_bytes, spill_read_bytes])?;
        self.write(&Line::Done(DoneLine { spilled_bytes, spill_read_bytes, result_rows, took_ns }))
    }

    /// Ends the recording, and returns its output, neither flushed nor synced.
    ///
    /// # Errors
    /// The recording can't be written, or its last query isn't done.
    pub fn finish(mut self) -> Result<W, RecordError> {
        self.rules.end()?;
        let end = EndLine { counts: self.rules.counts(), crc32c: self.crc32c };
        self.write(&Line::End(end))?;
        Ok(self.into.finish()?)
    }

    fn said(&self, text: &str) -> Option<String> {
        (self.names == Names::Kept).then(|| text.to_owned())
    }

    fn write(&mut self, line: &Line) -> Result<(), RecordError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line).map_err(std::io::Error::from)?;
        self.line.push(b'\n');
        if self.line.len() as u64 > LINE_BYTES_MAX {
            return Err(
                Violation::TooMany { what: "bytes of one step, file or query", max: LINE_BYTES_MAX }.into()
            );
        }
        self.crc32c = nandle_units::extend_checksum(self.crc32c, &self.line);
        self.into.write_all(&self.line)?;
        Ok(())
    }
}

impl<W: Write> std::fmt::Debug for Recorder<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("names", &self.names)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
