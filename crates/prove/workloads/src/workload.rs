//! What is to be done.

use serde::Serialize;

use crate::WorkloadError;

/// What is done to the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// An external sort by the key.
    Sort,
    /// A hash join of two tables with the same keys, each of them once in each.
    Join,
}

impl Operator {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sort => "sort",
            Self::Join => "join",
        }
    }

    /// Its two phases: the first writes temporary data, the second reads them.
    pub fn phases(self) -> [&'static str; 2] {
        match self {
            Self::Sort => ["making runs", "merging"],
            Self::Join => ["partitioning", "joining"],
        }
    }

    /// Tables that it reads.
    pub fn tables(self) -> u64 {
        match self {
            Self::Sort => 1,
            Self::Join => 2,
        }
    }
}

/// What is done, to how much, and in what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Workload {
    /// Sort or join.
    pub operator: Operator,
    /// Rows of each table.
    pub rows: u64,
    /// Bytes of a row, its key among them.
    pub row_bytes: usize,
    /// Bytes of a key, from [`KEY_BYTES_MIN`](Self::KEY_BYTES_MIN) on. Every key is there once in a table.
    pub key_bytes: usize,
    /// Memory of the operator. What carries rows from the input and to the output comes on top.
    pub memory_bytes: usize,
    /// What one read of temporary data brings, in the place of what follows from the device's costs.
    pub cluster_bytes: Option<usize>,
    /// The rows follow from it.
    pub seed: u64,
}

impl Workload {
    /// Shorter keys couldn't all be different.
    pub const KEY_BYTES_MIN: usize = 8;
    /// The longest row.
    pub const ROW_BYTES_MAX: usize = 64 << 10;

    /// The study's: 2 million rows of 100 bytes with keys of 10, in 2 MiB.
    pub fn of_the_study(operator: Operator) -> Self {
        Self {
            operator,
            rows: 2_000_000,
            row_bytes: 100,
            key_bytes: 10,
            memory_bytes: 2 << 20,
            cluster_bytes: None,
            seed: 1,
        }
    }

    /// Bytes of a row of the result.
    pub fn result_row_bytes(&self) -> usize {
        match self.operator {
            Operator::Sort => self.row_bytes,
            Operator::Join => 2 * self.row_bytes - self.key_bytes,
        }
    }

    /// Bytes of the rows of one table.
    pub fn table_bytes(&self) -> u64 {
        self.rows.saturating_mul(self.row_bytes as u64)
    }

    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        let wrong = |what, got: u64, expected: String| Err(WorkloadError::Options { what, got, expected });
        if self.rows == 0 {
            return wrong("the number of rows", 0, "at least one".to_owned());
        }
        if !(Self::KEY_BYTES_MIN..=self.row_bytes).contains(&self.key_bytes) {
            let expected = format!(
                "from {} bytes on, so that every key is another, and at most the row",
                Self::KEY_BYTES_MIN
            );
            return wrong("the key", self.key_bytes as u64, expected);
        }
        if self.row_bytes > Self::ROW_BYTES_MAX {
            return wrong("the row", self.row_bytes as u64, format!("at most {} bytes", Self::ROW_BYTES_MAX));
        }
        Ok(())
    }
}

/// Powers of two from one size to another, both included.
pub fn cluster_sizes(from_bytes: usize, to_bytes: usize) -> Vec<usize> {
    std::iter::successors(Some(from_bytes.max(1)), |bytes| bytes.checked_mul(2))
        .take_while(|bytes| *bytes <= to_bytes)
        .collect()
}
