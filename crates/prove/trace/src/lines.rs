use std::io::{self, BufRead};

use crate::limits::LINE_BYTES_MAX;

/// Numbered lines, in memory bounded independently of the file.
pub(crate) struct Lines {
    source: Box<dyn BufRead>,
    buffer: Vec<u8>,
    number: u64,
}

impl Lines {
    pub(crate) fn new(source: Box<dyn BufRead>) -> Self {
        Self { source, buffer: Vec::new(), number: 0 }
    }

    /// Returns the next line: its number from 1, its text without the line break, and true if it is
    /// valid text of bounded length. An overlong line is truncated.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, &str, bool)>> {
        self.buffer.clear();
        let mut too_long = false;
        let mut ended = false;
        let mut any = false;
        while !ended {
            let part = self.source.fill_buf()?;
            if part.is_empty() {
                break;
            }
            any = true;
            let end = part.iter().position(|byte| *byte == b'\n');
            let line = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
            let room = LINE_BYTES_MAX - self.buffer.len();
            too_long |= line.len() > room;
            self.buffer.extend_from_slice(line.get(..room.min(line.len())).unwrap_or_default());
            let used = end.map_or(part.len(), |end| end + 1);
            ended = end.is_some();
            self.source.consume(used);
        }
        if !any {
            return Ok(None);
        }
        debug_assert!(self.buffer.len() <= LINE_BYTES_MAX, "a line of {} bytes is kept", self.buffer.len());
        self.number += 1;
        Ok(Some(match std::str::from_utf8(&self.buffer) {
            Ok(text) if self.number == 1 => (1, without_mark(text).trim_end_matches('\r'), !too_long),
            Ok(text) => (self.number, text.trim_end_matches('\r'), !too_long),
            Err(_) => (self.number, "", false),
        }))
    }
}

/// Strips the byte order mark that some editors write.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &'static [u8]) -> Vec<(u64, String, bool)> {
        let mut lines = Lines::new(Box::new(io::BufReader::with_capacity(5, text)));
        std::iter::from_fn(|| lines.next().unwrap().map(|(n, line, good)| (n, line.to_owned(), good)))
            .collect()
    }

    #[test]
    fn lines_are_numbered_and_lose_their_ends() {
        let lines = all(b"one\r\n\nthree of many");
        assert_eq!(
            lines,
            [(1, "one".into(), true), (2, String::new(), true), (3, "three of many".into(), true)]
        );
    }

    #[test]
    fn byte_order_mark_is_stripped_from_the_first_line() {
        let lines = all("\u{feff}one\n\u{feff}two".as_bytes());
        assert_eq!(lines, [(1, "one".into(), true), (2, "\u{feff}two".into(), true)]);
    }

    #[test]
    fn binary_line_is_bad_and_the_next_line_is_read() {
        let lines = all(b"\xff\xfe\nnext");
        assert_eq!(lines, [(1, String::new(), false), (2, "next".into(), true)]);
        let long: &'static [u8] = Box::leak([vec![b'x'; 200_000], b"\nnext".to_vec()].concat().into());
        let lines = all(long);
        assert_eq!((lines.len(), lines[0].1.len(), lines[0].2), (2, LINE_BYTES_MAX, false));
        assert_eq!(lines[1], (2, "next".into(), true));
    }
}
