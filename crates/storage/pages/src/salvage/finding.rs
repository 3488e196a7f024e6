use std::fmt;

use super::PageSet;
use crate::label::Label;

/// Something in a store that isn't as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The structure that it was found in.
    pub structure: Structure,
    /// What is wrong with it.
    pub problem: Problem,
    /// What follows from it.
    pub severity: Severity,
    /// Where it begins, in bytes of the device.
    pub offset_bytes: u64,
    /// How much of the device it concerns.
    pub length_bytes: u64,
    /// The pages that it concerns, as far as they are known.
    pub pages: PageSet,
    /// Whether it concerns the header.
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
    /// A copy of the mark that the store was closed.
    CloseMark,
    /// A block of the saved map of an out-of-place store.
    SavedMap,
    /// A block of the table of home pages' checksums.
    ChecksumTable,
    /// A block of the log of home pages' checksums.
    ChecksumLog,
    /// A block of the directory with second copies of a closed store's extent headers.
    Directory,
    /// The header of an extent, in the staging area or in a zone.
    ExtentHeader,
    /// A page in the staging area.
    StagedPage,
    /// A page in its own place.
    HomePage,
    /// A page in a zone.
    ZonePage,
    /// A block that holds nothing that counts.
    FreeSpace,
}

/// What is wrong with a part of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// The device can't read it.
    Unreadable,
    /// Its contents aren't what was written there.
    Damaged,
    /// It holds zeros, and was written.
    Zeroed,
    /// It is an older version than another structure names.
    Outdated,
    /// Another structure names it, and it isn't there.
    Missing,
    /// A batch that was being written isn't there as a whole.
    Unfinished,
}

/// What follows from a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// A power cut leaves such a thing, or nothing lies there. The store is sound.
    Harmless,
    /// Another copy holds the same: no page is lost.
    Redundant,
    /// Pages are lost, older than they were, or can't be checked any more.
    Loss,
}

impl Finding {
    /// With the pages as callers name them.
    pub(super) fn named_by(self, label: &Label) -> Self {
        let Some(header) = label.header_page else { return self };
        let mut pages = self.pages;
        let concerns_header = pages.contains(header);
        pages.cut(header);
        Self { pages, header: concerns_header, ..self }
    }
}

impl Structure {
    /// Its name, as in `ledger`.
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
    /// Its name, as in `unreadable`.
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
    /// Its name, as in `loss`.
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
