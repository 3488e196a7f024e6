//! Structures of each version of the format.

use super::{Label, VERSION, VERSION_OF_CLOSE_MARKS, VERSION_OF_SEALED_EXTENTS};
use crate::PageError;

impl Label {
    /// Returns true for an earlier format, which is read but never written.
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

    /// Returns true if the format has checksums of home pages. A store may omit them.
    pub(crate) fn may_have_sums(&self) -> bool {
        self.version >= VERSION_OF_CLOSE_MARKS
    }

    /// Returns true if the ledger of out-of-place lists the required extents.
    pub(crate) fn seals_extents(&self) -> bool {
        self.version >= VERSION_OF_SEALED_EXTENTS
    }

    /// Returns true if a clean close is marked.
    pub(crate) fn has_close_marks(&self) -> bool {
        self.version >= VERSION_OF_CLOSE_MARKS
    }
}
