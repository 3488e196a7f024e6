use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::format::{CSV_HEADER, CSV_HEADER_WITH_LATENCY, FIO_HEADER};
use crate::{Operation, Record, TraceError};

/// Above zstd's default of 3, because traces are written once and kept.
const COMPRESSION_LEVEL: i32 = 9;

/// Output formats and their parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputFormat {
    /// Nandle's own CSV.
    Csv {
        /// True to write a column of latencies.
        latencies: bool,
    },
    /// fio's iolog, version 3, which can't store latencies.
    FioIolog {
        /// Name of the file or device in the log; traces don't store one.
        file: String,
    },
}

/// Writes a trace.
pub struct Writer {
    path: PathBuf,
    text: Box<dyn Text>,
    format: OutputFormat,
    last_us: u64,
}

/// Text output that must be finished, so that the last compressed frame is complete.
trait Text: Write {
    fn end(self: Box<Self>) -> io::Result<()>;
}

impl Text for BufWriter<File> {
    fn end(self: Box<Self>) -> io::Result<()> {
        self.into_inner()?.sync_all()
    }
}

impl Text for BufWriter<zstd::Encoder<'static, File>> {
    fn end(self: Box<Self>) -> io::Result<()> {
        self.into_inner()?.finish()?.sync_all()
    }
}

impl Writer {
    /// Creates the file, which must not exist. Compresses it if its name ends in `.zst`.
    ///
    /// # Errors
    ///
    /// The file exists, or can't be created.
    pub fn create(path: &Path, format: OutputFormat) -> Result<Self, TraceError> {
        let failed = |source| TraceError::File { action: "creating the trace", path: path.into(), source };
        let output = File::create_new(path).map_err(failed)?;
        let text: Box<dyn Text> = if path.extension().is_some_and(|extension| extension == "zst") {
            let encoder = zstd::Encoder::new(output, COMPRESSION_LEVEL).map_err(failed)?;
            Box::new(BufWriter::new(encoder))
        } else {
            Box::new(BufWriter::new(output))
        };
        let mut writer = Self { path: path.into(), text, format, last_us: 0 };
        writer.header().map_err(failed)?;
        Ok(writer)
    }

    fn header(&mut self) -> io::Result<()> {
        match &self.format {
            OutputFormat::Csv { latencies: false } => writeln!(self.text, "{CSV_HEADER}"),
            OutputFormat::Csv { latencies: true } => writeln!(self.text, "{CSV_HEADER_WITH_LATENCY}"),
            OutputFormat::FioIolog { file } => {
                writeln!(self.text, "{FIO_HEADER}\n0 {file} add\n0 {file} open")
            }
        }
    }

    /// Writes an event.
    ///
    /// # Errors
    ///
    /// The file can't be written, or fio's log doesn't support the operation: see
    /// [`ZoneTranslator`](crate::ZoneTranslator).
    pub fn write(&mut self, record: &Record) -> Result<(), TraceError> {
        self.last_us = self.last_us.max(record.time_us);
        self.line(record).map_err(|source| self.failed(source))
    }

    fn line(&mut self, record: &Record) -> io::Result<()> {
        let Record { time_us, operation, address, length_bytes, latency_ns } = record;
        match &self.format {
            OutputFormat::FioIolog { file } => {
                let action = match operation {
                    Operation::Discard => "trim",
                    Operation::Read | Operation::Write | Operation::Sync => operation.name(),
                    Operation::Append
                    | Operation::ZoneReset
                    | Operation::ZoneFinish
                    | Operation::ZoneOpen
                    | Operation::ZoneClose => {
                        return Err(io::Error::other(format!("fio's iolog has no {}", operation.name())));
                    }
                };
                writeln!(self.text, "{time_us} {file} {action} {address} {length_bytes}")
            }
            OutputFormat::Csv { latencies } => {
                write!(self.text, "{time_us},{},{address},{length_bytes}", operation.name())?;
                match latency_ns {
                    Some(latency_ns) if *latencies => writeln!(self.text, ",{latency_ns}"),
                    None if *latencies => writeln!(self.text, ","),
                    _ => writeln!(self.text),
                }
            }
        }
    }

    /// Writes the end of the trace, and syncs the file.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn finish(mut self) -> Result<(), TraceError> {
        let closed = match &self.format {
            OutputFormat::FioIolog { file } => writeln!(self.text, "{} {file} close", self.last_us),
            OutputFormat::Csv { .. } => Ok(()),
        };
        let path = self.path;
        closed.and_then(|()| self.text.end()).map_err(|source| TraceError::File {
            action: "writing the trace",
            path,
            source,
        })
    }

    fn failed(&self, source: io::Error) -> TraceError {
        TraceError::File { action: "writing the trace", path: self.path.clone(), source }
    }
}
