//! Records in bytes as they come.

/// How records are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Each ends with a line end, the last one perhaps without.
    Lines,
    /// The same, but that line ends between quotes are parts of fields.
    Csv,
    /// All have this length.
    Fixed(usize),
}

/// Finds the ends of records in bytes that come in pieces.
#[derive(Debug)]
pub(crate) struct Splitter {
    format: Format,
    /// The bytes of the record that has begun were looked at up to here.
    seen: usize,
    is_quoted: bool,
}

impl Splitter {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, seen: 0, is_quoted: false }
    }

    /// The length of the first record in `bytes`, and of what ends it; none where its end hasn't come.
    pub(crate) fn first(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        let end = match self.format {
            Format::Fixed(length) => return (bytes.len() >= length).then_some((length, 0)),
            Format::Lines => memchr::memchr(b'\n', bytes.get(self.seen..)?),
            Format::Csv => self.line_end(bytes.get(self.seen..)?),
        };
        if let Some(end) = end {
            return Some((std::mem::take(&mut self.seen) + end, 1));
        }
        self.seen = bytes.len();
        None
    }

    /// A quote in a field is doubled, so it turns the state twice.
    fn line_end(&mut self, bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|byte| {
            self.is_quoted ^= *byte == b'"';
            *byte == b'\n' && !self.is_quoted
        })
    }

    /// What is left at the end of a file: nothing, or a record without an end.
    pub(crate) fn rest(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        self.seen = 0;
        match self.format {
            _ if bytes.is_empty() => Ok(None),
            Format::Fixed(length) => {
                Err(format!("it ends in the middle of a record: {} bytes of {length} are left", bytes.len()))
            }
            Format::Csv if self.is_quoted => {
                Err("it ends inside a quoted field: a quote is missing, or it is no CSV".to_owned())
            }
            Format::Lines | Format::Csv => Ok(Some(bytes.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(format: Format, text: &str, piece: usize) -> Result<Vec<String>, String> {
        let (mut splitter, mut held, mut records) = (Splitter::new(format), Vec::new(), Vec::new());
        let mut take = |held: &mut Vec<u8>, length: usize, end: usize| {
            records.push(String::from_utf8(held[..length].to_vec()).unwrap());
            held.drain(..length + end);
        };
        for bytes in text.as_bytes().chunks(piece) {
            held.extend_from_slice(bytes);
            while let Some((length, end)) = splitter.first(&held) {
                take(&mut held, length, end);
            }
        }
        if let Some(length) = splitter.rest(&held)? {
            take(&mut held, length, 0);
        }
        Ok(records)
    }

    #[test]
    fn records_are_the_same_in_pieces_of_any_length() {
        for piece in 1..20 {
            assert_eq!(split(Format::Lines, "b\n\nab", piece).unwrap(), ["b", "", "ab"]);
            assert_eq!(split(Format::Lines, "b\n", piece).unwrap(), ["b"]);
            let quoted = "a,\"x\ny\"\"\n\"\nb,c\n";
            assert_eq!(split(Format::Csv, quoted, piece).unwrap(), ["a,\"x\ny\"\"\n\"", "b,c"]);
            assert_eq!(split(Format::Fixed(3), "abcdef", piece).unwrap(), ["abc", "def"]);
        }
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        assert!(split(Format::Fixed(3), "abcd", 4).is_err());
        assert!(split(Format::Csv, "a,\"b\nc\n", 4).is_err());
    }
}
