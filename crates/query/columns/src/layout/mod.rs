//! Layout of rows in files: sizes, encodings, order.

mod figures;
mod properties;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::figures::LayoutFigures;
pub(crate) use self::properties::properties;

/// Layout of a table's files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Size of an encoded data page before compression.
    pub page_bytes: u64,
    /// Limit on rows per data page, so that the page index stays selective in columns that are
    /// encoded in few bytes.
    pub page_rows: u64,
    /// Rows per row group.
    pub row_group_rows: u64,
    /// Limit on the memory of a row group while it is written; a larger one ends early.
    pub row_group_bytes: u64,
    /// Rows per file; a larger load creates several files.
    pub file_rows: u64,
    /// Columns with an explicit encoding. For others it is derived from the first rows.
    #[serde(default)]
    pub columns: BTreeMap<String, ColumnLayout>,
}

/// Encoding of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnLayout {
    /// A dictionary, with codes compressed by lz4: for columns that scans group by.
    Codes,
    /// Values compressed by zstd, dictionary-encoded while that pays.
    Values,
}

/// Order of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Clustering {
    /// Load order.
    #[default]
    None,
    /// Sorted by these columns, the first one being the primary key.
    Sort(Vec<String>),
    /// Rows grouped by the values of these columns, and the groups in Z-order of the values' ranks.
    Cells(Vec<String>),
}

impl Clustering {
    /// Columns of the order.
    pub fn columns(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::Sort(columns) | Self::Cells(columns) => columns,
        }
    }
}

impl Layout {
    /// Returns the name of the first figure that is zero, which is invalid.
    pub(crate) fn zero(&self) -> Option<&'static str> {
        let figures = [
            ("page_bytes", self.page_bytes),
            ("page_rows", self.page_rows),
            ("row_group_rows", self.row_group_rows),
            ("row_group_bytes", self.row_group_bytes),
            ("file_rows", self.file_rows),
        ];
        figures.into_iter().find(|(_, figure)| *figure == 0).map(|(name, _)| name)
    }
}

impl Default for Layout {
    /// Default without a measured device: pages of 64 KiB, row groups of a million rows.
    fn default() -> Self {
        Self {
            page_bytes: 64 << 10,
            page_rows: 128 << 10,
            row_group_rows: 1 << 20,
            row_group_bytes: 128 << 20,
            file_rows: 64 << 20,
            columns: BTreeMap::new(),
        }
    }
}
