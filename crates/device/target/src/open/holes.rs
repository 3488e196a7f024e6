//! Parts of a file that have no blocks on the device: sparse, or reserved and never written.

use std::fs::File;
use std::ops::Range;

use rustix::fs::{SeekFrom, seek};

/// The first part of the first `size_bytes` that reads from nowhere; `None` where there is none, or where the file
/// system can't tell.
pub(super) fn first(file: &File, size_bytes: u64) -> Option<Range<u64>> {
    let start = seek(file, SeekFrom::Hole(0)).ok().filter(|start| *start < size_bytes)?;
    // No data behind the hole: it reaches to the end.
    let end = seek(file, SeekFrom::Data(start)).unwrap_or(size_bytes).min(size_bytes);
    Some(start..end)
}
