//! Parts of a file without blocks on the device: sparse, or reserved and never written.

use std::fs::File;
use std::ops::Range;

use rustix::fs::{SeekFrom, seek};

/// First hole within the first `size_bytes`; `None` if there is none, or if the file system can't
/// tell.
pub(super) fn first(file: &File, size_bytes: u64) -> Option<Range<u64>> {
    let start = seek(file, SeekFrom::Hole(0)).ok().filter(|start| *start < size_bytes)?;
    // Without data after it, the hole extends to the end.
    let end = seek(file, SeekFrom::Data(start)).unwrap_or(size_bytes).min(size_bytes);
    Some(start..end)
}
