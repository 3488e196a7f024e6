//! Counter of one value's groups.

use super::super::KeySpace;
use super::super::dense::Dense;
use super::super::table::{Groups, Pair, Table};

/// Counts keys without the leading column's part.
pub(super) struct ValueCounter {
    cells: Cells,
}

enum Cells {
    Array(Dense),
    Table(Table),
}

/// Data structure for a value's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Array { cells: usize },
    Table,
}

impl ValueKind {
    /// Approximately the number of cells that fit in processor caches.
    const ARRAY_CELLS_MAX: u64 = 1 << 20;
    /// Number of cells that always fit in the nearest caches.
    const FEW_CELLS: u64 = 1 << 16;
    /// Maximum cells per row for an array, which has to be scanned and cleared; otherwise a table
    /// is used.
    const CELLS_PER_ROW: u64 = 4;

    /// Chooses the structure for values of this many rows.
    pub(super) fn of(space: &KeySpace, value_rows: u64) -> Self {
        let cells = space.cells_behind();
        let is_small = cells <= Self::FEW_CELLS || cells <= value_rows.saturating_mul(Self::CELLS_PER_ROW);
        match usize::try_from(cells) {
            Ok(length) if is_small && cells <= Self::ARRAY_CELLS_MAX => Self::Array { cells: length },
            _ => Self::Table,
        }
    }

    /// Memory of a new counter.
    pub(super) fn bytes_min(self) -> usize {
        match self {
            Self::Array { cells } => usize::try_from(Dense::bytes(cells as u64)).unwrap_or(usize::MAX),
            Self::Table => Table::BYTES_MIN,
        }
    }
}

impl ValueCounter {
    pub(super) fn new(kind: ValueKind, space: &KeySpace) -> Self {
        let cells = match kind {
            ValueKind::Array { cells } => Cells::Array(Dense::new(cells)),
            ValueKind::Table => Cells::Table(Table::new(space)),
        };
        Self { cells }
    }

    /// Its memory.
    pub(super) fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Array(dense) => dense.array_bytes(),
            Cells::Table(table) => table.bytes(),
        }
    }

    /// Returns true if this many further groups need more memory.
    pub(super) fn is_full(&self, groups: usize) -> bool {
        matches!(&self.cells, Cells::Table(table) if !table.has_room(groups))
    }

    /// Doubles its memory.
    pub(super) fn grow(&mut self) {
        if let Cells::Table(table) = &mut self.cells {
            table.grow();
        }
    }

    pub(super) fn add(&mut self, keys: &[u64]) {
        match &mut self.cells {
            Cells::Array(dense) => dense.add(keys),
            Cells::Table(table) => {
                for key in keys {
                    table.add(*key, 1);
                }
            }
        }
    }

    /// Adds a group counted elsewhere, or rows with one key.
    #[inline]
    pub(super) fn add_group(&mut self, (key, count): Pair) {
        match &mut self.cells {
            Cells::Array(dense) => dense.add_group((key, count)),
            Cells::Table(table) => table.add(key, count),
        }
    }

    /// Takes all groups out.
    pub(super) fn compact(&mut self, space: &KeySpace) -> Groups {
        match &mut self.cells {
            Cells::Array(dense) => Groups::of(&dense.take_pairs(), space),
            Cells::Table(table) => table.compact(),
        }
    }
}
