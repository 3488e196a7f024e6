// long: one type, with a variant for each thing that can go wrong
use std::path::PathBuf;

use nandle_io::{ArenaError, Cause, IoError, SetupError};
use nandle_units::format_bytes_exact;

use crate::{PageNumber, PolicyKind};

/// Error of a store.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The device refused or failed.
    #[error("{action}: {source}")]
    Device {
        /// Action of the store.
        action: &'static str,
        /// Error of the device.
        source: IoError,
    },
    /// The store has stopped. After a failed write or flush it is unknown which data is durable,
    /// and after other background failures nothing may be written. Every call fails, reads
    /// included, until the store is reopened.
    #[error("the store stopped after a failure ({first}); {}", after(first))]
    Latched {
        /// The first failure.
        first: Box<PageError>,
    },
    /// No memory for a page.
    #[error("memory for a page: {0}; the system has no more to give")]
    Memory(#[from] ArenaError),
    /// The world has no such device.
    #[error("the world has no device {index}")]
    NoDevice {
        /// The device's number.
        index: u32,
    },
    /// The device's logical block doesn't divide the store's block.
    #[error("the device's logical block of {got} bytes doesn't divide the store's {expected}")]
    LogicalBlock {
        /// Logical block of the device.
        got: u64,
        /// Block of the store.
        expected: usize,
    },
    /// The device is too small for the store.
    #[error(
        "the store needs {}, and the device has {}: {mend}",
        format_bytes_exact(*needed_bytes), format_bytes_exact(*capacity_bytes)
    )]
    TooSmall {
        /// Length that the store needs.
        needed_bytes: u64,
        /// Length of the device.
        capacity_bytes: u64,
        /// Remedy.
        mend: &'static str,
    },
    /// Invalid page length.
    #[error(
        "pages of {}: a store takes {} to {}, in powers of two",
        format_bytes_exact(*got), format_bytes_exact(*least as u64), format_bytes_exact(*most as u64)
    )]
    PageSize {
        /// Requested length.
        got: u64,
        /// Minimum.
        least: usize,
        /// Maximum.
        most: usize,
    },
    /// An option is out of range.
    #[error("the option `{option}` is {got}, and a store takes {least} to {most}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        got: u64,
        /// Minimum.
        least: u64,
        /// Maximum.
        most: u64,
    },
    /// Too little memory for a store with such pages.
    #[error(
        "`memory_bytes` {}: a store with such pages needs at least {}",
        format_bytes_exact(*got), format_bytes_exact(*needed)
    )]
    LeastMemory {
        /// Requested memory.
        got: u64,
        /// Minimum: eight pages.
        needed: u64,
    },
    /// The staging area is too small.
    #[error(
        "a buffer of {}: pages of this length need at least {}",
        format_bytes_exact(*got), format_bytes_exact(*least)
    )]
    BufferSize {
        /// Requested length.
        got: u64,
        /// Minimum.
        least: u64,
    },
    /// `pages_max` is less than the initial number of pages.
    #[error(
        "`pages_max` {pages_max}: the store begins with {pages} pages; give as many at least, or leave it out"
    )]
    PagesMax {
        /// Initial number of pages.
        pages: u64,
        /// Requested maximum.
        pages_max: u64,
    },
    /// The store has an earlier format, which is read but never written.
    #[error(
        "the store has format version {got}, and this program writes version {expected} alone: it opens for reading only. \
         `PageStore::open` converts a store in a file; one on a device is copied by `nandle pages salvage DEVICE -o NEW`"
    )]
    EarlierFormat {
        /// Version of the store.
        got: u32,
        /// Current version.
        expected: u32,
    },
    /// A store of an earlier format can't be converted: it is damaged, or its copy can't be
    /// written.
    #[error(
        "converting {}, which has format version {version}: {source}; it is unchanged and opens for reading only, and \
         `nandle pages salvage {} -o NEW` copies what is sound", path.display(), path.display()
    )]
    Conversion {
        /// File of the store.
        path: PathBuf,
        /// Version of its format.
        version: u32,
        /// Underlying error.
        source: Box<PageError>,
    },
    /// There is no space for the copy by which a store of an earlier format is converted.
    #[error(
        "converting {}, which has format version {version}, to the present format takes {} of space beside it{}: free some, or \
         copy the store to another disk by `nandle pages salvage {} -o NEW`; it is unchanged and opens for reading only",
        path.display(), format_bytes_exact(*needed_bytes), free(*free_bytes), path.display()
    )]
    ConversionSpace {
        /// File of the store.
        path: PathBuf,
        /// Version of its format.
        version: u32,
        /// Bytes that the copy needs.
        needed_bytes: u64,
        /// Free bytes, if the file system reports them.
        free_bytes: Option<u64>,
    },
    /// The file of a [`PageStore`](crate::PageStore) holds no store.
    #[error("{} holds no page store ({found}); create one, or name the right file", path.display())]
    NotAStoreFile {
        /// Path of the file.
        path: PathBuf,
        /// Contents found instead.
        found: &'static str,
    },
    /// The device holds no store.
    #[error("the device holds no page store ({found}); create one, or name the right device")]
    NotAStore {
        /// Contents found instead.
        found: &'static str,
    },
    /// All copies of the label are lost, or there never was a store.
    #[error(
        "the device holds no label of a page store ({found}); if all copies of the label are lost, say how the store was made: \
         its policy, page length and number of pages, and the size of its staging area, its `pages_max` and its alignment where \
         they weren't the usual ones"
    )]
    LabelLost {
        /// Contents found instead.
        found: &'static str,
    },
    /// The device already holds a store with the id given for a new one.
    #[error(
        "the device holds a store with the id {id:#x} already, and what it left could be taken for the new one's: give no id, \
         or another"
    )]
    IdInUse {
        /// The id.
        id: u128,
    },
    /// The store has an unsupported version.
    #[error("the store has format version {got}, and this program reads versions 1 to {expected}")]
    Version {
        /// Version of the store.
        got: u32,
        /// Newest supported version.
        expected: u32,
    },
    /// The store has another policy than expected, or an unknown one.
    #[error(
        "the store was made with the policy {got}, and {expected} was expected: it can't be changed afterwards"
    )]
    Policy {
        /// Policy of the store.
        got: String,
        /// Expected policy.
        expected: String,
    },
    /// A page beyond the end of the store.
    #[error("page {} is beyond the end of the store, which has {pages} pages", page.0)]
    BeyondEnd {
        /// Number of the page.
        page: PageNumber,
        /// Number of pages in the store.
        pages: u64,
    },
    /// Contents of the wrong length.
    #[error("{page}: {got} bytes were given, and a page of this store has {expected}")]
    PageLength {
        /// Number of the page.
        page: PageNumber,
        /// Length of the contents.
        got: usize,
        /// Length of a page.
        expected: usize,
    },
    /// The store was created by a version without headers.
    #[error("the store has no header, since an earlier version made it; copy its pages to a new store")]
    NoHeader,
    /// The batch is too large to be atomic. The maximum depends on the staging area
    /// ([`buffer_bytes`](crate::CreateOptions::buffer_bytes)), under `out-of-place` on zones, and
    /// in a [`PageStore`](crate::PageStore) on memory.
    #[error("a batch of {changes} changes: this store takes at most {most} as a whole; split it, or {mend}")]
    BatchTooLarge {
        /// Changes in the batch.
        changes: usize,
        /// Maximum number of changes.
        most: usize,
        /// Option that raises the maximum.
        mend: &'static str,
    },
    /// A page's contents aren't those of its last write.
    #[error(
        "{page} read from {place} is damaged, stale, or another page: checksum {got:#010x}, expected {expected:#010x}; \
         restore it from a copy and write it again"
    )]
    Damaged {
        /// Number of the page.
        page: PageNumber,
        /// Place of the read.
        place: &'static str,
        /// Checksum of the contents read.
        got: u32,
        /// Checksum of the last write.
        expected: u32,
    },
    /// A structure of the store is damaged, so that acknowledged pages are lost.
    #[error(
        "the store is damaged: {what} (at byte {offset_bytes} of the device); restore it from a copy, or save what is sound: \
         `nandle pages salvage STORE -o NEW`"
    )]
    Corrupt {
        /// Description of the damage.
        what: &'static str,
        /// Offset on the device.
        offset_bytes: u64,
    },
    /// Durable extents of an out-of-place store are missing, or replaced by older ones.
    #[error(
        "the store is damaged: {what}; its ledger tells of {expected} extents since the map was saved, and {found} of those in \
         the zones (from byte {zones_offset_bytes} of the device on) can be what it means; restore the store from a copy, or save \
         what is sound: `nandle pages salvage STORE -o NEW`"
    )]
    ExtentsLost {
        /// Description of the damage.
        what: &'static str,
        /// Offset of the zones.
        zones_offset_bytes: u64,
        /// Number of extents found that hold the newest version of a page.
        found: u64,
        /// Expected number.
        expected: u64,
    },
    /// Checksums of home pages are damaged, so that these pages can't be checked.
    #[error(
        "the checksums of home pages are damaged (at byte {offset_bytes} of the device), from {first} on at least: restore the \
         store from a copy, or open it with `forget_lost_sums` to read what is there unchecked"
    )]
    SumsLost {
        /// First page whose checksum is lost.
        first: PageNumber,
        /// Offset of the checksums.
        offset_bytes: u64,
    },
    /// An out-of-place store has too few zones for its pages, as created by earlier versions.
    #[error(
        "{free} of {zones} zones are free, and none of the others gets shorter by being cleaned: what was acknowledged is safe \
         and can be read; open the store read-only and copy its pages to a new one, which gets more zones"
    )]
    NoRoom {
        /// Number of free zones.
        free: usize,
        /// Total number of zones.
        zones: usize,
    },
    /// The store detected an inconsistent state.
    #[error(
        "the store contradicts itself ({what}), so it stopped before it could do harm: what was acknowledged is safe; open \
         the store again, and report this"
    )]
    Inconsistent {
        /// Description of the inconsistency.
        what: &'static str,
    },
    /// The store is open elsewhere. Reported after the opening has waited a second, because a
    /// killed process releases its files with a delay.
    #[error(
        "the store is open already, here or in another process, and still was after a second; close it there first"
    )]
    Locked,
    /// The store can't have this number of pages.
    #[error("growing the store, made with the policy {policy}, to {to} pages: {why}")]
    CannotGrow {
        /// Policy of the store.
        policy: PolicyKind,
        /// Requested number of pages.
        to: u64,
        /// Reason and remedy.
        why: &'static str,
    },
    /// The file of a [`PageStore`](crate::PageStore) can't be created, opened or extended.
    #[error("{action} {}: {why}", path.display())]
    File {
        /// Action of the store.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Kind of the system's error.
        kind: std::io::ErrorKind,
        /// System's message, and remedy.
        why: String,
    },
    /// The thread of a blocking store couldn't start, or has ended.
    #[error("the store's thread: {why}")]
    Thread {
        /// Reason.
        why: String,
    },
    /// The thread of a blocking store couldn't set up its I/O.
    #[error("a world for the store's I/O: {source}")]
    World {
        /// Reason.
        source: SetupError,
    },
    /// The store was opened read-only.
    #[error("the store was opened for reading only")]
    ReadOnly,
}

