//! fio's `write_iolog`, versions 2 and 3:
//!
//! ```text
//! fio version 3 iolog
//! 24 /data/a add
//! 172 /data/a open
//! 175 /data/a write 61440 4096
//! 219 /data/a sync 774144 0
//! [µs] file action [offset length]
//! ```
//!
//! Version 2 has no times, but `wait` lines with delays in µs. The files are laid end to end in the
//! order in which they are added. Each takes the space up to the last byte that the log touches,
//! rounded up to [`FILE_ALIGNMENT_BYTES`], so reading needs two passes.

use rustc_hash::FxHashMap;

use super::{Event, Parser, number};
use crate::{Operation, Record};

/// Header of logs that are written.
pub(crate) const VERSION_3: &str = "fio version 3 iolog";
const VERSION_2: &str = "fio version 2 iolog";

/// Alignment of files, so that pages of any file are pages of the flat space.
const FILE_ALIGNMENT_BYTES: u64 = 64 << 10;

pub(super) fn begins(line: &str) -> bool {
    line.starts_with("fio version ") && line.contains("iolog")
}

#[derive(Default)]
pub(super) struct Iolog {
    has_times: bool,
    waited_us: u64,
    /// Files in order of appearance.
    files: Vec<File>,
    /// Index in `files` of each name.
    places: FxHashMap<String, usize>,
}

#[derive(Default)]
struct File {
    /// End of the last byte that the log touches.
    end: u64,
    /// Start in the flat space; set once all ends are known.
    start: u64,
}

/// Words of a line.
struct LogLine<'a> {
    time_us: Option<u64>,
    file: &'a str,
    action: &'a str,
    offset: Option<&'a str>,
    length: Option<&'a str>,
}

impl Iolog {
    fn header(&mut self, line: &str) -> Result<(), String> {
        match line.trim() {
            VERSION_3 => self.has_times = true,
            VERSION_2 => self.has_times = false,
            _ => return Err(format!("expected {VERSION_2:?} or {VERSION_3:?}")),
        }
        Ok(())
    }

    fn parts<'a>(&self, line: &'a str) -> Result<LogLine<'a>, String> {
        let mut words = line.split_whitespace();
        let time_us = if self.has_times { Some(number(words.next(), "the time in µs")?) } else { None };
        let file = words.next().ok_or("the file is missing")?;
        let action = words.next().ok_or("the action is missing")?;
        Ok(LogLine { time_us, file, action, offset: words.next(), length: words.next() })
    }

    fn lay_end_to_end(&mut self) {
        debug_assert_eq!(self.places.len(), self.files.len(), "each name has a file of its own");
        let mut start = 0_u64;
        for file in &mut self.files {
            file.start = start;
            start = start.saturating_add(file.end.next_multiple_of(FILE_ALIGNMENT_BYTES));
        }
    }

    fn file(&mut self, name: &str) -> Option<&mut File> {
        self.places.get(name).and_then(|place| self.files.get_mut(*place))
    }
}

impl Parser for Iolog {
    fn surveys(&self) -> bool {
        true
    }

    fn survey(&mut self, line: &str) {
        if begins(line) {
            let _ = self.header(line);
            return;
        }
        let Ok(parts) = self.parts(line) else { return };
        let end = |offset: Option<&str>, length: Option<&str>| {
            let (offset, length) = (number(offset, "").ok()?, number(length, "").ok()?);
            offset.checked_add(length).filter(|end| *end <= i64::MAX.cast_unsigned())
        };
        let touched = if parts.action == "wait" { None } else { end(parts.offset, parts.length) };
        if parts.action == "add" && !self.places.contains_key(parts.file) {
            self.places.insert(parts.file.to_owned(), self.files.len());
            self.files.push(File::default());
        }
        if let (Some(file), Some(touched)) = (self.file(parts.file), touched) {
            file.end = file.end.max(touched);
        }
    }

    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        if line.is_empty() {
            return Ok(None);
        }
        if begins(line) {
            self.header(line)?;
            self.lay_end_to_end();
            return Ok(None);
        }
        let parts = self.parts(line)?;
        let operation = match parts.action {
            "read" => Operation::Read,
            "write" => Operation::Write,
            "trim" => Operation::Discard,
            "sync" | "datasync" => Operation::Sync,
            "add" | "open" | "close" => return Ok(None),
            "wait" => {
                self.waited_us = self.waited_us.saturating_add(number(parts.offset, "the time to wait")?);
                return Ok(None);
            }
            action => return Err(format!("fio has no action {action:?}")),
        };
        let start = self.file(parts.file).ok_or("the file was never added")?.start;
        let offset = number(parts.offset, "the offset")?;
        let address = start.checked_add(offset).ok_or("the offset is beyond any file")?;
        let length_bytes = number(parts.length, "the length")?;
        let time_us = parts.time_us.unwrap_or(self.waited_us);
        Ok(Some(Record { time_us, operation, address, length_bytes, latency_ns: None }.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<Record> {
        let mut log = Iolog::default();
        text.lines().for_each(|line| log.survey(line));
        text.lines().filter_map(|line| log.parse(line).unwrap()).map(|event| event.record).collect()
    }

    #[test]
    fn version_3_has_times_and_files_lie_end_to_end() {
        let text = "fio version 3 iolog\n1 /a add\n2 /b add\n3 /a open\n10 /a write 100000 4096\n20 /b read 0 512\n\
                    30 /b sync 512 0\n40 /b trim 0 4096\n50 /a close\n";
        let records = records(text);
        let what: Vec<_> =
            records.iter().map(|r| (r.time_us, r.operation.name(), r.address, r.length_bytes)).collect();
        let second = 128 << 10;
        assert_eq!(
            what,
            [
                (10, "write", 100_000, 4096),
                (20, "read", second, 512),
                (30, "sync", second + 512, 0),
                (40, "discard", second, 4096)
            ]
        );
    }

    #[test]
    fn version_2_adds_up_waits() {
        let text =
            "fio version 2 iolog\n/a add\n/a open\n/a write 0 4096\n/a wait 500 0\n/a write 4096 4096\n";
        let times: Vec<_> = records(text).iter().map(|record| record.time_us).collect();
        assert_eq!(times, [0, 500]);
    }

    #[test]
    fn damaged_line_is_an_error() {
        let mut log = Iolog::default();
        for line in [VERSION_2, "/a add", "/a scribble 0 1", "/b write 0"] {
            log.survey(line);
        }
        log.parse(VERSION_2).unwrap();
        assert!(log.parse("/a scribble 0 1").unwrap_err().contains("scribble"));
        assert!(log.parse("/b write 0 x").unwrap_err().contains("never added"));
        assert!(log.parse("/a write 0").unwrap_err().contains("the length is missing"));
    }
}
