//! Structures that stores of each version have.

use super::{Label, VERSION, VERSION_OF_CLOSE_MARKS, VERSION_OF_SEALED_EXTENTS};
use crate::PageError;

impl Label {
    /// Whether it is of an earlier format, which is read and not written.
    pub(crate) fn is_earlier(&self) -> bool {
        self.version < VERSION
    }

    /// Refuses to write an earlier format.
    pub(crate) fn check_writable(&self) -> Result<(), PageError> {
        if self.is_earlier() {
            return Err(PageError::EarlierFormat { got: self.version, expected: VERSION });
        }
        Ok(())
    }

    /// Whether its format has checksums of home pages, which a store may leave out.
    pub(crate) fn may_have_sums(&self) -> bool {
        self.version >= VERSION_OF_CLOSE_MARKS
    }

    /// Whether the ledger of out-of-place tells which extents there must be.
    pub(crate) fn seals_extents(&self) -> bool {
        self.version >= VERSION_OF_SEALED_EXTENTS
    }

    /// Whether a clean close is marked.
    pub(crate) fn has_close_marks(&self) -> bool {
        self.version >= VERSION_OF_CLOSE_MARKS
    }
}
