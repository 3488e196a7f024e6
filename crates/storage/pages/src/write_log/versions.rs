use nandle_io::Buffer;

use crate::extents::Link;
use crate::{PageError, PageNumber};

/// Places of the newest sent version of each page. Each log stores them in its own way, and updates
/// them when extents are written.
pub(crate) trait Versions: 'static {
    /// Header of an extent on the device.
    type Header: ExtentHeader + 'static;
    /// Place of a page.
    type Place;
    /// Name of the place in errors.
    const PLACE: &'static str;
    /// True if other operations rely on the flushes of commits, so that even a commit that needs no
    /// flush performs one.
    const COMMITS_FLUSH_FOR_OTHERS: bool;

    /// Newest sent version. All extents up to `written` are on the device.
    fn find(&self, page: PageNumber, from: From, written: u64) -> Found<Self::Place>;

    /// Records that an extent is on the device.
    fn written(&mut self, header: &Self::Header);

    /// Error for contents other than those written.
    fn damage(page: PageNumber, got: u32, expected: u32) -> PageError {
        PageError::Damaged { page, place: Self::PLACE, got, expected }
    }
}

/// Header block of an extent.
pub(crate) trait ExtentHeader: Link {
    /// Encodes the header, and stores the block's checksum in it.
    fn encode(&mut self, id: u128, block: &mut [u8]);
}

/// Preferred source of a page that is in more than one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Memory,
    Device,
}

/// Place of a page's newest version.
#[derive(Debug)]
pub(crate) enum Found<P> {
    InMemory(Buffer),
    Stored(Stored<P>),
    /// No version in the log.
    Absent,
}

/// A version on the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<P> {
    /// Sequence of its extent, unique among the page's versions.
    pub(crate) sequence: u64,
    pub(crate) place: P,
    pub(crate) sum: u32,
}
