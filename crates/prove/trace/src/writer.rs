use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::format::{CSV_HEADER, FIO_HEADER};
use crate::{Format, Operation, Record, TraceError};

/// zstd's own default is 3; traces are written once and kept.
const COMPRESSION_LEVEL: i32 = 9;

/// Writes a trace.
pub struct Writer {
    path: PathBuf,
    text: Box<dyn Text>,
    format: Format,
    /// The name that fio's log gives the one file.
    file: String,
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
    /// Whether a trace can be written in that format.
    pub fn can_write(format: Format) -> bool {
        matches!(format, Format::Csv | Format::FioIolog)
    }

    /// Makes the file, which must not be there yet; compresses when its name ends in `.zst`.
    ///
    /// `file` is the name that fio's log gives to the file or device which is written to; our own format has none.
    ///
    /// # Errors
    /// The file is there, or can't be made; `format` is one that is only read.
    pub fn create(path: &Path, format: Format, file: &str) -> Result<Self, TraceError> {
        let failed = |source| TraceError::File { action: "making the trace", path: path.into(), source };
        if !Self::can_write(format) {
            let message = format!("{} is a format that is only read", format.description());
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, message)));
        }
        let output = File::create_new(path).map_err(failed)?;
        let text: Box<dyn Text> = if path.extension().is_some_and(|extension| extension == "zst") {
            let encoder = zstd::Encoder::new(output, COMPRESSION_LEVEL).map_err(failed)?;
            Box::new(BufWriter::new(encoder))
        } else {
            Box::new(BufWriter::new(output))
        };
        let mut writer = Self { path: path.into(), text, format, file: file.to_owned(), last_us: 0 };
        writer.header().map_err(failed)?;
        Ok(writer)
    }

    fn header(&mut self) -> io::Result<()> {
        if self.format == Format::FioIolog {
            return writeln!(self.text, "{FIO_HEADER}\n0 {} add\n0 {} open", self.file, self.file);
        }
        debug_assert_eq!(self.format, Format::Csv, "formats that are only read are refused");
        writeln!(self.text, "{CSV_HEADER}")
    }

    /// Writes an event.
    ///
    /// # Errors
    /// The file can't be written to.
    pub fn write(&mut self, record: &Record) -> Result<(), TraceError> {
        debug_assert!(Self::can_write(self.format), "{:?} is only read", self.format);
        self.last_us = self.last_us.max(record.time_us);
        self.line(record).map_err(|source| self.failed(source))
    }

    fn line(&mut self, record: &Record) -> io::Result<()> {
        let Record { time_us, operation, address, length_bytes } = record;
        match self.format {
            Format::FioIolog => {
                let action = if *operation == Operation::Discard { "trim" } else { operation.name() };
                writeln!(self.text, "{time_us} {} {action} {address} {length_bytes}", self.file)
            }
            _ => writeln!(self.text, "{time_us},{},{address},{length_bytes}", operation.name()),
        }
    }

    /// Writes the end, and has the file durable.
    ///
    /// # Errors
    /// The file can't be written to.
    pub fn finish(mut self) -> Result<(), TraceError> {
        let closed = match self.format {
            Format::FioIolog => writeln!(self.text, "{} {} close", self.last_us, self.file),
            _ => Ok(()),
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
