//! A file system model for power cuts. File contents are durable once the file is synced, names
//! once their directory is. At a power cut each unsynced piece of a file survives, is lost (as
//! zeros, or by truncation) or is torn. Each unsynced change of a directory happens or not. A seed
//! decides.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use nandle_columns::{Files, Held, ReadAt, Sharing, WriteFile};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Debug, Clone, Default)]
pub(crate) struct ModelFiles(Arc<Mutex<State>>);

#[derive(Debug, Clone, Default)]
struct State {
    inodes: Vec<Inode>,
    /// Names visible before a power cut.
    names: BTreeMap<String, usize>,
    /// Durable names, and changes since; each change survives a power cut or not.
    durable_names: BTreeMap<String, usize>,
    changes: Vec<Change>,
    operations: u64,
    /// Operation before which the power is cut.
    cut_at: Option<u64>,
    /// Operation from which the disk is full.
    full_at: Option<u64>,
    locks: BTreeMap<usize, (u32, bool)>,
}

#[derive(Debug, Clone, Default)]
struct Inode {
    bytes: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Change {
    folder: String,
    removed: Option<String>,
    added: Option<(String, usize)>,
}

fn folder(path: &str) -> String {
    path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned())
}

impl State {
    fn step(&mut self) -> Result<()> {
        if self.cut_at == Some(self.operations) {
            return Err(Error::other("the power was cut"));
        }
        self.operations += 1;
        Ok(())
    }

