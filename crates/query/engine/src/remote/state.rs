use std::fmt;

/// Which data a table has, by which two machines can tell that theirs are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DataState {
    /// A snapshot of a table of ours.
    Snapshot {
        /// The table's identity: hexadecimal digits.
        table: String,
        /// The snapshot's number.
        number: u64,
    },
    /// Files as they lie.
    Files {
        /// How many.
        count: usize,
        /// The sizes of all of them together.
        bytes: u64,
        /// What is made of their footers, in the order of their names.
        footers: u64,
    },
}

impl DataState {
    /// As a part of a path.
    pub(crate) fn to_part(&self) -> String {
        match self {
            Self::Snapshot { table, number } => format!("snapshot-{number}-{table}"),
            Self::Files { count, bytes, footers } => format!("files-{count}-{bytes}-{footers:016x}"),
        }
    }

    /// The state of which [`to_part`](Self::to_part) made this.
    pub(crate) fn of_part(part: &str) -> Option<Self> {
        let (kind, rest) = part.split_once('-')?;
        let (first, rest) = rest.split_once('-')?;
        match kind {
            "snapshot" => Some(Self::Snapshot { table: rest.to_owned(), number: first.parse().ok()? }),
            "files" => {
                let (bytes, footers) = rest.split_once('-')?;
                let footers = u64::from_str_radix(footers, 16).ok()?;
                Some(Self::Files { count: first.parse().ok()?, bytes: bytes.parse().ok()?, footers })
            }
            _ => None,
        }
    }
}

impl fmt::Display for DataState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot { table, number } => write!(f, "snapshot {number} of table {table}"),
            Self::Files { count: 1, bytes, footers } => {
                write!(f, "1 file of {bytes} bytes (footer {footers:016x})")
            }
            Self::Files { count, bytes, footers } => {
                write!(
                    f,
                    "{count} files of {bytes} bytes together (footers in the order of names {footers:016x})"
                )
            }
        }
    }
}
