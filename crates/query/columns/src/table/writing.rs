use std::io::ErrorKind;
use std::sync::Arc;

use crate::directory::{
    CURRENT, FileEntry, LOCK, Manifest, PARTIAL, PROFILE, ProfileIdentity, commit, current_manifest, reclaim,
    replace,
};
use crate::{ColumnsError, Files, Held, Sharing, TableProfile};

/// Result of a commit.
#[derive(Debug)]
pub struct Commit {
    /// Previous snapshot.
    pub replaced: Manifest,
    /// New snapshot; the previous one if there were no changes.
    pub made: Manifest,
    /// Error while removing obsolete files; the next writer tries again.
    pub left: Option<ColumnsError>,
}

/// A write transaction: the lock, and the manifest of the next snapshot under construction.
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) files: Arc<dyn Files>,
    pub(super) manifest: Manifest,
    /// Memory limit of a row group while it is written: that of the layout, or less.
    pub(super) row_group_bytes: u64,
    /// Previous snapshot.
    replaced: Manifest,
    /// Files that exist with `.partial`.
    fresh: Vec<String>,
    next_file: u64,
    _lock: Box<dyn Held>,
}

/// Names of a new file, and the identity that its checksums are bound to.
#[derive(Debug, Clone)]
pub(super) struct NewFile {
    pub(super) data: String,
    pub(super) sums: String,
    pub(super) identity: u64,
}

impl Writing {
    pub(super) fn begin(files: &Arc<dyn Files>) -> Result<Self, ColumnsError> {
        let lock = lock(files.as_ref())?;
        let mut manifest = current_manifest(files.as_ref())?;
        reclaim(files.as_ref(), &manifest)?;
        let replaced = manifest.clone();
        manifest.snapshot += 1;
        Ok(Self::new(files, manifest, replaced, lock))
    }

    /// First snapshot of a new table.
    pub(super) fn first(files: &Arc<dyn Files>, manifest: Manifest, lock: Box<dyn Held>) -> Self {
        let replaced = manifest.clone();
        Self::new(files, manifest, replaced, lock)
    }

    fn new(files: &Arc<dyn Files>, manifest: Manifest, replaced: Manifest, lock: Box<dyn Held>) -> Self {
        let (files, row_group_bytes) = (Arc::clone(files), manifest.layout.row_group_bytes);
        Self { files, manifest, row_group_bytes, replaced, fresh: Vec::new(), next_file: 0, _lock: lock }
    }

    /// Names a new file in `data` or `projections`.
    pub(super) fn new_file(&mut self, folder: &str) -> NewFile {
        let (snapshot, number) = (self.manifest.snapshot, self.next_file);
        self.next_file += 1;
        let name = format!("{folder}/{snapshot}-{number}");
        let file = NewFile {
            data: format!("{name}.parquet"),
            sums: format!("{name}.sums"),
            identity: identity(self.manifest.identity(), snapshot, number),
        };
        self.fresh.extend([file.data.clone(), file.sums.clone()]);
        file
    }

    /// Commits the manifest.
    pub(super) fn commit(mut self) -> Result<Commit, ColumnsError> {
        self.commit_in_place()
    }

    /// [`commit`](Self::commit) by reference, for owners with a `Drop`.
    pub(super) fn commit_in_place(&mut self) -> Result<Commit, ColumnsError> {
        let fresh = std::mem::take(&mut self.fresh);
        commit(self.files.as_ref(), &self.manifest, &fresh).inspect_err(|_| self.clear_up(&fresh))?;
        // Obsolete files without readers are removed now, others by the next writer. The rows are
        // durable anyway.
        let left = reclaim(self.files.as_ref(), &self.manifest).err();
        Ok(Commit { replaced: self.replaced.clone(), made: self.manifest.clone(), left })
    }

    /// Result without changes.
    pub(super) fn unchanged(&self) -> Commit {
        Commit { replaced: self.replaced.clone(), made: self.replaced.clone(), left: None }
    }

    /// Removes the files of a failed commit, unless they are visible to readers already: then their
    /// durability is unknown.
    fn clear_up(&self, fresh: &[String]) {
        let files = self.files.as_ref();
        // On failure the next writer tries again.
        match current_manifest(files) {
            Ok(current) if current.snapshot < self.manifest.snapshot => _ = reclaim(files, &current),
            // A table that was never created has no readers.
            Err(_) if is_missing(files, CURRENT) => {
                for path in fresh {
                    let _ = files.remove(&format!("{path}{PARTIAL}"));
                    let _ = files.remove(path);
                }
            }
            Ok(_) | Err(_) => {}
        }
    }

    /// Removes all written files.
    pub(super) fn abandon(&mut self) {
        for path in self.fresh.drain(..) {
            // The next writer tries again.
            let _ = self.files.remove(&format!("{path}{PARTIAL}"));
        }
    }

    /// All files of the table's rows.
    pub(super) fn data_files(&self) -> Vec<FileEntry> {
        self.manifest.runs.iter().flat_map(|run| &run.files).cloned().collect()
    }
}

fn is_missing(files: &dyn Files, path: &str) -> bool {
    files.open(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Unique for each file of a table, and very likely across tables: a bijection (`SplitMix64`'s
/// finaliser, Steele et al., OOPSLA 2014) of a number that is unique within a table.
fn identity(table: u64, snapshot: u64, number: u64) -> u64 {
    let mut mixed = table.wrapping_add((snapshot << 20 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

pub(super) fn lock(files: &dyn Files) -> Result<Box<dyn Held>, ColumnsError> {
    files.lock(LOCK, Sharing::Alone).map_err(ColumnsError::io("locking", LOCK))?.ok_or(ColumnsError::Locked)
}

pub(super) fn write_profile(
    files: &dyn Files,
    profile: &TableProfile,
) -> Result<ProfileIdentity, ColumnsError> {
    replace(files, PROFILE, &profile.json)?;
    Ok(ProfileIdentity {
        device: profile.device.clone(),
        crc32c: format!("{:08x}", nandle_units::checksum(&profile.json)),
    })
}
