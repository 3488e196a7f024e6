//! Reads files in blocks of whole records.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_units::format_bytes;

use super::RecordLimit;
use super::direct_file::DirectFile;
use super::records::Format;
use crate::error::CliError;

/// Contiguous records of one file.
#[derive(Debug)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    /// Bytes of whole records.
    length: usize,
    format: Format,
    pub(crate) file: Arc<Path>,
    pub(crate) begins_file: bool,
    /// Line number of its first record in the file, from 1.
    first_line: u64,
}

impl Block {
    /// Line number of the record at `at`.
    pub(crate) fn line(&self, at: usize) -> u64 {
        self.first_line + line_ends(self.bytes.get(..at).unwrap_or_default())
    }

    /// Record at `at` and the offset of the next; `None` at the end.
    pub(crate) fn record(&self, at: usize) -> Option<(&[u8], usize)> {
        let rest = self.bytes.get(at..self.length).filter(|rest| !rest.is_empty())?;
        // The last record of a file may lack an end.
        let (length, end) = self.format.first(rest).unwrap_or((rest.len(), 0));
        Some((rest.get(..length)?, at + length + end))
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Memory in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns the buffer.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads files one after the other.
pub(crate) struct Blocks {
    files: std::vec::IntoIter<PathBuf>,
    format: Format,
    block_bytes: usize,
    record_limit: RecordLimit,
    open: Option<Open>,
}

struct Open {
    name: Arc<Path>,
    file: Box<dyn Read>,
    /// Beginning of an incomplete record.
    begun: Vec<u8>,
    is_new: bool,
    /// Line number of the next block, from 1.
    line: u64,
    /// True if lines end with CR LF.
    has_two_byte_ends: bool,
}

/// Byte-order mark at the start of some text files.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

impl Blocks {
    /// Reads blocks of `block_bytes`, longer for a long record. A record beyond `record_limit` is
    /// an error.
    pub(crate) fn new(
        files: Vec<PathBuf>,
        format: Format,
        block_bytes: usize,
        record_limit: RecordLimit,
    ) -> Self {
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files };
        Self { files: files.into_iter(), format, block_bytes, record_limit, open: None }
    }

    /// Next block, in the given buffer; `None` at the end.
    pub(crate) fn next(&mut self, mut bytes: Vec<u8>) -> Result<Option<Block>, CliError> {
        loop {
            let mut open = match self.open.take() {
                Some(open) => open,
                None => match self.files.next() {
                    Some(file) => Open::new(&file, self.block_bytes)?,
                    None => return Ok(None),
                },
            };
            let (length, is_at_end) = self.fill(&mut open, &mut bytes)?;
            let block = Block {
                bytes,
                length,
                format: self.format,
                file: Arc::clone(&open.name),
                begins_file: std::mem::take(&mut open.is_new),
                first_line: open.line,
            };
            if self.format == Format::Csv {
                open.line += line_ends(block.bytes.get(..length).unwrap_or_default());
            }
            self.open = Some(open).filter(|_| !is_at_end);
            if length > 0 {
                return Ok(Some(block));
            }
            bytes = block.into_bytes();
        }
    }

    /// Fills the buffer with records. Returns their length, and whether the file has ended.
    fn fill(&self, open: &mut Open, bytes: &mut Vec<u8>) -> Result<(usize, bool), CliError> {
        let length = self.block_bytes.max(open.begun.len());
        if bytes.capacity() > 2 * length {
            // The buffer had grown for a long record.
            *bytes = Vec::new();
        }
        bytes.resize(length, 0);
        let mut end = open.begun.len();
        if let Some(front) = bytes.get_mut(..end) {
            front.copy_from_slice(&open.begun);
        }
        open.begun = Vec::new();
        loop {
            let is_at_end = open.read(bytes, &mut end)?;
            if open.is_new && self.format == Format::Csv && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
                end = end.saturating_sub(BYTE_ORDER_MARK.len());
            }
            let all = bytes.get(..end).unwrap_or_default();
            let whole = self.format.whole(all);
            let rest = all.get(whole..).unwrap_or_default();
            if is_at_end {
                self.format.check_rest(rest).map_err(|what| open.failed(&what))?;
                let lacks_end = !rest.is_empty();
                open.has_two_byte_ends |= all.get(..whole).unwrap_or_default().ends_with(b"\r\n");
                if lacks_end && self.format == Format::Csv && open.has_two_byte_ends {
                    // Strips the end, as of every other line.
                    bytes.truncate(end);
                    bytes.extend_from_slice(b"\r\n");
                    end += 2;
                }
                return Ok((end, true));
            }
            if whole > 0 {
                open.has_two_byte_ends = all.get(..whole).unwrap_or_default().ends_with(b"\r\n");
                open.begun.extend_from_slice(rest);
                return Ok((whole, false));
            }
            self.check_length(open, end)?;
            // A record longer than the buffer: grow in small steps, to read little of the next one.
            let longer = (end + end / 4).min(self.record_limit.bytes).max(end + 1);
            bytes.reserve_exact(longer - end);
            bytes.resize(longer, 0);
        }
    }

