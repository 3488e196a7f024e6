//! A storage engine on the page store: a hash table on disk whose every change is atomic, also those that touch several
//! pages. `cargo run -p nandle-pages --example key_value -- FILE` makes one, adds to it, and reads it again.
//!
//! What the store takes off the engine: there is no journal, no checksum and no recovery in this file. A change is a
//! [`Batch`]; `commit` returns when all its pages are durable, and after a power cut all of them are there or none. A page
//! that the device damaged, or gives back as it was before, is an error instead of contents. With the policy `direct` neither
//! would be so (see `Promises`), which is why [`Table::create`] refuses it.
//!
//! # Format
//!
//! Page 0 counts the pages in use. Pages 1 to 64 are buckets. A page of a bucket is `next: u64` (0: none), `entries: u64`,
//! then `entries` times `key: u64, value: u64`; little-endian. A full page gets a successor: one change of three pages.
#![allow(clippy::print_stdout, reason = "an example, and it prints")]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test's way to fail"))]

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FallocateFlags, fallocate};

use nandle_io::{Buffer, DeviceFile, FileOptions};
use nandle_pages::{Batch, BlockingStore, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind};

const PAGE_BYTES: usize = 4096;
const PAGES: u64 = 4096;
const BUCKETS: u64 = 64;
const COUNTER: PageNumber = PageNumber(0);
const ENTRIES_OFFSET: usize = 16;
const ENTRY_BYTES: usize = 16;
const ENTRIES_MAX: usize = (PAGE_BYTES - ENTRIES_OFFSET) / ENTRY_BYTES;

/// The table.
struct Table {
    store: BlockingStore,
}

/// A page of a bucket, in memory.
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

    fn encode(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        let entries = self.entries.iter().flat_map(|(key, value)| [*key, *value]);
        let words = [self.next, self.entries.len() as u64].into_iter().chain(entries);
        for (word, into) in words.zip(bytes.chunks_exact_mut(8)) {
            into.copy_from_slice(&word.to_le_bytes());
        }
    }
}

impl Table {
    /// Makes a table in a file, over what was there. The file should be new: the store's id tells its blocks from older
    /// ones only if it wasn't used in this file before.
    fn create(path: &Path, policy: PolicyKind) -> Result<Self, Box<dyn Error>> {
        let promises = policy.promises();
        if !(promises.atomic_batch && promises.checks_pages) {
            return Err(format!("{policy} can leave half a change behind; take another policy").into());
        }
        let options = CreateOptions::new(policy, PAGE_BYTES, PAGES);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        // With its blocks, so that the disk can't turn out to be full in the middle of a change.
        fallocate(&file, FallocateFlags::empty(), 0, options.device_bytes()?)?;
        let store = BlockingStore::create(device(file)?, options, OpenOptions::default())?;
        let table = Self { store };
        // A page that was never written may hold anything, so all are written that are read before they are filled.
        for page in 1..=BUCKETS {
            let mut batch = Batch::new();
            table.put(&mut batch, page, &Bucket::default())?;
            table.store.write(batch)?;
        }
        let mut batch = Batch::new();
        table.put(&mut batch, COUNTER.0, &Bucket { next: 1 + BUCKETS, entries: Vec::new() })?;
        table.store.commit(batch)?;
        Ok(table)
    }

    /// Opens a table, whatever became of the program that used it last.
    fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = File::options().read(true).write(true).open(path)?;
        Ok(Self { store: BlockingStore::open(device(file)?, OpenOptions::default())? })
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

    /// Sets several keys: all of them or none, and durable when this returns.
    fn set(&self, changes: &[(u64, u64)]) -> Result<(), Box<dyn Error>> {
        // The pages as they will be; read once, changed in memory, written together.
        let mut pages = std::collections::BTreeMap::new();
        for (key, value) in changes {
            self.set_one(&mut pages, *key, *value)?;
        }
        let mut batch = Batch::new();
        for (page, bucket) in &pages {
            self.put(&mut batch, *page, bucket)?;
        }
        Ok(self.store.commit(batch)?)
    }

    fn set_one(
        &self,
        pages: &mut std::collections::BTreeMap<u64, Bucket>,
        key: u64,
        value: u64,
    ) -> Result<(), Box<dyn Error>> {
        let mut page = bucket_of(key);
        loop {
            let mut bucket = self.bucket_in(pages, page)?;
            if let Some(entry) = bucket.entries.iter_mut().find(|(other, _)| *other == key) {
                entry.1 = value;
            } else if bucket.next != 0 {
                page = bucket.next;
                continue;
            } else if bucket.entries.len() < ENTRIES_MAX {
                bucket.entries.push((key, value));
            } else {
                let mut counter = self.bucket_in(pages, COUNTER.0)?;
                if counter.next >= self.store.pages() {
                    return Err(format!("the table is full: {} pages are in use", counter.next).into());
                }
                bucket.next = counter.next;
                counter.next += 1;
                pages.insert(bucket.next, Bucket { next: 0, entries: vec![(key, value)] });
                pages.insert(COUNTER.0, counter);
            }
            pages.insert(page, bucket);
            return Ok(());
        }
    }

    fn bucket_in(
        &self,
        pages: &std::collections::BTreeMap<u64, Bucket>,
        page: u64,
    ) -> Result<Bucket, PageError> {
        pages.get(&page).map_or_else(|| self.bucket(page), |bucket| Ok(bucket.clone()))
    }

    fn bucket(&self, page: u64) -> Result<Bucket, PageError> {
        let contents: Buffer = self.store.read(PageNumber(page))?;
        Ok(Bucket::decode(&contents))
    }

    fn put(&self, batch: &mut Batch, page: u64, bucket: &Bucket) -> Result<(), PageError> {
        let mut buffer = self.store.buffer()?;
        bucket.encode(&mut buffer);
        batch.put(PageNumber(page), buffer.freeze());
        Ok(())
    }
}

/// Keys are spread by a multiplication (Knuth, volume 3, §6.4).
fn bucket_of(key: u64) -> u64 {
    1 + (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % BUCKETS
}

fn device(file: File) -> Result<Arc<DeviceFile>, Box<dyn Error>> {
    Ok(Arc::new(DeviceFile::new(file, FileOptions::default())?))
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: key_value FILE")?;
    let table = Table::create(Path::new(&path), PolicyKind::OutOfPlace)?;
    for key in 0..1000 {
        table.set(&[(key, key * key), (key + 1_000_000, key)])?;
    }
    drop(table);
    let table = Table::open(Path::new(&path))?;
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
            let made = Table::create(&path, policy);
            if !policy.promises().atomic_batch {
                assert!(made.is_err());
                continue;
            }
            let table = made.unwrap();
            // More than the buckets' first pages hold.
            for first in (0..20_000_u64).step_by(1000) {
                let changes: Vec<_> = (first..first + 1000).map(|key| (key, key + 1)).collect();
                for part in changes.chunks(25) {
                    table.set(part).unwrap();
                }
            }
            table.set(&[(7, 70), (1 << 40, 3)]).unwrap();
            drop(table);
            let table = Table::open(&path).unwrap();
            assert_eq!(table.get(7).unwrap(), Some(70), "{policy}");
            assert_eq!(table.get(1 << 40).unwrap(), Some(3), "{policy}");
            assert!((8..20_000).all(|key| table.get(key).unwrap() == Some(key + 1)), "{policy}");
            assert_eq!(table.get(20_001).unwrap(), None);
        }
    }
}
