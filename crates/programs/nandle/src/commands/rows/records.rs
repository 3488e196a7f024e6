//! Records in bytes.

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

impl Format {
    /// The length of the first record in `bytes`, and of what ends it; none where its end isn't there.
    pub(crate) fn first(self, bytes: &[u8]) -> Option<(usize, usize)> {
        match self {
            Self::Fixed(length) => (bytes.len() >= length).then_some((length, 0)),
            Self::Lines => memchr::memchr(b'\n', bytes).map(|end| (end, 1)),
            Self::Csv => line_ends(bytes).next().map(|end| (end, 1)),
        }
    }

    /// The length of the whole records that `bytes` begin with.
    pub(crate) fn whole(self, bytes: &[u8]) -> usize {
        match self {
            Self::Fixed(length) => bytes.len() - bytes.len() % length,
            Self::Lines => memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1),
            Self::Csv => line_ends(bytes).last().map_or(0, |end| end + 1),
        }
    }

    /// Whether what is left at the end of a file is a record without an end, or nothing.
    pub(crate) fn check_rest(self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Fixed(length) if !bytes.is_empty() => {
                Err(format!("it ends in the middle of a record: {} bytes of {length} are left", bytes.len()))
            }
            // A quote in a field is doubled, so that outside of quotes their number is even.
            Self::Csv if memchr::memchr_iter(b'"', bytes).count() % 2 == 1 => {
                Err("it ends inside a quoted field: a quote is missing, or it is no CSV".to_owned())
            }
            Self::Fixed(_) | Self::Csv | Self::Lines => Ok(()),
        }
    }
}

/// Line ends that aren't between quotes. A quote in a field is doubled, so it turns the state twice.
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
