//! Kept test file: a file that nandle created under a user's name, so it may write to it again.
//!
//! # Format, version 1
//!
//! The last 4096 bytes of the file are its mark. Everything before is the test area.
//!
//! | offset | bytes | what                                                          |
//! |-------:|------:|---------------------------------------------------------------|
//! |      0 |    16 | magic, `nandle test file` in ASCII                            |
//! |     16 |     4 | version, 1                                                    |
//! |     20 |     4 | state: 0 the area is being filled, 1 it was filled and synced |
//! |     24 |     8 | size of the file in bytes, mark included                      |
//! |     32 |  4060 | zero                                                          |
//! |   4092 |     4 | CRC32C of the 4092 bytes before it                            |
//!
//! Numbers are little-endian. The mark is valid if magic, version, state and checksum are correct,
//! and the size equals the file's and is a multiple of 4096. So a truncated or extended file isn't
//! valid. A file without a valid mark is foreign and never written without consent.
//!
//! Order: the mark is written with state 0 and synced before the area is written for the first
//! time. It is written with state 1 after the area was synced. If the state is 0 on opening, the
//! area is filled again. The mark is at the end so that the area starts at offset 0, which has any
//! alignment.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::Problem;

/// Size of the mark; the file's size is a multiple of it.
pub(super) const MARK_BYTES: u64 = MARK_LENGTH as u64;

const MARK_LENGTH: usize = 4096;

const MAGIC: &[u8; 16] = b"nandle test file";
const VERSION: u32 = 1;
const PAYLOAD_LENGTH: usize = MARK_LENGTH - size_of::<u32>();

/// File that nandle created and keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptFile {
    path: PathBuf,
    size_bytes: u64,
    /// Device and inode, so that another file of the same name isn't marked.
    identity: (u64, u64),
    filled: bool,
}

impl KeptFile {
    /// Recognises the kept test file at `path`; `None` if the file is foreign.
    pub(super) fn recognise(path: &Path, file: &File) -> Result<Option<Self>, Problem> {
        let kept = Self::of(path, file)?;
        let Some(at) = kept.mark_at() else { return Ok(None) };
        let mut mark = [0; MARK_LENGTH];
        file.read_exact_at(&mut mark, at).map_err(Problem::system("reading its last block"))?;
        Ok(decode(&mark, kept.size_bytes).map(|filled| Self { filled, ..kept }))
    }

    /// Marks a file of final size as nandle's own, not yet filled.
    pub(super) fn mark(path: &Path, file: &File) -> Result<Self, Problem> {
        let kept = Self::of(path, file)?;
        kept.write(file, false)?;
        Ok(kept)
    }

    pub(super) fn is_filled(&self) -> bool {
        self.filled
    }

    /// Size of the test area before the mark.
    pub(super) fn area_bytes(&self) -> u64 {
        self.size_bytes - MARK_BYTES.min(self.size_bytes)
    }

    /// Marks the file as filled and synced.
    pub(crate) fn mark_filled(&self) -> Result<(), Problem> {
        let action = "opening it to mark it as filled";
        let file = fs::OpenOptions::new().read(true).write(true).open(&self.path);
        let file = file.map_err(Problem::system(action))?;
        if Self::of(&self.path, &file)?.identity != self.identity {
            return Err(Problem::System { action, errno: rustix::io::Errno::STALE });
        }
        self.write(&file, true)
    }

    fn of(path: &Path, file: &File) -> Result<Self, Problem> {
        let metadata = file.metadata().map_err(Problem::system("reading its size"))?;
        let identity = (metadata.dev(), metadata.ino());
        Ok(Self { path: path.into(), size_bytes: metadata.len(), identity, filled: false })
    }

    fn mark_at(&self) -> Option<u64> {
        self.size_bytes.checked_sub(MARK_BYTES).filter(|_| self.size_bytes.is_multiple_of(MARK_BYTES))
    }

    fn write(&self, file: &File, filled: bool) -> Result<(), Problem> {
        let at = self.mark_at().ok_or(Problem::TooSmall {
            got_bytes: self.size_bytes,
            needed_bytes: super::SMALLEST_AREA_BYTES + MARK_BYTES,
        })?;
        file.write_all_at(&encode(self.size_bytes, filled), at)
            .map_err(Problem::system("writing its mark"))?;
        file.sync_all().map_err(Problem::system("syncing its mark"))
    }
}

fn encode(size_bytes: u64, filled: bool) -> Vec<u8> {
    let mut mark = Vec::with_capacity(MARK_LENGTH);
    mark.extend_from_slice(MAGIC);
    mark.extend_from_slice(&VERSION.to_le_bytes());
    mark.extend_from_slice(&u32::from(filled).to_le_bytes());
    mark.extend_from_slice(&size_bytes.to_le_bytes());
    mark.resize(PAYLOAD_LENGTH, 0);
    mark.extend_from_slice(&nandle_units::checksum(&mark).to_le_bytes());
    mark
}

/// Returns true if a valid mark has the filled state; `None` if the mark is invalid.
fn decode(mark: &[u8], size_bytes: u64) -> Option<bool> {
    // Only the state of a valid mark varies, so there are just two.
    [false, true].into_iter().find(|filled| encode(size_bytes, *filled) == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 20;

    #[test]
    fn a_mark_reads_back() {
        for filled in [false, true] {
            assert_eq!(decode(&encode(SIZE, filled), SIZE), Some(filled));
        }
    }

    #[test]
    fn the_format_stays_what_it_is() {
        let mark = encode(SIZE, true);
        assert_eq!(mark.len(), 4096);
        assert_eq!(&mark[..32], b"nandle test file\x01\0\0\0\x01\0\0\0\0\0\x10\0\0\0\0\0");
        assert_eq!(mark[4092..], [150, 203, 84, 54]);
    }

    #[test]
    fn any_damage_makes_the_file_foreign() {
        let mark = encode(SIZE, true);
        for at in [0, 16, 20, 24, 32, 4091, 4092, 4095] {
            let mut damaged = mark.clone();
            damaged[at] ^= 0x80;
            assert_eq!(decode(&damaged, SIZE), None, "byte {at}");
        }
        assert_eq!(decode(&mark, SIZE + MARK_BYTES), None);
    }
}
