//! A storage engine on the page store: a hash table on disk with atomic changes, also across pages.
//! `cargo run -p nandle-pages --example key_value -- FILE` creates one, adds entries, and reads
//! them again.
//!
//! The store does the hard parts: this example has no file handling, journal, checksums or
//! recovery. A change consists of some `put`s and a `commit`, which returns when all its pages are
//! durable. After a power cut all of them are present or none. A damaged or outdated page is an
//! error. The policy `direct` guarantees none of this (see `Promises`), so
//! [`Table::open_or_create`] refuses it.
//!
//! # Format
//!
//! Page 0 counts the pages in use. Pages 1 to 64 are buckets. A page of a bucket is `next: u64` (0:
//! none), `entries: u64`, and `entries` times `key: u64, value: u64`; little-endian. A full page
//! gets a successor, in one change of three pages.
#![allow(clippy::print_stdout, reason = "an example, and it prints")]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test's way to fail"))]

use std::error::Error;
use std::path::Path;

use nandle_pages::{PageError, PageOptions, PageStore, PolicyKind};

const PAGE_BYTES: usize = 4096;
const PAGES: u64 = 4096;
const BUCKETS: u64 = 64;
const COUNTER: u64 = 0;
const ENTRIES_OFFSET: usize = 16;
const ENTRY_BYTES: usize = 16;
const ENTRIES_MAX: usize = (PAGE_BYTES - ENTRIES_OFFSET) / ENTRY_BYTES;

struct Table {
    store: PageStore,
}

/// A page of a bucket in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Bucket {
    next: u64,
    entries: Vec<(u64, u64)>,
}

impl Bucket {
    fn decode(bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        let (next, count) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(ENTRIES_MAX);
        let entries = std::iter::from_fn(|| Some((words.next()?, words.next()?))).take(count).collect();
        Self { next, entries }
    }

    fn encode(&self) -> Vec<u8> {
        let entries = self.entries.iter().flat_map(|(key, value)| [*key, *value]);
        let words = [self.next, self.entries.len() as u64].into_iter().chain(entries);
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.resize(PAGE_BYTES, 0);
        bytes
    }
}

impl Table {
    /// Opens the table of a file, however its last program ended, or creates one.
    fn open_or_create(path: &Path, policy: PolicyKind) -> Result<Self, Box<dyn Error>> {
        let promises = policy.promises();
        if !(promises.atomic_batch && promises.checks_pages) {
            return Err(format!("{policy} can leave half a change behind; take another policy").into());
        }
        let options = PageOptions::new(PAGES).with_policy(policy);
        let mut table = Self { store: PageStore::open_or_create(path, options)? };
        // New pages are zeros, which represent an empty bucket without a successor, and no counter.
        if table.bucket(COUNTER)?.next == 0 {
            let counter = Bucket { next: 1 + BUCKETS, entries: Vec::new() };
            table.store.put(COUNTER, &counter.encode())?;
            table.store.commit()?;
        }
        Ok(table)
    }

    fn get(&self, key: u64) -> Result<Option<u64>, PageError> {
        let mut page = bucket_of(key);
        while page != 0 {
            let bucket = self.bucket(page)?;
            if let Some((_, value)) = bucket.entries.iter().find(|(other, _)| *other == key) {
                return Ok(Some(*value));
            }
            page = bucket.next;
        }
        Ok(None)
    }

    /// Sets several keys atomically and durably.
    fn set(&mut self, changes: &[(u64, u64)]) -> Result<(), Box<dyn Error>> {
        for (key, value) in changes {
            if let Err(error) = self.set_one(*key, *value) {
                self.store.rollback();
                return Err(error);
            }
        }
        self.store.commit()?;
        Ok(())
    }

    fn set_one(&mut self, key: u64, value: u64) -> Result<(), Box<dyn Error>> {
        let mut page = bucket_of(key);
        loop {
            let mut bucket = self.bucket(page)?;
            if let Some(entry) = bucket.entries.iter_mut().find(|(other, _)| *other == key) {
                entry.1 = value;
            } else if bucket.next != 0 {
                page = bucket.next;
                continue;
            } else if bucket.entries.len() < ENTRIES_MAX {
                bucket.entries.push((key, value));
            } else {
                bucket.next = self.successor(&Bucket { next: 0, entries: vec![(key, value)] })?;
            }
            return Ok(self.store.put(page, &bucket.encode())?);
        }
    }

    /// Stores a bucket in the next unused page. Returns its number.
    fn successor(&mut self, bucket: &Bucket) -> Result<u64, Box<dyn Error>> {
        let counter = self.bucket(COUNTER)?;
        let page = counter.next;
        if page >= self.store.pages() {
            return Err(format!("the table is full: {page} pages are in use").into());
        }
        self.store.put(page, &bucket.encode())?;
        self.store.put(COUNTER, &Bucket { next: page + 1, ..counter }.encode())?;
        Ok(page)
    }

    /// Bucket with the pending changes applied.
    fn bucket(&self, page: u64) -> Result<Bucket, PageError> {
        Ok(Bucket::decode(&self.store.read(page)?))
    }
}

/// Multiplicative hashing (Knuth, volume 3, §6.4).
fn bucket_of(key: u64) -> u64 {
    1 + (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % BUCKETS
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: key_value FILE")?;
    let mut table = Table::open_or_create(Path::new(&path), PolicyKind::OutOfPlace)?;
    for key in 0..1000 {
        table.set(&[(key, key * key), (key + 1_000_000, key)])?;
    }
    drop(table);
    let table = Table::open_or_create(Path::new(&path), PolicyKind::OutOfPlace)?;
    println!("31 squared is {:?}; {:?}", table.get(31)?, table.store.stats()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_there_after_opening_again_under_every_atomic_policy() {
        let folder = tempfile::tempdir().unwrap();
        for policy in PolicyKind::ALL {
            let path = folder.path().join(policy.name());
            let made = Table::open_or_create(&path, policy);
            if !policy.promises().atomic_batch {
                assert!(made.is_err());
                continue;
            }
            let mut table = made.unwrap();
            // More entries than the buckets' first pages hold.
            for first in (0..20_000_u64).step_by(1000) {
                let changes: Vec<_> = (first..first + 1000).map(|key| (key, key + 1)).collect();
                for part in changes.chunks(25) {
                    table.set(part).unwrap();
                }
            }
            table.set(&[(7, 70), (1 << 40, 3)]).unwrap();
            drop(table);
            let table = Table::open_or_create(&path, policy).unwrap();
            assert_eq!(table.get(7).unwrap(), Some(70), "{policy}");
            assert_eq!(table.get(1 << 40).unwrap(), Some(3), "{policy}");
            assert!((8..20_000).all(|key| table.get(key).unwrap() == Some(key + 1)), "{policy}");
            assert_eq!(table.get(20_001).unwrap(), None);
        }
    }
}
