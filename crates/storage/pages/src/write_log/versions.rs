use nandle_io::Buffer;

use crate::extents::Link;
use crate::{PageError, PageNumber};

/// Where the newest version of each page is that was sent, which each log keeps in its own way; the log changes it when
/// extents are written.
pub(crate) trait Versions: 'static {
    /// How an extent is described on the device.
    type Header: ExtentHeader + 'static;
    /// Where a page lies.
    type Place;
    /// What errors call the place.
    const PLACE: &'static str;
    /// Whether others leave their flushes to commits, so that a commit that can do without one flushes all the same.
    const COMMITS_FLUSH_FOR_OTHERS: bool;

    /// The newest version that was sent; all extents up to `written` are on the device.
    fn find(&self, page: PageNumber, from: From, written: u64) -> Found<Self::Place>;

    /// An extent is on the device.
    fn written(&mut self, header: &Self::Header);

    /// What is read isn't what was written.
    fn damage(page: PageNumber, got: u32, expected: u32) -> PageError {
        PageError::Damaged { page, place: Self::PLACE, got, expected }
    }
}

/// The header block of an extent.
pub(crate) trait ExtentHeader: Link {
    /// Encodes it, and keeps the checksum of the block.
    fn encode(&mut self, id: u128, block: &mut [u8]);
}

/// Where a page is looked for that is in more than one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Memory,
    Device,
}

/// Where the newest version of a page is.
#[derive(Debug)]
pub(crate) enum Found<P> {
    InMemory(Buffer),
    Stored(Stored<P>),
    /// The log has none.
    Absent,
}

/// A version on the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<P> {
    /// That of its extent: another version of the page has another.
    pub(crate) sequence: u64,
    pub(crate) place: P,
    pub(crate) sum: u32,
}
