use std::fmt;

use super::PageSet;
use crate::label::Label;

/// A defect in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Affected structure.
    pub structure: Structure,
    /// Kind of problem.
    pub problem: Problem,
    /// Consequence.
    pub severity: Severity,
    /// Start in bytes of the device.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u64,
    /// Affected pages, as far as known.
    pub pages: PageSet,
    /// True if the header is affected.
    pub header: bool,
}

/// A part of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Structure {
    /// A copy of the label.
    Label,
    /// A copy of the ledger.
    Ledger,
    /// A copy of the mark of a clean close.
    CloseMark,
    /// A block of the saved map of an out-of-place store.
    SavedMap,
    /// A block of the table of home pages' checksums.
    ChecksumTable,
    /// A block of the log of home pages' checksums.
    ChecksumLog,
    /// A block of the directory of a closed store, with second copies of extent headers.
    Directory,
    /// Header of an extent, in the staging area or in a zone.
    ExtentHeader,
    /// A page in the staging area.
    StagedPage,
    /// A page at its home place.
    HomePage,
    /// A page in a zone.
    ZonePage,
    /// A block without live contents.
    FreeSpace,
}

/// Problem with a part of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// The device can't read it.
    Unreadable,
    /// It holds other contents than those written.
    Damaged,
    /// It was written, but holds zeros.
    Zeroed,
    /// It is older than the version that another structure names.
    Outdated,
    /// Another structure names it, but it doesn't exist.
    Missing,
    /// A batch is incomplete.
    Unfinished,
}

/// Consequence of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// None: a power cut may leave this, or the place is unused. The store is sound.
    Harmless,
    /// Another copy exists, so no page is lost.
    Redundant,
    /// Pages are lost, outdated, or can't be checked.
    Loss,
}

impl Finding {
    /// Translates page numbers to those of callers.
    pub(super) fn named_by(self, label: &Label) -> Self {
        let Some(header) = label.header_page else { return self };
        let mut pages = self.pages;
        let concerns_header = pages.contains(header);
        pages.cut(header);
        Self { pages, header: concerns_header, ..self }
    }
}

impl Structure {
    /// Name, such as `ledger`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Ledger => "ledger",
            Self::CloseMark => "close mark",
            Self::SavedMap => "saved map",
            Self::ChecksumTable => "checksum table",
            Self::ChecksumLog => "checksum log",
            Self::Directory => "directory of extents",
            Self::ExtentHeader => "extent header",
            Self::StagedPage => "staged page",
            Self::HomePage => "home page",
            Self::ZonePage => "zone page",
            Self::FreeSpace => "free space",
        }
    }
}

impl Problem {
    /// Name, such as `unreadable`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Damaged => "damaged",
            Self::Zeroed => "zeroed",
            Self::Outdated => "outdated",
            Self::Missing => "missing",
            Self::Unfinished => "unfinished",
        }
    }
}

impl Severity {
    /// Name, such as `loss`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Harmless => "harmless",
            Self::Redundant => "redundant",
            Self::Loss => "loss",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { structure, problem, offset_bytes, length_bytes, pages, header, .. } = self;
        write!(f, "{} {} at byte {offset_bytes} ({length_bytes} bytes)", structure.name(), problem.name())?;
        let mut separator = ": pages";
        for range in pages.ranges() {
            match range.end - range.start {
                1 => write!(f, "{separator} {}", range.start)?,
                _ => write!(f, "{separator} {}-{}", range.start, range.end - 1)?,
            }
            separator = ",";
        }
        if *header {
            write!(f, "{} the header", if pages.is_empty() { ":" } else { "," })?;
        }
        Ok(())
    }
}
