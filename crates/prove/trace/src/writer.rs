use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::format::{CSV_HEADER, CSV_HEADER_WITH_LATENCY, FIO_HEADER};
use crate::{Operation, Record, TraceError};

/// zstd's own default is 3; traces are written once and kept.
const COMPRESSION_LEVEL: i32 = 9;

/// The formats that are written, and what each of them needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenFormat {
    /// Ours, with a column of latencies or without.
    Csv {
        /// Whether there is the column.
        latencies: bool,
    },
    /// fio's iolog, version 3, which has no place for latencies.
    FioIolog {
        /// The name that the log gives to the file or device which is written to; our own format has none.
        file: String,
    },
}

/// Writes a trace.
pub struct Writer {
    path: PathBuf,
    text: Box<dyn Text>,
    format: WrittenFormat,
    last_us: u64,
}

/// Text that has to be ended, so that the compression's last frame is whole.
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
    /// Makes the file, which must not be there yet; compresses when its name ends in `.zst`.
    ///
    /// # Errors
    /// The file is there, or can't be made.
    pub fn create(path: &Path, format: WrittenFormat) -> Result<Self, TraceError> {
        let failed = |source| TraceError::File { action: "making the trace", path: path.into(), source };
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
            WrittenFormat::Csv { latencies: false } => writeln!(self.text, "{CSV_HEADER}"),
            WrittenFormat::Csv { latencies: true } => writeln!(self.text, "{CSV_HEADER_WITH_LATENCY}"),
            WrittenFormat::FioIolog { file } => {
                writeln!(self.text, "{FIO_HEADER}\n0 {file} add\n0 {file} open")
            }
        }
    }

    /// Writes an event.
    ///
    /// # Errors
    /// The file can't be written to, or fio's log has no such operation: see [`Zones`](crate::Zones).
    pub fn write(&mut self, record: &Record) -> Result<(), TraceError> {
        self.last_us = self.last_us.max(record.time_us);
        self.line(record).map_err(|source| self.failed(source))
    }

    fn line(&mut self, record: &Record) -> io::Result<()> {
        let Record { time_us, operation, address, length_bytes, latency_ns } = record;
        match &self.format {
            WrittenFormat::FioIolog { file } => {
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
            WrittenFormat::Csv { latencies } => {
                write!(self.text, "{time_us},{},{address},{length_bytes}", operation.name())?;
                match latency_ns {
                    Some(latency_ns) if *latencies => writeln!(self.text, ",{latency_ns}"),
                    None if *latencies => writeln!(self.text, ","),
                    _ => writeln!(self.text),
                }
            }
        }
    }

    /// Writes the end, and has the file durable.
    ///
    /// # Errors
    /// The file can't be written to.
    pub fn finish(mut self) -> Result<(), TraceError> {
        let closed = match &self.format {
            WrittenFormat::FioIolog { file } => writeln!(self.text, "{} {file} close", self.last_us),
            WrittenFormat::Csv { .. } => Ok(()),
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