    fn check_length(&self, open: &Open, length: usize) -> Result<(), CliError> {
        if length < self.record_limit.bytes {
            return Ok(());
        }
        let RecordLimit { bytes, memory_part } = self.record_limit;
        Err(open.failed(&format!(
            "a record is longer than {}, too long for this memory: --memory must be at least {memory_part} times as much as the \
             longest record (fewer --threads need less)",
            format_bytes(bytes as u64)
        )))
    }
}

impl Open {
    fn new(path: &Path, request_bytes: usize) -> Result<Self, CliError> {
        let file: Box<dyn Read> =
            if path.as_os_str() == "-" { Box::new(std::io::stdin()) } else { open(path, request_bytes)? };
        Ok(Self {
            name: path.into(),
            file,
            begun: Vec::new(),
            is_new: true,
            line: 1,
            has_two_byte_ends: false,
        })
    }

    /// Reads until the buffer is full or the file ends. Returns true at the file's end.
    fn read(&mut self, bytes: &mut [u8], end: &mut usize) -> Result<bool, CliError> {
        while let Some(room) = bytes.get_mut(*end..).filter(|room| !room.is_empty()) {
            match self.file.read(room) {
                Ok(0) => return Ok(true),
                Ok(count) => *end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(&format!("reading it: {error}"))),
            }
        }
        Ok(false)
    }

    fn failed(&self, what: &str) -> CliError {
        failed(&self.name, what)
    }
}

fn open(path: &Path, request_bytes: usize) -> Result<Box<dyn Read>, CliError> {
    let failed = |error: io::Error| failed(path, &format!("opening it: {error}"));
    let file = File::open(path).map_err(failed)?;
    Ok(match DirectFile::open(&file, request_bytes).map_err(failed)? {
        Some(direct) => Box::new(direct),
        None => Box::new(file),
    })
}

fn failed(path: &Path, what: &str) -> CliError {
    CliError::failed(format!("{}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, format: Format, block_bytes: usize) -> Result<Vec<String>, CliError> {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = ["one", "two"].iter().map(|name| folder.path().join(name)).collect();
        for file in &files {
            std::fs::write(file, text).unwrap();
        }
        let mut blocks = Blocks::new(files, format, block_bytes, RecordLimit { bytes: 100, memory_part: 8 });
        let (mut records, mut begun, mut spare) = (Vec::new(), 0, Vec::new());
        while let Some(block) = blocks.next(spare)? {
            begun += usize::from(block.begins_file);
            let mut at = 0;
            while let Some((record, next)) = block.record(at) {
                records.push(String::from_utf8(record.to_vec()).unwrap());
                at = next;
            }
            assert_eq!(at, block.len());
            spare = block.into_bytes();
        }
        assert_eq!(begun, if text.is_empty() { 0 } else { 2 });
        Ok(records)
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_record_and_the_last_line_ends_as_the_others_do() {
        for block_bytes in 1..30 {
            let marked = records("\u{feff}10,a\n2,b\n", Format::Csv, block_bytes).unwrap();
            assert_eq!(marked, ["10,a", "2,b", "10,a", "2,b"]);
            let unended = records("10,a\r\n1,c", Format::Csv, block_bytes).unwrap();
            assert_eq!(unended, ["10,a\r", "1,c\r", "10,a\r", "1,c\r"]);
            let whole = records("10,a\r\n1,c\r\n", Format::Csv, block_bytes).unwrap();
            assert_eq!(whole, unended);
        }
    }

    #[test]
    fn records_are_the_same_in_blocks_of_any_length() {
        let text = "a,\"x\ny\"\"\n\"\n\nb,c\nlast";
        for block_bytes in 1..30 {
            let lines = records(text, Format::Lines, block_bytes).unwrap();
            assert_eq!(lines, [text.split('\n').collect::<Vec<_>>(), text.split('\n').collect()].concat());
            let quoted = records(text, Format::Csv, block_bytes).unwrap();
            assert_eq!(quoted[..4], ["a,\"x\ny\"\"\n\"", "", "b,c", "last"]);
            let fixed = records("abcdef", Format::Fixed(3), block_bytes).unwrap();
            assert_eq!(fixed, ["abc", "def", "abc", "def"]);
            assert!(records("", Format::Lines, block_bytes).unwrap().is_empty());
            assert!(records("abcd", Format::Fixed(3), block_bytes).is_err());
            assert!(records("a,\"b\nc\n", Format::Csv, block_bytes).is_err());
            assert!(records(&"x".repeat(300), Format::Lines, block_bytes).is_err());
        }
    }
}
