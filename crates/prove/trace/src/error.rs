use std::io;
use std::path::PathBuf;

use crate::Format;

/// Failure to read or write a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system reported an error, or the compression is damaged.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// Action that failed.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is empty.
    #[error("{} is empty, so it is no trace; check that the program that wrote it succeeded", path.display())]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
    /// No format fits the beginning of the file.
    #[error(
        "{} has no known trace format; its first line is {first_line:?}; name the format with --format ({}), or the columns \
         with --columns, for example --columns time=1:us,offset=4:sectors,bytes=5,op=3",
        path.display(), Format::names()
    )]
    Unknown {
        /// Path of the file.
        path: PathBuf,
        /// First line of the file.
        first_line: String,
    },
    /// Several formats fit the beginning of the file.
    #[error(
        "{} may be {}; choose one with --format",
        path.display(),
        formats.iter().map(|format| format!("{} ({})", format.description(), format.name())).collect::<Vec<_>>().join(" or ")
    )]
    Ambiguous {
        /// Path of the file.
        path: PathBuf,
        /// Formats that fit.
        formats: Vec<Format>,
    },
    /// The file uses an unsupported compression.
    #[error(
        "{} has an unsupported compression; only zstd and gzip are read; decompress it first: {command} {} {} | nandle … -",
        path.display(), if *command == "unzip" { "-p" } else { "-dc" }, path.display()
    )]
    OtherCompression {
        /// Path of the file.
        path: PathBuf,
        /// Command that decompresses it.
        command: &'static str,
    },
    /// The compressed data ends in the middle of a frame.
    #[error(
        "reading the trace {}: the compressed data ends in the middle of a frame, so the file is truncated or still \
         being written; get the complete file, or read its beginning: {command} -dcq {} | head -n -1 | nandle … -",
        path.display(), path.display()
    )]
    CutOff {
        /// Path of the file.
        path: PathBuf,
        /// Command that decompresses it.
        command: &'static str,
    },
    /// The text has another format than the one named.
    #[error(
        "{} looks like {}, but --format names {}; omit --format, or correct it",
        path.display(), found.description(), named.description()
    )]
    OtherFormat {
        /// Path of the file.
        path: PathBuf,
        /// Format named.
        named: Format,
        /// Format detected.
        found: Format,
    },
    /// The text has no event in the named format.
    #[error(
        "{}: {lines} lines were read as {}, and none of them has a request; name another --format, or omit it",
        path.display(), format.description()
    )]
    NoEvents {
        /// Path of the file.
        path: PathBuf,
        /// Format it was read as.
        format: Format,
        /// Number of lines.
        lines: u64,
    },
    /// A device was selected, but the format names no devices.
    #[error(
        "{} is {}, which has one flat space and names no devices; omit --device",
        path.display(), format.description()
    )]
    NoDevices {
        /// Path of the file.
        path: PathBuf,
        /// Format of the file.
        format: Format,
    },
    /// The trace has no event of the selected device.
    #[error("{} has no event of device {device}; it has {others}", path.display())]
    NoSuchDevice {
        /// Path of the file.
        path: PathBuf,
        /// Device selected.
        device: String,
        /// Devices in the trace.
        others: String,
    },
    /// A line is damaged.
    #[error("{}, line {line}: {complaint}, in {text:?}; --skip-bad skips and counts such lines", path.display())]
    BadLine {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Value expected and value found.
        complaint: String,
        /// The line, or its beginning.
        text: String,
    },
    /// The trace has events of several devices, whose addresses can't be mixed.
    #[error(
        "{}, line {line}: event of device {other}, but the trace began with device {device}; choose one with --device",
        path.display()
    )]
    SeveralDevices {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Device of the first event.
        device: String,
        /// Device of this line.
        other: String,
    },
    /// The trace writes to more distinct pages than memory allows.
    #[error(
        "the trace writes {pages_max} or more distinct pages of {page_bytes} bytes, the most that this process has memory for; \
         give a larger --page, or a --limit"
    )]
    TooManyPages {
        /// Maximum number of pages.
        pages_max: u64,
        /// Length of a page, in bytes.
        page_bytes: u64,
    },
    /// The format needs two passes, but standard input can be read only once.
    #[error(
        "fio's format takes two passes, because a log may name several files, but standard input can be read only once: save \
         the trace to a file"
    )]
    TwoPasses,
}

impl TraceError {
    /// Returns true if a single line is at fault, so that reading can continue behind it.
    pub fn is_bad_line(&self) -> bool {
        matches!(self, Self::BadLine { .. })
    }
}
