//! A hash table of rows in a single buffer.
//!
//! ```text
//! buffer  │ row │ row │ row │ … free … │ bucket │ bucket │ … │ reserved by the caller, from the end downwards │
//! row     u64 hash of the key, u64 link, u32 length of the key, u32 length of the payload, key, payload
//! link    1 + offset of the next row in the same bucket, or 0; the highest bit marks a matched row
//! bucket  1 + offset of its first row, or 0
//! ```
//!
//! There are as many buckets as rows. They are made once all rows have been added; room for them is
//! kept free.

use bytemuck::cast_slice_mut;
use nandle_io::BufferMut;

use super::hashing::bucket;
use crate::budget::Grant;
use crate::rows::Row;
use crate::{Budget, SpillError};

const WORD_BYTES: usize = size_of::<u64>();
const LINK_AT: usize = WORD_BYTES;
const HEADER_BYTES: usize = 2 * WORD_BYTES + 2 * size_of::<u32>();
const MATCHED: u64 = 1 << 63;
/// Memory of a row besides its key and payload, in bytes.
pub(super) const ROW_OVERHEAD_BYTES: usize = HEADER_BYTES + WORD_BYTES;

pub(super) struct Table {
    _grant: Grant,
    buffer: BufferMut,
    rows: usize,
    rows_end: usize,
    /// Start of the reserved area.
    top: usize,
    /// Start of the buckets; none before they are made.
    buckets_start: Option<usize>,
}

/// A row stored in a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) hash: u64,
    link: u64,
    pub(super) row: Row<'a>,
}

impl Entry<'_> {
    fn bytes(&self) -> usize {
        HEADER_BYTES + self.row.key.len() + self.row.payload.len()
    }

    pub(super) fn is_matched(&self) -> bool {
        self.link & MATCHED != 0
    }
}

/// Table memory of `rows` rows with `row_bytes` bytes of keys and payloads.
pub(super) fn table_bytes(rows: u64, row_bytes: u64) -> u64 {
    let all = row_bytes.saturating_add(rows.saturating_mul(ROW_OVERHEAD_BYTES as u64));
    all.saturating_add(WORD_BYTES as u64)
}

impl Table {
    /// Creates a table with a buffer of `bytes` bytes.
    pub(super) fn new(budget: &Budget, bytes: usize) -> Result<Self, SpillError> {
        let (grant, buffer) = budget.buffer("rows in memory", bytes)?;
        let top = buffer.len();
        Ok(Self { _grant: grant, buffer, rows: 0, rows_end: 0, top, buckets_start: None })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns true if `rows` more rows, their buckets and `reserved_bytes` fit.
    pub(super) fn has_room(&self, rows: usize, row_bytes: usize, reserved_bytes: usize) -> bool {
        // One more word, because the buckets are aligned to a word.
        let buckets_bytes = (self.rows + rows + 1) * WORD_BYTES;
        self.rows_end + rows * HEADER_BYTES + row_bytes + buckets_bytes + reserved_bytes <= self.top
    }

    /// Reserves `bytes` bytes at the end; there must be room for them.
    pub(super) fn reserve(&mut self, bytes: usize) {
        assert!(self.has_room(0, 0, bytes), "no room to reserve {bytes} bytes");
        self.top -= bytes;
    }

    /// The reserved area; the first reservation is at its end.
    pub(super) fn reserved(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.top..).unwrap_or_default()
    }

    /// The rows and the reserved area.
    pub(super) fn split(&mut self) -> (Entries<'_>, &mut [u8]) {
        let Some((below, reserved)) = self.buffer.split_at_mut_checked(self.top) else {
            unreachable!("{} is in the buffer", self.top)
        };
        (Entries { rows: below.get(..self.rows_end).unwrap_or_default(), at: 0 }, reserved)
    }

    /// Adds a row if there is room for it and for `reserved_bytes` more. Returns true if it was
    /// added.
    pub(super) fn push(&mut self, hash: u64, row: Row<'_>, reserved_bytes: usize) -> bool {
        debug_assert_eq!(self.buckets_start, None, "rows are added before the buckets are made");
        let Row { key, payload } = row;
        if !self.has_room(1, key.len() + payload.len(), reserved_bytes) {
            return false;
        }
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_ne_bytes();
        for part in [
            hash.to_ne_bytes().as_slice(),
            &0_u64.to_ne_bytes(),
            &length(key),
            &length(payload),
            key,
            payload,
        ] {
            put(&mut self.buffer, self.rows_end, part);
            self.rows_end += part.len();
        }
        self.rows += 1;
        true
    }

