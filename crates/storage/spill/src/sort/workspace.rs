//! Rows in memory, in the order in which they were pushed.
//!
//! ```text
//! buffer  │ row │ row │ row │ … free … │ entry │ entry │ entry │
//! row     u32 length of the key, u32 length of the payload, key, payload
//! entry   the key's next eight bytes (set when sorting), the row's offset
//! ```

use bytemuck::{cast_slice, cast_slice_mut};
use nandle_io::BufferMut;

use super::memory::MemoryRows;
use super::order::{Entry, offset, sort};
use crate::budget::Grant;
use crate::rows::{Row, common_prefix};
use crate::{Budget, SpillError};

const LENGTHS_BYTES: usize = 2 * size_of::<u32>();
/// Cache line of most processors, in bytes.
const CACHE_LINE_BYTES: usize = 64;
const ENTRY_BYTES: usize = size_of::<Entry>();

pub(crate) struct Workspace {
    grant: Grant,
    buffer: BufferMut,
    /// Offset of the next row.
    rows_end: usize,
    /// Start of the last entry.
    entries_start: usize,
    row_bytes: u64,
    pub(crate) row_bytes_max: usize,
    /// Length of the prefix that all keys share with the first key.
    common: usize,
}

impl Workspace {
    /// Creates a workspace of `bytes` bytes, a multiple of the entry length.
    pub(crate) fn new(budget: &Budget, bytes: usize) -> Result<Self, SpillError> {
        debug_assert!(bytes.is_multiple_of(ENTRY_BYTES), "{bytes} bytes are not whole entries");
        let (grant, buffer) = budget.buffer("rows in memory", bytes)?;
        Ok(Self::of(grant, buffer))
    }

    fn of(grant: Grant, buffer: BufferMut) -> Self {
        Self {
            grant,
            entries_start: buffer.len(),
            buffer,
            rows_end: 0,
            row_bytes: 0,
            row_bytes_max: 0,
            common: usize::MAX,
        }
    }

    /// Removes all rows and keeps the memory.
    pub(super) fn into_empty(self) -> Self {
        Self::of(self.grant, self.buffer)
    }

    /// Memory that a row takes in a workspace, in bytes.
    pub(crate) fn taken_by(row: Row<'_>) -> usize {
        LENGTHS_BYTES + row.key.len() + row.payload.len() + ENTRY_BYTES
    }

    /// Adds a row. Returns false if there is no room for it.
    pub(crate) fn push(&mut self, row: Row<'_>) -> bool {
        let Row { key, payload } = row;
        if self.entries_start - self.rows_end < Self::taken_by(row) {
            return false;
        }
        let at = self.rows_end;
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_ne_bytes();
        for part in [&length(key), &length(payload), key, payload] {
            self.put(self.rows_end, part);
            self.rows_end += part.len();
        }
        self.entries_start -= ENTRY_BYTES;
        self.put(self.entries_start + size_of::<u64>(), &(at as u64).to_ne_bytes());
        self.row_bytes += (key.len() + payload.len()) as u64;
        self.row_bytes_max = self.row_bytes_max.max(key.len() + payload.len());
        self.common = if at == 0 { key.len() } else { common_prefix(self.first_key(), key).min(self.common) };
        true
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        let Some(into) = self.buffer.get_mut(at..at + bytes.len()) else { unreachable!("there is room") };
        into.copy_from_slice(bytes);
    }

    fn first_key(&self) -> &[u8] {
        let key = row_at(&self.buffer, 0).key;
        key.get(..self.common).unwrap_or(key)
    }

    /// The row that was pushed last.
    pub(super) fn last_pushed(&self) -> Row<'_> {
        // Entries grow downwards.
        self.sorted_row(0)
    }

    /// Bytes taken by rows and entries.
    pub(super) fn taken_bytes(&self) -> usize {
        self.rows_end + self.buffer.len() - self.entries_start
    }

    pub(crate) fn rows(&self) -> usize {
        (self.buffer.len() - self.entries_start) / ENTRY_BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// Bytes of keys and payloads.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// Prefix that all keys share.
    pub(crate) fn common(&self) -> &[u8] {
        if self.is_empty() { &[] } else { self.first_key() }
    }

    /// Sorts the rows; rows with equal keys keep their order.
    pub(crate) fn into_sorted(mut self) -> MemoryRows {
        let common = self.common().len();
        let (rows, entries) = self.buffer.split_at_mut(self.entries_start);
        let entries: &mut [Entry] = cast_slice_mut(entries);
        entries.reverse();
        sort(rows, entries, common);
        MemoryRows::new(self)
    }

    /// Returns row `number` in sorted order.
    pub(crate) fn sorted_row(&self, number: usize) -> Row<'_> {
        self.row(self.sorted_position(number))
    }

    /// Returns the position of row `number` in sorted order.
    pub(super) fn sorted_position(&self, number: usize) -> Position {
        let entries = self.buffer.get(self.entries_start..).unwrap_or_default();
        let Some(entry) = cast_slice(entries).get(number) else { unreachable!("{number} is a row") };
        position_at(&self.buffer, offset(entry))
    }

    /// Touches the second cache line and the last byte of a row, to load them into the cache. The
    /// returned value only keeps the reads from being optimised away.
    pub(super) fn touch(&self, position: Position) -> u8 {
        let Position { key_at, key_bytes, payload_bytes } = position;
        let byte = |at: usize| self.buffer.get(at).copied().unwrap_or_default();
        let last = key_at + (key_bytes + payload_bytes).saturating_sub(1);
        byte(last) ^ byte((key_at + CACHE_LINE_BYTES).min(last))
    }

    /// Returns the row at a position.
    pub(super) fn row(&self, position: Position) -> Row<'_> {
        row_of(&self.buffer, position)
    }
}

/// Offset of a row's key, and the lengths of key and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    key_at: usize,
    key_bytes: usize,
    payload_bytes: usize,
}

fn position_at(rows: &[u8], at: usize) -> Position {
    let lengths = rows.get(at..).and_then(|rows| {
        let (key, rows) = rows.split_first_chunk()?;
        Some((u32::from_ne_bytes(*key), u32::from_ne_bytes(*rows.first_chunk()?)))
    });
    let Some((key, payload)) = lengths else { unreachable!("no row begins at {at}") };
    Position { key_at: at + LENGTHS_BYTES, key_bytes: key as usize, payload_bytes: payload as usize }
}

fn row_of(rows: &[u8], position: Position) -> Row<'_> {
    let Position { key_at, key_bytes, payload_bytes } = position;
    let parts = rows.get(key_at..key_at + key_bytes + payload_bytes);
    let Some((key, payload)) = parts.and_then(|parts| parts.split_at_checked(key_bytes)) else {
        unreachable!("no row at {position:?}")
    };
    Row { key, payload }
}

/// Returns the row at an offset.
pub(super) fn row_at(rows: &[u8], at: usize) -> Row<'_> {
    row_of(rows, position_at(rows, at))
}
