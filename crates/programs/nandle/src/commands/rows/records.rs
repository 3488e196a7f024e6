//! Splits bytes into records.

/// Format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Ended by a line end; the last record may lack it.
    Lines,
    /// Lines, except that line ends within quotes belong to fields.
    Csv,
    /// Records of this length, without ends.
    Fixed(usize),
}

impl Format {
    /// Lengths of the first record in `bytes` and of its end; `None` if it is incomplete.
    pub(crate) fn first(self, bytes: &[u8]) -> Option<(usize, usize)> {
        match self {
            Self::Fixed(length) => (bytes.len() >= length).then_some((length, 0)),
            Self::Lines => memchr::memchr(b'\n', bytes).map(|end| (end, 1)),
            Self::Csv => line_ends(bytes).next().map(|end| (end, 1)),
        }
    }

    /// Length of the whole records at the start of `bytes`.
    pub(crate) fn whole(self, bytes: &[u8]) -> usize {
        match self {
            Self::Fixed(length) => bytes.len() - bytes.len() % length,
            Self::Lines => memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1),
            Self::Csv => line_ends(bytes).last().map_or(0, |end| end + 1),
        }
    }

    /// Checks that the rest of a file is empty or a record without an end.
    pub(crate) fn check_rest(self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Fixed(length) if !bytes.is_empty() => {
                Err(format!("it ends in the middle of a record: {} bytes of {length} are left", bytes.len()))
            }
            // Quotes within a field are doubled, so outside quotes their number is even.
            Self::Csv if memchr::memchr_iter(b'"', bytes).count() % 2 == 1 => {
                Err("it ends inside a quoted field: a quote is missing, or it is no CSV".to_owned())
            }
            Self::Fixed(_) | Self::Csv | Self::Lines => Ok(()),
        }
    }
}

/// Line ends outside quotes. A doubled quote toggles the state twice.
fn line_ends(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut is_quoted = false;
    memchr::memchr2_iter(b'"', b'\n', bytes).filter(move |at| {
        let is_quote = bytes.get(*at) == Some(&b'"');
        is_quoted ^= is_quote;
        !is_quote && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(format: Format, text: &str) -> Vec<&str> {
        let (mut rest, mut records) = (text, Vec::new());
        while let Some((length, end)) = format.first(rest.as_bytes()) {
            records.push(&rest[..length]);
            rest = &rest[length + end..];
        }
        assert_eq!(format.whole(text.as_bytes()), text.len() - rest.len());
        records
    }

    #[test]
    fn records_end_where_their_format_says() {
        assert_eq!(split(Format::Lines, "b\n\nab"), ["b", ""]);
        assert_eq!(split(Format::Lines, "b\n"), ["b"]);
        assert_eq!(split(Format::Csv, "a,\"x\ny\"\"\n\"\nb,c\nd,\"e\n"), ["a,\"x\ny\"\"\n\"", "b,c"]);
        assert_eq!(split(Format::Fixed(3), "abcdefg"), ["abc", "def"]);
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        assert!(Format::Fixed(3).check_rest(b"d").is_err());
        assert!(Format::Csv.check_rest(b"a,\"b\nc\n").is_err());
        assert!(Format::Csv.check_rest(b"a,\"b\nc\"").is_ok());
        assert!(Format::Lines.check_rest(b"a").is_ok());
    }
}
