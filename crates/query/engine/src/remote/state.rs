use std::fmt;

/// State of a table's data, compared between machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DataState {
    /// Snapshot of a table of this project.
    Snapshot {
        /// Identity of the table: hexadecimal digits.
        table: String,
        /// Number of the snapshot.
        number: u64,
    },
    /// Parquet files.
    Files {
        /// Number of files.
        count: usize,
        /// Their total size.
        bytes: u64,
        /// Hash of their footers, in the order of their names.
        footers: u64,
    },
}

impl DataState {
    /// Encodes as a part of a path.
    pub(crate) fn to_part(&self) -> String {
        match self {
            Self::Snapshot { table, number } => format!("snapshot-{number}-{table}"),
            Self::Files { count, bytes, footers } => format!("files-{count}-{bytes}-{footers:016x}"),
        }
    }

    /// Parses a result of [`to_part`](Self::to_part).
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
