//! How rows become files: sizes, encodings, order.

mod figures;
mod properties;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::figures::LayoutFigures;
pub(crate) use self::properties::properties;

/// How the files of a table are laid out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The bytes of a data page as it is encoded, before it is compressed.
    pub page_bytes: u64,
    /// The most rows of a data page, so that the page index tells apart what is encoded in a few bytes.
    pub page_rows: u64,
    /// The rows of a row group.
    pub row_group_rows: u64,
    /// The bytes that a row group may take in memory while it is written; it ends earlier when it needs more.
    pub row_group_bytes: u64,
    /// The rows of a file; a load that has more makes several.
    pub file_rows: u64,
    /// Columns whose encoding is stated; that of others follows from the first rows.
    #[serde(default)]
    pub columns: BTreeMap<String, ColumnLayout>,
}

/// How a column is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnLayout {
    /// A dictionary, its codes compressed by lz4: for columns that scans group by.
    Codes,
    /// Values, compressed by zstd; by a dictionary while that pays.
    Values,
}

/// How rows are ordered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Clustering {
    /// As they come.
    #[default]
    None,
    /// By some columns, the first of which counts most.
    Sort(Vec<String>),
    /// Rows with the same values of some columns together, and these cells in the Z-order of the values' ranks.
    Cells(Vec<String>),
}

impl Clustering {
    /// The columns that the order is by.
    pub fn columns(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::Sort(columns) | Self::Cells(columns) => columns,
        }
    }
}

impl Layout {
    /// The name of a figure that is zero: with it nothing can be written.
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
    /// What suits where no device was measured: pages of 64 KiB, row groups of a million rows.
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
