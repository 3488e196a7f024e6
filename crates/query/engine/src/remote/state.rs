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
    },
}

impl DataState {
    /// As a part of a path.
    pub(crate) fn to_part(&self) -> String {
        match self {
            Self::Snapshot { table, number } => format!("snapshot-{number}-{table}"),
            Self::Files { count, bytes } => format!("files-{count}-{bytes}"),
        }
    }

    /// The state of which [`to_part`](Self::to_part) made this.
    pub(crate) fn of_part(part: &str) -> Option<Self> {
        let (kind, rest) = part.split_once('-')?;
        let (first, second) = rest.split_once('-')?;
        match kind {
            "snapshot" => Some(Self::Snapshot { table: second.to_owned(), number: first.parse().ok()? }),
            "files" => Some(Self::Files { count: first.parse().ok()?, bytes: second.parse().ok()? }),
            _ => None,
        }
    }
}

impl fmt::Display for DataState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot { table, number } => write!(f, "snapshot {number} of table {table}"),
            Self::Files { count: 1, bytes } => write!(f, "1 file of {bytes} bytes"),
            Self::Files { count, bytes } => write!(f, "{count} files of {bytes} bytes together"),
        }
    }
}
