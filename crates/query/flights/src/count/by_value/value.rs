//! Counting the groups of one value of the leading column.

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

/// How each value's groups are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Array { cells: usize },
    Table,
}

impl ValueKind {
    /// About as many as a processor's caches hold.
    const ARRAY_CELLS_MAX: u64 = 1 << 20;
    /// An array of so few is always in the nearest caches.
    const FEW_CELLS: u64 = 1 << 16;
    /// A value with fewer rows than the array has cells, by such a factor, is counted in a table: an array is looked through and cleared.
    const CELLS_PER_ROW: u64 = 4;

    /// What suits values of so many rows.
    pub(super) fn of(space: &KeySpace, value_rows: u64) -> Self {
        let cells = space.cells_behind();
        let is_small = cells <= Self::FEW_CELLS || cells <= value_rows.saturating_mul(Self::CELLS_PER_ROW);
        match usize::try_from(cells) {
            Ok(length) if is_small && cells <= Self::ARRAY_CELLS_MAX => Self::Array { cells: length },
            _ => Self::Table,
        }
    }

    /// Memory of a counter that is new.
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

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Array(dense) => dense.array_bytes(),
            Cells::Table(table) => table.bytes(),
        }
    }

    /// Whether so many more groups need more memory.
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

    /// Adds a group that was counted elsewhere, or rows that have one key.
    #[inline]
    pub(super) fn add_group(&mut self, (key, count): Pair) {
        match &mut self.cells {
            Cells::Array(dense) => dense.add_group((key, count)),
            Cells::Table(table) => table.add(key, count),
        }
    }

    /// Takes all groups out, so that it is empty.
    pub(super) fn compact(&mut self, space: &KeySpace) -> Groups {
        match &mut self.cells {
            Cells::Array(dense) => Groups::of(&dense.take_pairs(), space),
            Cells::Table(table) => table.compact(),
        }
    }
}