    /// Counts an operation that needs space.
    fn grow(&mut self) -> Result<()> {
        let is_full = self.full_at.is_some_and(|full_at| full_at <= self.operations);
        self.step()?;
        if is_full { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn inode(&self, path: &str) -> Result<usize> {
        self.names.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl ModelFiles {
    /// Cuts the power before operation `number`, counted from now.
    pub(crate) fn cut_before(&self, number: u64) {
        let mut state = self.0.lock().unwrap();
        state.operations = 0;
        state.cut_at = Some(number);
    }

    /// Makes the disk full from operation `number` on, counted from now; `None` frees space again.
    pub(crate) fn full_from(&self, number: Option<u64>) {
        let mut state = self.0.lock().unwrap();
        state.operations = 0;
        state.cut_at = None;
        state.full_at = number;
    }

    /// Number of operations since the last [`cut_before`](Self::cut_before).
    pub(crate) fn operations(&self) -> u64 {
        self.0.lock().unwrap().operations
    }

    /// Returns an independent, unlocked copy.
    pub(crate) fn fork(&self) -> Self {
        let mut state = self.0.lock().unwrap().clone();
        state.locks.clear();
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns the state after a power cut.
    pub(crate) fn after_power_cut(&self, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let old = self.0.lock().unwrap();
        let mut names = old.durable_names.clone();
        for change in old.changes.iter().filter(|_| random.random_bool(0.5)) {
            if let Some(removed) = &change.removed {
                names.remove(removed);
            }
            names.extend(change.added.clone());
        }
        let survive = |inode: &Inode| {
            let bytes = match random.random_range(0..4) {
                0 => inode.bytes.clone(),
                1 => inode.durable.clone(),
                _ => torn(inode, &mut random),
            };
            Inode { durable: bytes.clone(), bytes }
        };
        let inodes = old.inodes.iter().map(survive).collect();
        let state = State { inodes, durable_names: names.clone(), names, ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }
}

/// Mixes pieces of old and new contents, with a length between both.
fn torn(inode: &Inode, random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let (short, long) =
        (inode.durable.len().min(inode.bytes.len()), inode.durable.len().max(inode.bytes.len()));
    let mut bytes = vec![0; random.random_range(short..=long)];
    for (number, piece) in bytes.chunks_mut(512).enumerate() {
        let from = if random.random_bool(0.5) { &inode.bytes } else { &inode.durable };
        let from = from.get(number * 512..).unwrap_or_default();
        let length = piece.len().min(from.len());
        piece[..length].copy_from_slice(&from[..length]);
    }
    bytes
}

#[derive(Debug)]
struct ModelFile {
    files: ModelFiles,
    inode: usize,
}

impl Write for ModelFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut state = self.files.0.lock().unwrap();
        state.grow()?;
        let inode = self.inode;
        state.inodes[inode].bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl WriteFile for ModelFile {
    fn sync(&mut self) -> Result<()> {
        let mut state = self.files.0.lock().unwrap();
        state.step()?;
        let inode = self.inode;
        let written = state.inodes[inode].bytes.clone();
        state.inodes[inode].durable = written;
        Ok(())
    }
}

impl ReadAt for ModelFile {
    fn length_bytes(&self) -> u64 {
        self.files.0.lock().unwrap().inodes[self.inode].bytes.len() as u64
    }

    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()> {
        let state = self.files.0.lock().unwrap();
        let bytes =
            state.inodes[self.inode].bytes.get(offset_bytes as usize..offset_bytes as usize + into.len());
        into.copy_from_slice(bytes.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

#[derive(Debug)]
struct ModelLock(ModelFile);

impl Held for ModelLock {}

impl Drop for ModelLock {
    fn drop(&mut self) {
        let mut state = self.0.files.0.lock().unwrap();
        let (count, alone) = state.locks.remove(&self.0.inode).unwrap();
        if count > 1 {
            state.locks.insert(self.0.inode, (count - 1, alone));
        }
    }
}

impl Files for ModelFiles {
    fn create(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        let mut state = self.0.lock().unwrap();
        state.grow()?;
        if let Ok(inode) = state.inode(path) {
            state.inodes[inode].bytes.clear();
            return Ok(Box::new(ModelFile { files: self.clone(), inode }));
        }
        let inode = state.inodes.len();
        state.inodes.push(Inode::default());
        state.names.insert(path.to_owned(), inode);
        state.changes.push(Change {
            folder: folder(path),
            removed: None,
            added: Some((path.to_owned(), inode)),
        });
        Ok(Box::new(ModelFile { files: self.clone(), inode }))
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        let inode = self.0.lock().unwrap().inode(path)?;
        Ok(Arc::new(ModelFile { files: self.clone(), inode }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        state.step()?;
        let inode = state.inode(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), inode);
        let added = Some((to.to_owned(), inode));
        state.changes.push(Change { folder: folder(to), removed: Some(from.to_owned()), added });
        Ok(())
    }

    fn remove(&self, path: &str) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        state.step()?;
        state.names.remove(path).ok_or(ErrorKind::NotFound)?;
        state.changes.push(Change { folder: folder(path), removed: Some(path.to_owned()), added: None });
        Ok(())
    }

    fn create_dir(&self, _: &str) -> Result<()> {
        self.0.lock().unwrap().step()
    }

    fn sync_dir(&self, path: &str) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        state.step()?;
        let (synced, rest) =
            std::mem::take(&mut state.changes).into_iter().partition(|change| change.folder == path);
        state.changes = rest;
        for change in synced {
            change.removed.iter().for_each(|name| _ = state.durable_names.remove(name));
            state.durable_names.extend(change.added);
        }
        Ok(())
    }

    fn list(&self, path: &str) -> Result<Vec<String>> {
        let state = self.0.lock().unwrap();
        let inside = state.names.keys().filter(|name| folder(name) == path);
        Ok(inside.map(|name| name.rsplit('/').next().unwrap().to_owned()).collect())
    }

    fn lock(&self, path: &str, sharing: Sharing) -> Result<Option<Box<dyn Held>>> {
        let mut state = self.0.lock().unwrap();
        let inode = state.inode(path)?;
        let alone = sharing == Sharing::Alone;
        let held = state.locks.get(&inode).copied();
        if held.is_some_and(|(_, held_alone)| held_alone || alone) {
            return Ok(None);
        }
        state.locks.insert(inode, (held.map_or(0, |(count, _)| count) + 1, alone));
        Ok(Some(Box::new(ModelLock(ModelFile { files: self.clone(), inode }))))
    }

    fn adopt(&self, _: &Path, _: &str, _: bool) -> Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}
