use std::io;
use std::path::PathBuf;

use crate::Format;

/// A trace could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system refused, or the compression is damaged.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no line in it.
    #[error("{} is empty, and no trace; see whether the program that should have written it failed", path.display())]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// No format fits the beginning of the file.
    #[error(
        "{} is no trace that can be recognised; its first line is {first_line:?}; name its format with --format ({}), or its columns \
         with --columns, as in --columns time=1:us,offset=4:sectors,bytes=5,op=3",
        path.display(), Format::names()
    )]
    Unknown {
        /// Which file.
        path: PathBuf,
        /// How it begins.
        first_line: String,
    },
    /// The beginning fits several formats.
    #[error(
        "{} may be {}; say which with --format",
        path.display(),
        formats.iter().map(|format| format!("{} ({})", format.description(), format.name())).collect::<Vec<_>>().join(" or ")
    )]
    Ambiguous {
        /// Which file.
        path: PathBuf,
        /// Formats that fit.
        formats: Vec<Format>,
    },
    /// The file is compressed in a way that isn't read.
    #[error(
        "{} is compressed, and only zstd and gzip are read; decompress it first: {command} {} {} | nandle … -",
        path.display(), if *command == "unzip" { "-p" } else { "-dc" }, path.display()
    )]
    OtherCompression {
        /// Which file.
        path: PathBuf,
        /// The command that decompresses it.
        command: &'static str,
    },
    /// The compression ends before the text does.
    #[error(
        "reading the trace {}: its compression ends in the middle of a frame, so the file was cut off, or is still being \
         written; get it whole, or read what is there: {command} -dcq {} | head -n -1 | nandle … -",
        path.display(), path.display()
    )]
    CutOff {
        /// Which file.
        path: PathBuf,
        /// The command that decompresses it.
        command: &'static str,
    },
    /// The text begins as that of another format than the one that was named.
    #[error(
        "{} begins as {} does, and --format says {}; leave --format out, or name that one",
        path.display(), found.description(), named.description()
    )]
    OtherFormat {
        /// Which file.
        path: PathBuf,
        /// What was named.
        named: Format,
        /// What it looks like.
        found: Format,
    },
    /// The text is there and tells of nothing, in the format that was named.
    #[error(
        "{}: {lines} lines were read as {}, and none of them tells of a request; name another --format, or leave it out",
        path.display(), format.description()
    )]
    NoEvents {
        /// Which file.
        path: PathBuf,
        /// What it was read as.
        format: Format,
        /// How many lines it has.
        lines: u64,
    },
    /// A device was chosen, and the format tells of none.
    #[error(
        "{} is {}, which has one flat space and names no devices; leave --device out",
        path.display(), format.description()
    )]
    NoDevices {
        /// Which file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
    /// A device was chosen of which the trace doesn't tell.
    #[error("{} has no event of device {device}; it has {others}", path.display())]
    NoSuchDevice {
        /// Which file.
        path: PathBuf,
        /// What was chosen.
        device: String,
        /// Those of which it tells.
        others: String,
    },
    /// A line is damaged.
    #[error("{}, line {line}: {complaint}, in {text:?}; --skip-bad counts such lines and goes on", path.display())]
    BadLine {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What was expected and got.
        complaint: String,
        /// The line, or its beginning.
        text: String,
    },
    /// The trace tells of several devices, and addresses of different devices can't be mixed.
    #[error(
        "{}, line {line}: an event of device {other}, and the trace began with device {device}; choose one with --device",
        path.display()
    )]
    SeveralDevices {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The device of the first event.
        device: String,
        /// The other.
        other: String,
    },
    /// More different pages are written than there is memory for.
    #[error(
        "the trace writes to {pages_max} different pages of {page_bytes} bytes or more, and this process has no memory for the \
         statistics of more; give a larger --page, or a --limit"
    )]
    TooManyPages {
        /// The most that there may be.
        pages_max: u64,
        /// Length of a page.
        page_bytes: u64,
    },
    /// The format needs two passes, and standard input can be read only once.
    #[error(
        "a trace of fio's is read twice, because it may name several files, and standard input can be read only once: save it \
         to a file and name that"
    )]
    TwoPasses,
}

impl TraceError {
    /// Whether one line alone is at fault, so that reading can go on behind it.
    pub fn is_bad_line(&self) -> bool {
        matches!(self, Self::BadLine { .. })
    }
}
