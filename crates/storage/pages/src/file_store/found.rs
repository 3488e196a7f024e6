//! Examines a file in which a store is to be created.

use std::fs::{File, TryLockError};
use std::io::Error;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::fs::{SeekFrom, seek};

use crate::label::{Copies, LabelSearch};
use crate::{BLOCK_BYTES, PageError};

/// Bytes per read.
const PIECE_BYTES: usize = 1 << 20;
/// Start of each block that a creation writes, except zeros and the ends of ledgers.
const MAGIC_START: &[u8] = b"NANDLEP";
/// Length of a ledger's final checksum. In a new ledger zeros precede it.
const SUM_BYTES: usize = 4;

/// Contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    /// Zeros, or no bytes.
    Nothing,
    /// An incomplete store, without commits.
    HalfMade,
    /// A complete store, possibly damaged.
    Store,
    /// Other data.
    Other,
}

impl Contents {
    /// Reads a file up to the first block that no creation writes.
    pub(super) fn of(file: &File) -> Result<Self, Error> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(Self::Other);
        }
        if labels_in(file, metadata.len()).is_ok() {
            return Ok(Self::Store);
        }
        Self::of_blocks(file, metadata.len())
    }

    fn of_blocks(file: &File, length_bytes: u64) -> Result<Self, Error> {
        let mut piece = vec![0; PIECE_BYTES];
        let (mut found, mut next_bytes) = (Self::Nothing, 0);
        while let Some(offset_bytes) = data_from(file, next_bytes, length_bytes) {
            // A hole may end anywhere.
            let offset_bytes = offset_bytes - offset_bytes % BLOCK_BYTES as u64;
            let got = file.read_at(&mut piece, offset_bytes)?;
            if got == 0 {
                break;
            }
            for block in piece.get(..got).into_iter().flat_map(|piece| piece.chunks(BLOCK_BYTES)) {
                match Self::of_block(block) {
                    Self::Nothing => {}
                    // A ledger's start precedes its end.
                    _ if found == Self::HalfMade && is_end_of_ledger(block) => {}
                    Self::HalfMade => found = Self::HalfMade,
                    other => return Ok(other),
                }
            }
            next_bytes = offset_bytes + got as u64;
        }
        Ok(found)
    }

    fn of_block(block: &[u8]) -> Self {
        if block.iter().all(|byte| *byte == 0) {
            Self::Nothing
        } else if block.starts_with(MAGIC_START) {
            Self::HalfMade
        } else {
            Self::Other
        }
    }

    /// Describes the contents, with a remedy.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Nothing => "it is there and empty; remove it, or use `open_or_create`",
            Self::HalfMade => {
                "it holds a page store that wasn't made to its end; remove it, or use `open_or_create`, which makes it again"
            }
            Self::Store => "it holds a page store; open it, or remove it first",
            Self::Other => "it holds something else than a page store; name another file, or remove it first",
        }
    }
}

/// Labels of the store in a file of this length.
pub(super) fn labels_in(file: &File, length_bytes: u64) -> Result<Copies, PageError> {
    let mut search = LabelSearch::new(length_bytes);
    let mut block = [0; BLOCK_BYTES];
    while let Some(offset_bytes) = search.next_offset() {
        let read = file.read_exact_at(&mut block, offset_bytes);
        let unreadable = |_| PageError::NotAStore { found: "its label can't be read" };
        search.enter(offset_bytes, read.map(|()| &block[..]).map_err(unreadable));
    }
    search.copies()
}

/// Returns true if a block may be the last of a new ledger.
fn is_end_of_ledger(block: &[u8]) -> bool {
    let sum_offset = BLOCK_BYTES - SUM_BYTES;
    block.len() == BLOCK_BYTES && block.iter().take(sum_offset).all(|byte| *byte == 0)
}

/// Offset of the next data, if the file system reports holes.
fn data_from(file: &File, offset_bytes: u64, length_bytes: u64) -> Option<u64> {
    if offset_bytes >= length_bytes {
        return None;
    }
    match seek(file, SeekFrom::Data(offset_bytes)) {
        Ok(data_bytes) => Some(data_bytes.max(offset_bytes)),
        Err(rustix::io::Errno::NXIO) => None,
        Err(_) => Some(offset_bytes),
    }
}

/// Locks a file against other creations and openings, in addition to the store's own lock.
pub(super) fn lock(file: &File) -> Result<(), PageError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => PageError::Locked,
        TryLockError::Error(error) => PageError::Thread { why: format!("locking the file: {error}") },
    })
}

/// Returns true if a path still leads to a file. It may have been replaced before the file was
/// locked.
pub(super) fn is_at(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(own)) = (std::fs::metadata(path), file.metadata()) else { return false };
    (there.dev(), there.ino()) == (own.dev(), own.ino())
}
