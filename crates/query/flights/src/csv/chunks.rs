//! Files, decompressed and cut into chunks of whole lines.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::{ByteRecord, ReaderBuilder};
use memchr::{memchr, memchr_iter, memrchr};

use super::header::Layout;
use crate::{BadRow, LoadError, Reject};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const BYTE_ORDER_MARKS_OF_UTF16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// A file of flights: CSV with a header, optionally compressed by zstd.
pub struct Source {
    name: Arc<str>,
    origin: Origin,
}

enum Origin {
    Path(PathBuf),
    Reader(Box<dyn Read + Send>),
}

impl Source {
    /// The file at `path`, opened when it is needed.
    pub fn file(path: &Path) -> Self {
        Self { name: path.to_string_lossy().into(), origin: Origin::Path(path.to_owned()) }
    }

    /// The contents of `reader`, reported under `name`.
    pub fn reader(name: &str, reader: Box<dyn Read + Send>) -> Self {
        Self { name: name.into(), origin: Origin::Reader(reader) }
    }

    fn open(self) -> io::Result<Box<dyn Read + Send>> {
        let mut reader: Box<dyn Read + Send> = match self.origin {
            Origin::Path(path) => Box::new(File::open(path)?),
            Origin::Reader(reader) => reader,
        };
        let mut start = Vec::with_capacity(ZSTD_MAGIC.len());
        (&mut reader).take(ZSTD_MAGIC.len() as u64).read_to_end(&mut start)?;
        let is_compressed = start == ZSTD_MAGIC || is_skippable_frame(&start);
        let whole = Cursor::new(start).chain(reader);
        Ok(if is_compressed { Box::new(zstd::Decoder::new(whole)?) } else { Box::new(whole) })
    }
}

/// Lines of a file.
pub(super) struct Chunk {
    pub(super) file: Arc<str>,
    pub(super) layout: Arc<Layout>,
    /// Number of its first line.
    pub(super) first_line: u64,
    pub(super) bytes: Vec<u8>,
}

/// Next piece of the files.
pub(super) enum Piece {
    /// Lines to parse.
    Lines(Chunk),
    /// Rows that can't be parsed; the reason was reported before or is given here.
    Bad { rows: u64, reject: Option<Reject> },
}

/// The file being read.
struct Current {
    name: Arc<str>,
    reader: Box<dyn Read + Send>,
    /// Bytes after the last complete line.
    rest: Vec<u8>,
    /// Number of lines so far.
    lines: u64,
    /// `None` before the header, or if it isn't one of flights.
    layout: Option<Arc<Layout>>,
}

/// Next bytes of a file.
enum Lines {
    Whole(Vec<u8>),
    /// Beginning of a line longer than a chunk; the line was skipped.
    TooLong(Vec<u8>),
    End,
}

/// Cuts files into pieces sequentially.
pub(super) struct Chunks {
    sources: std::vec::IntoIter<Source>,
    current: Option<Current>,
    chunk_bytes: usize,
}

impl Chunks {
    pub(super) fn new(sources: Vec<Source>, chunk_bytes: usize) -> Self {
        Self { sources: sources.into_iter(), current: None, chunk_bytes }
    }

    /// Returns the next piece; `None` at the end of the last file.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, LoadError> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(piece) =
                    current.next(self.chunk_bytes).map_err(|source| current.failed(source))?
                {
                    return Ok(Some(piece));
                }
                self.current = None;
            }
            let Some(source) = self.sources.next() else { return Ok(None) };
            let file = Arc::clone(&source.name);
            let opened = source.open().map_err(|source| LoadError::Read {
                file: Arc::clone(&file),
                after_lines: 0,
                source,
            });
            let mut current =
                Current { name: file, reader: opened?, rest: Vec::new(), lines: 0, layout: None };
            let bad = current.begin(self.chunk_bytes).map_err(|source| current.failed(source))?;
            self.current = Some(current);
            if bad.is_some() {
                return Ok(bad);
            }
        }
    }
}

impl Current {
    fn failed(&self, source: io::Error) -> LoadError {
        LoadError::Read { file: Arc::clone(&self.name), after_lines: self.lines, source }
    }