    /// Iterates over all rows in order of insertion.
    pub(super) fn entries(&self) -> Entries<'_> {
        Entries { rows: self.buffer.get(..self.rows_end).unwrap_or_default(), at: 0 }
    }

    /// Drops the rows whose hashes `keeps` rejects.
    pub(super) fn retain(&mut self, keeps: impl Fn(u64) -> bool) {
        debug_assert_eq!(self.buckets_start, None, "rows move, so there must be no links yet");
        let (mut at, mut kept_end) = (0, 0);
        while at < self.rows_end {
            let entry = entry_at(&self.buffer, at);
            let (hash, end) = (entry.hash, at + entry.bytes());
            if keeps(hash) {
                self.buffer.copy_within(at..end, kept_end);
                kept_end += end - at;
            } else {
                self.rows -= 1;
            }
            at = end;
        }
        self.rows_end = kept_end;
    }

    /// Drops all rows. Reserved bytes stay reserved.
    pub(super) fn clear(&mut self) {
        (self.rows, self.rows_end, self.buckets_start) = (0, 0, None);
    }

    /// Makes the buckets, once all rows have been added.
    pub(super) fn make_buckets(&mut self) {
        let start = (self.top - self.rows * WORD_BYTES) / WORD_BYTES * WORD_BYTES;
        debug_assert!(start >= self.rows_end, "room for the buckets was kept");
        let Some((rows, above)) = self.buffer.split_at_mut_checked(start) else {
            unreachable!("the buckets are in the buffer")
        };
        let buckets = above.get_mut(..self.rows * WORD_BYTES).unwrap_or_default();
        let buckets: &mut [u64] = cast_slice_mut(buckets);
        buckets.fill(0);
        let mut at = 0;
        while at < self.rows_end {
            let entry = entry_at(rows, at);
            let end = at + entry.bytes();
            let Some(first) = buckets.get_mut(bucket(entry.hash, self.rows)) else {
                unreachable!("every hash has a bucket")
            };
            put(rows, at + LINK_AT, &first.to_ne_bytes());
            *first = at as u64 + 1;
            at = end;
        }
        self.buckets_start = Some(start);
    }

    /// Returns the offset of the first row with this key.
    pub(super) fn find(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let Some(start) = self.buckets_start else { unreachable!("the buckets were made") };
        if self.rows == 0 {
            return None;
        }
        let at = start + bucket(hash, self.rows) * WORD_BYTES;
        let first = self.buffer.get(at..).and_then(<[u8]>::first_chunk);
        let Some(first) = first else { unreachable!("every hash has a bucket") };
        self.follow(u64::from_ne_bytes(*first), hash, key)
    }

    /// Returns the next row with the same key as the row at `at`.
    pub(super) fn find_next(&self, at: usize) -> Option<usize> {
        let entry = self.entry(at);
        self.follow(entry.link, entry.hash, entry.row.key)
    }

    fn follow(&self, mut link: u64, hash: u64, key: &[u8]) -> Option<usize> {
        loop {
            let Ok(linked) = usize::try_from(link & !MATCHED) else { unreachable!("rows are in memory") };
            let at = linked.checked_sub(1)?;
            let entry = self.entry(at);
            if entry.hash == hash && entry.row.key == key {
                return Some(at);
            }
            link = entry.link;
        }
    }

    pub(super) fn entry(&self, at: usize) -> Entry<'_> {
        entry_at(&self.buffer, at)
    }

    /// Marks the row at `at` as matched. Returns true if it was marked before.
    pub(super) fn mark(&mut self, at: usize) -> bool {
        let link = self.entry(at).link;
        put(&mut self.buffer, at + LINK_AT, &(link | MATCHED).to_ne_bytes());
        link & MATCHED != 0
    }
}

/// Iterator over rows in a buffer.
pub(super) struct Entries<'a> {
    rows: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        if self.at == self.rows.len() {
            return None;
        }
        let entry = entry_at(self.rows, self.at);
        self.at += entry.bytes();
        Some(entry)
    }
}

fn entry_at(rows: &[u8], at: usize) -> Entry<'_> {
    let entry = rows.get(at..).and_then(|rows| {
        let (hash, rows) = rows.split_first_chunk()?;
        let (link, rows) = rows.split_first_chunk()?;
        let (key_bytes, rows) = rows.split_first_chunk()?;
        let (payload_bytes, rows) = rows.split_first_chunk()?;
        let (key, rows) = rows.split_at_checked(u32::from_ne_bytes(*key_bytes) as usize)?;
        let row = Row { key, payload: rows.get(..u32::from_ne_bytes(*payload_bytes) as usize)? };
        Some(Entry { hash: u64::from_ne_bytes(*hash), link: u64::from_ne_bytes(*link), row })
    });
    let Some(entry) = entry else { unreachable!("no row begins at {at}") };
    entry
}

fn put(buffer: &mut [u8], at: usize, bytes: &[u8]) {
    let Some(into) = buffer.get_mut(at..at + bytes.len()) else { unreachable!("no room at {at}") };
    into.copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_key_and_the_buffer_is_filled() {
        let budget = Budget::new(64 << 10).unwrap();
        let mut table = Table::new(&budget, 8192).unwrap();
        table.reserve(100);
        let payload = [9; 11];
        let mut count = 0_u64;
        // Three rows of each key; some keys have equal hashes.
        while table.push(count / 12, Row { key: &(count / 3).to_be_bytes(), payload: &payload }, 64) {
            count += 1;
        }
        assert_eq!(count, (8192 - 100 - 64 - 8) / (24 + 8 + 8 + 11));
        table.retain(|hash| hash % 2 == 0);
        table.make_buckets();
        let mut all_found = 0;
        for key in 0..count / 3 {
            let mut found = 0;
            let mut at = table.find(key / 4, &key.to_be_bytes());
            while let Some(row) = at {
                assert_eq!(table.entry(row).row, Row { key: &key.to_be_bytes(), payload: &payload });
                assert!(!table.mark(row) && table.mark(row) && table.entry(row).is_matched());
                found += 1;
                at = table.find_next(row);
            }
            assert_eq!(found, if key / 4 % 2 == 0 { 3 } else { 0 }, "key {key}");
            all_found += found;
        }
        assert_eq!(table.entries().filter(Entry::is_matched).count(), all_found);
    }
}
