// long: one type, with a variant for each thing that can go wrong
use std::path::PathBuf;

use nandle_io::{ArenaError, Cause, IoError, SetupError};
use nandle_units::format_bytes_exact;

use crate::{PageNumber, PolicyKind};

/// A store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The device refused or failed.
    #[error("{action}: {source}")]
    Device {
        /// What the store was doing.
        action: &'static str,
        /// What the device said.
        source: IoError,
    },
    /// The store has stopped: after a write or a flush failed what is durable is unknown, and after anything else that goes
    /// wrong in the background nothing may be written any more. No call succeeds, no read either, until it is opened again.
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
    /// The device's logical block doesn't divide ours.
    #[error("the device's logical block of {got} bytes doesn't divide the store's {expected}")]
    LogicalBlock {
        /// The device's.
        got: u64,
        /// Ours.
        expected: usize,
    },
    /// The device is too small for the store.
    #[error(
        "the store needs {}, and the device has {}: {mend}",
        format_bytes_exact(*needed_bytes), format_bytes_exact(*capacity_bytes)
    )]
    TooSmall {
        /// What the store needs.
        needed_bytes: u64,
        /// What the device has.
        capacity_bytes: u64,
        /// What can be done.
        mend: &'static str,
    },
    /// Pages can't have this length.
    #[error(
        "pages of {}: a store takes {} to {}, in powers of two",
        format_bytes_exact(*got), format_bytes_exact(*least as u64), format_bytes_exact(*most as u64)
    )]
    PageSize {
        /// What was asked for.
        got: u64,
        /// The smallest.
        least: usize,
        /// The largest.
        most: usize,
    },
    /// An option is beyond those of any store.
    #[error("the option `{option}` is {got}, and a store takes {least} to {most}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What it was.
        got: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// There is too little memory for a store with such pages.
    #[error(
        "`memory_bytes` {}: a store with such pages needs at least {}",
        format_bytes_exact(*got), format_bytes_exact(*needed)
    )]
    LeastMemory {
        /// What it was to have.
        got: u64,
        /// Eight pages.
        needed: u64,
    },
    /// The buffer is too small.
    #[error(
        "a buffer of {}: pages of this length need at least {}",
        format_bytes_exact(*got), format_bytes_exact(*least)
    )]
    BufferSize {
        /// What was asked for.
        got: u64,
        /// The smallest.
        least: u64,
    },
    /// A store shall never have as many pages as it begins with.
    #[error(
        "`pages_max` {pages_max}: the store begins with {pages} pages; give as many at least, or leave it out"
    )]
    PagesMax {
        /// How many pages it begins with.
        pages: u64,
        /// How many it was to have at most.
        pages_max: u64,
    },
    /// The store is of an earlier format, which is read and not written.
    #[error(
        "the store has format version {got}, and this program writes version {expected} alone: it opens for reading only. \
         `PageStore::open` converts a store in a file; one on a device is copied by `nandle pages salvage DEVICE -o NEW`"
    )]
    EarlierFormat {
        /// The store's.
        got: u32,
        /// The present one.
        expected: u32,
    },
    /// A store of an earlier format can't be converted: it is damaged, or its copy can't be written.
    #[error(
        "converting {}, which has format version {version}: {source}; it is unchanged and opens for reading only, and \
         `nandle pages salvage {} -o NEW` copies what is sound", path.display(), path.display()
    )]
    Conversion {
        /// The store's file.
        path: PathBuf,
        /// Its format.
        version: u32,
        /// What failed.
        source: Box<PageError>,
    },
    /// A store of an earlier format is converted by a copy beside it, for which there is no space.
    #[error(
        "converting {}, which has format version {version}, to the present format takes {} of space beside it{}: free some, or \
         copy the store to another disk by `nandle pages salvage {} -o NEW`; it is unchanged and opens for reading only",
        path.display(), format_bytes_exact(*needed_bytes), free(*free_bytes), path.display()
    )]
    ConversionSpace {
        /// The store's file.
        path: PathBuf,
        /// Its format.
        version: u32,
        /// Bytes that the copy takes.
        needed_bytes: u64,
        /// Bytes that were free, if the file system says so.
        free_bytes: Option<u64>,
    },
    /// There is no store in the file of a [`PageStore`](crate::PageStore).
    #[error("{} holds no page store ({found}); create one, or name the right file", path.display())]
    NotAStoreFile {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        found: &'static str,
    },
    /// There is no store on the device.
    #[error("the device holds no page store ({found}); create one, or name the right device")]
    NotAStore {
        /// What was found instead.
        found: &'static str,
    },
    /// All copies of the label are lost, or there never was a store.
    #[error(
        "the device holds no label of a page store ({found}); if all copies of the label are lost, say how the store was made: \
         its policy, page length and number of pages, and the size of its staging area, its `pages_max` and its alignment where \
         they weren't the usual ones"
    )]
    LabelLost {
        /// What was found instead.
        found: &'static str,
    },
    /// A new store was given the id of one that the device holds already.
    #[error(
        "the device holds a store with the id {id:#x} already, and what it left could be taken for the new one's: give no id, \
         or another"
    )]
    IdInUse {
        /// The id.
        id: u128,
    },
    /// The store is of another version.
    #[error("the store has format version {got}, and this program reads versions 1 to {expected}")]
    Version {
        /// The store's.
        got: u32,
        /// The newest that this program reads.
        expected: u32,
    },
    /// The store has another policy than the caller expected, or one that this version doesn't know.
    #[error(
        "the store was made with the policy {got}, and {expected} was expected: it can't be changed afterwards"
    )]
    Policy {
        /// The store's.
        got: String,
        /// What was expected.
        expected: String,
    },
    /// A page behind the end of the store.
    #[error("page {} is beyond the end of the store, which has {pages} pages", page.0)]
    BeyondEnd {
        /// The page.
        page: PageNumber,
        /// How many pages there are.
        pages: u64,
    },
    /// Contents of the wrong length.
    #[error("{page}: {got} bytes were given, and a page of this store has {expected}")]
    PageLength {
        /// The page.
        page: PageNumber,
        /// Length of the contents.
        got: usize,
        /// Length of a page.
        expected: usize,
    },
    /// The store was made by a version whose stores have no header.
    #[error("the store has no header, since an earlier version made it; copy its pages to a new store")]
    NoHeader,
    /// A batch that the policy can't make durable as a whole. The most is bounded by the staging area
    /// ([`buffer_bytes`](crate::CreateOptions::buffer_bytes)), under `out-of-place` by zones, and in a
    /// [`PageStore`](crate::PageStore) by memory.
    #[error("a batch of {changes} changes: this store takes at most {most} as a whole; split it, or {mend}")]
    BatchTooLarge {
        /// Changes in the batch.
        changes: usize,
        /// The most there may be.
        most: usize,
        /// The option that raises it.
        mend: &'static str,
    },
    /// What was read is not what was written.
    #[error(
        "{page} read from {place} is damaged, stale, or another page: checksum {got:#010x}, expected {expected:#010x}; \
         restore it from a copy and write it again"
    )]
    Damaged {
        /// The page.
        page: PageNumber,
        /// Where it was read from.
        place: &'static str,
        /// The checksum of what was read.
        got: u32,
        /// The checksum of what was written.
        expected: u32,
    },
    /// A structure of the store's own is damaged, so that acknowledged pages are lost.
    #[error(
        "the store is damaged: {what} (at byte {offset_bytes} of the device); restore it from a copy, or save what is sound: \
         `nandle pages salvage STORE -o NEW`"
    )]
    Corrupt {
        /// What is wrong.
        what: &'static str,
        /// Where.
        offset_bytes: u64,
    },
    /// Extents of an out-of-place store that were durable aren't there, or are older ones again.
    #[error(
        "the store is damaged: {what}; its ledger tells of {expected} extents since the map was saved, and {found} of those in \
         the zones (from byte {zones_offset_bytes} of the device on) can be what it means; restore the store from a copy, or save \
         what is sound: `nandle pages salvage STORE -o NEW`"
    )]
    ExtentsLost {
        /// What is wrong.
        what: &'static str,
        /// Where the zones begin.
        zones_offset_bytes: u64,
        /// Extents that hold the newest version of a page, as they were found.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// Checksums of home pages are damaged, so that these pages can't be checked any more.
    #[error(
        "the checksums of home pages are damaged (at byte {offset_bytes} of the device), from {first} on at least: restore the \
         store from a copy, or open it with `forget_lost_sums` to read what is there unchecked"
    )]
    SumsLost {
        /// The first page whose checksum is lost.
        first: PageNumber,
        /// Where the checksums are.
        offset_bytes: u64,
    },
    /// An out-of-place store was made with too few zones for its pages, as earlier versions did.
    #[error(
        "{free} of {zones} zones are free, and none of the others gets shorter by being cleaned: what was acknowledged is safe \
         and can be read; open the store read-only and copy its pages to a new one, which gets more zones"
    )]
    NoRoom {
        /// Zones that are free.
        free: usize,
        /// All of them.
        zones: usize,
    },
    /// The store came into a state that can't be.
    #[error(
        "the store contradicts itself ({what}), so it stopped before it could do harm: what was acknowledged is safe; open \
         the store again, and report this"
    )]
    Inconsistent {
        /// What is contradictory.
        what: &'static str,
    },
    /// The store is open elsewhere, and was for the second that an opening waits: a process that was killed gives its
    /// files up a little later.
    #[error(
        "the store is open already, here or in another process, and still was after a second; close it there first"
    )]
    Locked,
    /// The store can't have so many pages.
    #[error("growing the store, made with the policy {policy}, to {to} pages: {why}")]
    CannotGrow {
        /// The store's policy.
        policy: PolicyKind,
        /// How many pages it was to have.
        to: u64,
        /// Why it can't, and what can be done.
        why: &'static str,
    },
    /// The file of a [`PageStore`](crate::PageStore) can't be made, opened or grown.
    #[error("{action} {}: {why}", path.display())]
    File {
        /// What the store was doing.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What kind of failure it was.
        kind: std::io::ErrorKind,
        /// What the system said, and what can be done.
        why: String,
    },
    /// The thread of a blocking store doesn't run.
    #[error("the store's thread: {why}")]
    Thread {
        /// Why not.
        why: String,
    },
    /// The thread of a blocking store got no world to do its I/O in.
    #[error("a world for the store's I/O: {source}")]
    World {
        /// Why not.
        source: SetupError,
    },
    /// The store was opened for reading.
    #[error("the store was opened for reading only")]
    ReadOnly,
}

/// How much space there is.
fn free(free_bytes: Option<u64>) -> String {
    free_bytes.map_or_else(String::new, |bytes| format!(", and {} are free", format_bytes_exact(bytes)))
}

/// What is left to do once a store has stopped. What opening it again can't mend says itself what can.
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
    /// The error of an opening, or of making a store: no call has come yet, so what the store stopped after is the reason.
    pub(crate) fn of_opening(self) -> Self {
        match self {
            Self::Latched { first } => *first,
            error => error,
        }
    }

    /// Whether a read failed in the medium, so that other blocks may be readable.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self, Self::Device { source, .. } if matches!(source.cause, Cause::System(_)))
    }

    /// Whether contents can't be had: the device doesn't read them, or what it reads isn't what was written.
    pub(crate) fn is_lost_page(&self) -> bool {
        self.is_unreadable() || matches!(self, Self::Damaged { .. })
    }

    /// The error of a device's answer.
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