    /// Reads the header. Returns a piece if it is invalid.
    fn begin(&mut self, chunk_bytes: usize) -> io::Result<Option<Piece>> {
        let reason = match self.read_lines(chunk_bytes)? {
            Lines::End => (BadRow::Empty, Vec::new()),
            Lines::TooLong(line) => (BadRow::TooLong { max_bytes: chunk_bytes }, line),
            Lines::Whole(mut lines) => {
                let header_bytes = memchr(b'\n', &lines).map_or(lines.len(), |end| end + 1);
                // The rest is read again.
                self.rest.splice(..0, lines.split_off(header_bytes));
                match read_header(&lines) {
                    Ok(layout) => {
                        self.layout = Some(Arc::new(layout));
                        self.lines = 1;
                        return Ok(None);
                    }
                    Err(reason) => (reason, lines),
                }
            }
        };
        self.lines = 1;
        let (reason, row) = reason;
        Ok(Some(self.bad(1, reason, row)))
    }

    fn next(&mut self, chunk_bytes: usize) -> io::Result<Option<Piece>> {
        let first_line = self.lines + 1;
        Ok(match self.read_lines(chunk_bytes)? {
            Lines::End => None,
            Lines::TooLong(row) => {
                self.lines += 1;
                Some(self.bad(first_line, BadRow::TooLong { max_bytes: chunk_bytes }, row))
            }
            Lines::Whole(bytes) => {
                let lines =
                    memchr_iter(b'\n', &bytes).count() as u64 + u64::from(bytes.last() != Some(&b'\n'));
                self.lines += lines;
                let file = Arc::clone(&self.name);
                Some(match &self.layout {
                    Some(layout) => {
                        Piece::Lines(Chunk { file, layout: Arc::clone(layout), first_line, bytes })
                    }
                    None => Piece::Bad { rows: lines, reject: None },
                })
            }
        })
    }

    fn bad(&self, line: u64, reason: BadRow, mut row: Vec<u8>) -> Piece {
        row.truncate(Reject::ROW_BYTES_MAX);
        Piece::Bad { rows: 1, reject: Some(Reject { file: Arc::clone(&self.name), line, reason, row }) }
    }

    /// Reads approximately `chunk_bytes`, up to the end of a line or of the file.
    fn read_lines(&mut self, chunk_bytes: usize) -> io::Result<Lines> {
        let mut bytes = std::mem::take(&mut self.rest);
        let wanted = chunk_bytes.saturating_sub(bytes.len());
        bytes.reserve_exact(wanted);
        let is_at_end = (&mut self.reader).take(wanted as u64).read_to_end(&mut bytes)? < wanted;
        if bytes.is_empty() {
            return Ok(Lines::End);
        }
        match memrchr(b'\n', &bytes) {
            _ if is_at_end => {}
            Some(end) => self.rest = bytes.split_off(end + 1),
            None => {
                self.pass_line()?;
                return Ok(Lines::TooLong(bytes));
            }
        }
        Ok(Lines::Whole(bytes))
    }

    /// Skips to the end of a line, and keeps the bytes after it.
    fn pass_line(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let got = self.reader.read(&mut buffer)?;
            let read = buffer.get(..got).unwrap_or_default();
            if let Some(end) = memchr(b'\n', read) {
                self.rest = read.get(end + 1..).unwrap_or_default().to_vec();
                return Ok(());
            }
            if got == 0 {
                return Ok(());
            }
        }
    }
}

/// Returns true for the beginning of an empty zstd frame: `pzstd` writes one before each data
/// frame.
fn is_skippable_frame(start: &[u8]) -> bool {
    matches!(start, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

fn read_header(line: &[u8]) -> Result<Layout, BadRow> {
    if BYTE_ORDER_MARKS_OF_UTF16.iter().any(|mark| line.starts_with(mark)) {
        return Err(BadRow::Utf16);
    }
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let mut header = ByteRecord::new();
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
    // Reading from memory doesn't fail.
    if !reader.read_byte_record(&mut header).unwrap_or(false) {
        // A blank line isn't a header.
        return Err(BadRow::Empty);
    }
    let layout = Layout::of(&header)?;
    // Rows on the header's line would be lost.
    if reader.read_byte_record(&mut header).unwrap_or(false) {
        return Err(BadRow::CarriageReturns);
    }
    Ok(layout)
}