/// Describes the free space.
fn free(free_bytes: Option<u64>) -> String {
    free_bytes.map_or_else(String::new, |bytes| format!(", and {} are free", format_bytes_exact(bytes)))
}

/// Advice after a stop, unless the first failure contains its own.
fn after(first: &PageError) -> &'static str {
    if matches!(first, PageError::Device { .. }) {
        "what was acknowledged before is safe: open the store again, which recovers it"
    } else if matches!(first, PageError::Memory(_)) {
        "what was acknowledged before is safe: open the store again, with more memory"
    } else {
        "opening it again doesn't mend that"
    }
}

impl PageError {
    /// Unwraps the first failure during an opening or a creation, where no call can have been
    /// refused.
    pub(crate) fn of_opening(self) -> Self {
        match self {
            Self::Latched { first } => *first,
            error => error,
        }
    }

    /// Returns true for a read error of the medium. Other blocks may be readable.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self, Self::Device { source, .. } if matches!(source.cause, Cause::System(_)))
    }

    /// Returns true if contents are unreadable or damaged.
    pub(crate) fn is_lost_page(&self) -> bool {
        self.is_unreadable() || matches!(self, Self::Damaged { .. })
    }

    /// Converts an error of the device.
    pub(crate) fn device(action: &'static str) -> impl Fn(IoError) -> Self {
        move |source| Self::Device { action, source }
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::Operation;

    use super::*;

    fn stopped_after(first: PageError) -> PageError {
        PageError::Latched { first: Box::new(first) }
    }

    #[test]
    fn a_store_that_stopped_says_what_helps() {
        let flush = PageError::device("flushing")(IoError::new(&Operation::Flush, Cause::System(5)));
        let told = stopped_after(flush.clone()).to_string();
        assert!(
            told.contains("flushing") && told.contains("open the store again, which recovers it"),
            "{told}"
        );
        let no_room = PageError::NoRoom { free: 1, zones: 9 };
        let told = stopped_after(no_room.clone()).to_string();
        assert!(told.contains("copy its pages to a new one"), "{told}");
        assert!(
            told.contains("opening it again doesn't mend that") && !told.contains("recovers it"),
            "{told}"
        );
        assert_eq!(stopped_after(no_room.clone()).of_opening(), no_room);
        assert_eq!(flush.clone().of_opening(), flush);
    }
}
