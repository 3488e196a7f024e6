//! Description of a workload.

use serde::Serialize;

use crate::WorkloadError;

/// Operator applied to the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// External sort by key.
    Sort,
    /// Hash join of two tables with the same unique keys.
    Join,
}

impl Operator {
    /// Name of the operator.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sort => "sort",
            Self::Join => "join",
        }
    }

    /// Names of the two phases: the first writes temporary data, the second reads it.
    pub fn phases(self) -> [&'static str; 2] {
        match self {
            Self::Sort => ["making runs", "merging"],
            Self::Join => ["partitioning", "joining"],
        }
    }

    /// Number of tables read.
    pub fn tables(self) -> u64 {
        match self {
            Self::Sort => 1,
            Self::Join => 2,
        }
    }
}

/// Workload: operator, tables, and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Workload {
    /// Sort or join.
    pub operator: Operator,
    /// Rows of each table.
    pub rows: u64,
    /// Length of a row including its key, in bytes.
    pub row_bytes: usize,
    /// Length of a key in bytes, at least [`KEY_BYTES_MIN`](Self::KEY_BYTES_MIN). Each key occurs
    /// once in a table.
    pub key_bytes: usize,
    /// Memory of the operator, in bytes, without the buffers for input and output.
    pub memory_bytes: usize,
    /// Length of a read of temporary data in bytes, overriding the choice by cost.
    pub cluster_bytes: Option<usize>,
    /// Seed of the rows.
    pub seed: u64,
}

impl Workload {
    /// Minimum length of a key, in bytes, for all keys to be unique.
    pub const KEY_BYTES_MIN: usize = 8;
    /// Maximum length of a row, in bytes.
    pub const ROW_BYTES_MAX: usize = 64 << 10;

    /// The study's workload: 2 million rows of 100 bytes with keys of 10 bytes, in 2 MiB.
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

    /// Length of a result row, in bytes.
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
                "at least {} bytes, so that keys are unique, and at most the row length",
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

/// Returns the powers of two times `from_bytes`, up to and including `to_bytes`.
pub fn cluster_sizes(from_bytes: usize, to_bytes: usize) -> Vec<usize> {
    std::iter::successors(Some(from_bytes.max(1)), |bytes| bytes.checked_mul(2))
        .take_while(|bytes| *bytes <= to_bytes)
        .collect()
}
